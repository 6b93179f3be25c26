from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from gonogo.releases.dead_weight import is_dead_weight, strip


@pytest.mark.parametrize(
    ("name", "dead"),
    [
        ("numpy/_core/tests/test_multiarray.py", True),
        ("numpy/testing/__init__.py", False),
        ("tests/__init__.py", False),  # a package of that name
        ("numpy/__init__.pyi", True),
        ("pycountry/locales/de/LC_MESSAGES/iso3166-1.mo", True),
        ("pycountry/databases/iso3166-1.json", False),
        ("pillow-13.0.0.dist-info/licenses/LICENSE", True),
        ("pillow-13.0.0.dist-info/METADATA", False),
        ("pillow-13.0.0.dist-info/RECORD", False),
        ("transformers/models/llama/modular_llama.py", True),
        ("transformers/models/llama/modeling_llama.py", False),
        ("bin/f2py", True),
    ],
)
def test_what_is_dead_weight(name: str, dead: bool) -> None:
    assert is_dead_weight(PurePosixPath(name)) is dead


def test_strip_leaves_no_empty_folders(tmp_path: Path) -> None:
    for name in ("a/tests/deep/test_it.py", "a/__init__.py", "bin/tool", "b/only.pyi"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    strip(tmp_path)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["a", "a/__init__.py"]
