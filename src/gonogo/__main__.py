"""``python -m gonogo``."""

import sys

from gonogo.cli import main

sys.exit(main())
