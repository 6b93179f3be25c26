"""First file of the child: loads this folder as the package ``gonogo_inside`` and hands over to it.

Run as ``python -s -S boot.py`` in an environment of gonogo's making: no site-packages, no user's site, nothing of the user's.
"""

import importlib.util
import os
import sys


def _load() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.util.spec_from_file_location(
        "gonogo_inside", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["gonogo_inside"] = package
    spec.loader.exec_module(package)


_load()
from gonogo_inside.child import main  # type: ignore[import-not-found]  # noqa: E402

main()
