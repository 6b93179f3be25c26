from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gonogo.problems import OwnProblem
from gonogo.releases import Releases
from gonogo.releases.concessions import Concessions, concede

from .conftest import vllm_sdist
from .package_index import PackageIndex, sdist, wheel

# What uv 0.13.9 said of vllm 0.6.0's requirements as of 2024-09-06, and once the later file was allowed.
FILTERED = """error: No solution found when resolving dependencies
  cause: Because there are no versions of pyairports and outlines>=0.0.43,<=0.0.46 depends on pyairports, we can conclude \
that outlines>=0.0.43,<=0.0.46 cannot be used.
         And because only the following versions of outlines are available:
             outlines<=0.0.46
             outlines>0.1
         and you require outlines>=0.0.43,<0.1, we can conclude that your requirements are unsatisfiable.

hint: `pyairports` was filtered by `exclude-newer` to only include packages uploaded before 2024-09-06T00:00:00Z. The \
latest version satisfying the requirement is v0.0.1, published at 2025-09-25T04:17:09.505Z. Consider using \
`exclude-newer-package` to override the cutoff for this package."""
UNBUILT = """error: No solution found when resolving dependencies
  cause: Because pyairports==0.0.1 has no usable wheels and only pyairports==0.0.1 is available, we can conclude that all \
versions of pyairports cannot be used.
         And because outlines>=0.0.43,<=0.0.46 depends on pyairports, we can conclude that outlines cannot be used."""
DAY = datetime(2024, 9, 6, tzinfo=UTC)
LATER = datetime(2025, 9, 25, 4, 17, 9, tzinfo=UTC)


def test_a_package_without_a_file_from_before_is_allowed_its_first_one(index: PackageIndex) -> None:
    index.add("pyairports", "pyairports-0.0.1.tar.gz", b"", uploaded="2025-09-25T04:17:09Z")
    index.add("pyairports", "pyairports-0.0.2.tar.gz", b"", uploaded="2026-01-01T00:00:00Z")
    made = concede(FILTERED, DAY, Concessions())
    assert made == Concessions(later={"pyairports": LATER})
    assert made.options == ["--exclude-newer-package", "pyairports=2025-09-25T04:17:10Z"]
    assert concede(FILTERED, DAY, made) is None
    left_out = concede(UNBUILT, DAY, made)
    assert left_out is not None
    assert left_out.left_out == {"pyairports": "0.0.1"}
    assert left_out.notes == (
        "pyairports 0.0.1 is left out: the package index has no wheel of it, and gonogo builds none",
    )
    assert concede(UNBUILT, DAY, left_out) is None


@pytest.mark.parametrize("uploaded", ["2024-09-01T00:00:00Z", None])
def test_a_package_with_files_of_that_time_is_not(index: PackageIndex, uploaded: str | None) -> None:
    """Its versions do not fit: a later one would hide that. Nor where nobody knows when they were uploaded."""
    index.add("pyairports", "pyairports-0.0.1.tar.gz", b"", uploaded="2025-09-25T04:17:09Z")
    index.add("pyairports", "pyairports-0.0.2.tar.gz", b"", uploaded=uploaded)
    assert concede(FILTERED, DAY, Concessions()) is None


def test_a_package_that_nobody_has_is_not_conceded(index: PackageIndex) -> None:
    assert concede(FILTERED, DAY, Concessions()) is None
    assert concede("error: something else", DAY, Concessions()) is None
    assert concede(FILTERED, None, Concessions()) is None


def test_what_was_uploaded_anew_is_taken_and_said(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.0.9.tar.gz", vllm_sdist("1.0.9", ("tinydep", "moved")), uploaded="2026-01-20T00:00:00Z")
    for version, uploaded in (("1.0", "2026-05-01T00:00:00Z"), ("2.0", "2026-06-01T00:00:00Z")):
        code = {"moved.py": b""}
        index.add("moved", f"moved-{version}-py3-none-any.whl", wheel("moved", version, code), uploaded=uploaded)
    release = releases.get("vllm", "1.0.9")
    assert (release.versions["moved"], release.versions["tinydep"]) == ("1.0", "1.0")
    assert (release.environment / "moved.py").exists()
    told = ["vllm 1.0.9: moved is taken as of 2026-05-01: the package index has no file of it from before that"]
    assert releases.notes == told
    index.go_down()
    again = Releases(release.root.parents[2])
    assert again.get("vllm", "1.0.9") == release
    assert again.notes == told  # it is assumed in every check, not only in the first


def test_what_would_have_to_be_built_is_left_out_and_said(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.0.9.tar.gz", vllm_sdist("1.0.9", ("needy",)), uploaded="2026-01-20T00:00:00Z")
    index.add("needy", "needy-1.0-py3-none-any.whl", wheel("needy", "1.0", {"needy.py": b""}, requires=("built",)))
    index.add("built", "built-3.0.tar.gz", sdist("built", "3.0", {"setup.py": b"raise SystemExit"}))
    release = releases.get("vllm", "1.0.9")
    assert release.versions["built"] == "3.0"  # the image has it
    assert (release.environment / "needy.py").exists()
    assert releases.notes == [
        "vllm 1.0.9: built 3.0 is left out: the package index has no wheel of it, and gonogo builds none"
    ]


def test_versions_that_nobody_has_are_still_a_problem(releases: Releases, index: PackageIndex) -> None:
    index.add("vllm", "vllm-1.0.9.tar.gz", vllm_sdist("1.0.9", ("tinydep>=7",)), uploaded="2026-01-20T00:00:00Z")
    with pytest.raises(OwnProblem, match="cannot get the packages that vllm needs"):
        releases.get("vllm", "1.0.9")
