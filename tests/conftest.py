from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.releases.package_index import PackageIndex
from tests.tiny_engine import Place, make_index, new_place


@pytest.fixture(scope="session")
def tiny_index() -> Iterator[PackageIndex]:
    """Releases of the tiny engine, for tests that do not change the index."""
    index = make_index()
    yield index
    index.go_down()


@pytest.fixture(scope="session")
def tiny_cache(tiny_index: PackageIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the tiny vllm 0.32.0; tests work on copies."""
    place = new_place(tmp_path_factory.mktemp("tiny") / "place", tiny_index, None)
    done = place.run("releases", "fetch", "vllm==0.32.0")
    assert done.code == 0, done
    return place.cache


@pytest.fixture
def place(tiny_index: PackageIndex, tiny_cache: Path, tmp_path: Path) -> Place:
    """A folder with a copy of that cache."""
    return new_place(tmp_path / "place", tiny_index, tiny_cache)


@pytest.fixture
def bare_place(tiny_index: PackageIndex, tmp_path: Path) -> Place:
    """The same without a cache."""
    return new_place(tmp_path / "bare", tiny_index, None)
