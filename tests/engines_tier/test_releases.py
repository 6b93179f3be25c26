"""Real releases, from the package index that pip or uv is set to, in gonogo's own cache."""

from __future__ import annotations

import importlib.metadata
import subprocess
from email.parser import HeaderParser

import pytest
from packaging.requirements import Requirement

from gonogo.releases import Release, Releases

pytestmark = pytest.mark.engines

RELEASES = [("vllm", "0.33.0"), ("vllm", "0.32.0"), ("sglang", "0.5.23")]


@pytest.fixture(scope="module")
def releases() -> Releases:
    return Releases()


def declared(release: Release) -> list[Requirement]:
    text = (release.root / f"{release.engine}-{release.version}.dist-info" / "METADATA").read_text()
    return [Requirement(line) for line in HeaderParser().parsestr(text).get_all("Requires-Dist", [])]


@pytest.mark.parametrize(("engine", "version"), RELEASES)
def test_every_package_is_one_that_the_release_allows(releases: Releases, engine: str, version: str) -> None:
    release = releases.get(engine, version)
    asked_for = [one for one in declared(release) if one.marker is None]
    assert len(asked_for) > 50
    for one in asked_for:
        assert one.specifier.contains(
            release.versions[one.name.lower().replace("_", "-").replace(".", "-")], prereleases=True
        ), one


@pytest.mark.parametrize(("engine", "version"), RELEASES)
def test_the_environment_has_transformers_and_no_torch(releases: Releases, engine: str, version: str) -> None:
    release = releases.get(engine, version)
    there = {
        found.name.lower(): found.version for found in importlib.metadata.distributions(path=[str(release.environment)])
    }
    (transformers,) = [one for one in declared(release) if one.name == "transformers"]
    assert transformers.specifier.contains(there["transformers"])
    heavy = {"torch", "triton", "numba", "xgrammar", "flashinfer-python", "nvidia-cutlass-dsl", "vllm", "sglang"}
    assert not heavy & set(there)
    assert {"torch", "triton", "sympy"} <= set(release.versions)  # what is left out is known all the same
    for name, number in there.items():
        assert release.versions[name.replace("_", "-").replace(".", "-")] == number


@pytest.mark.parametrize(("engine", "version"), RELEASES)
def test_what_start_up_code_imports_at_once_can_be_imported(releases: Releases, engine: str, version: str) -> None:
    release = releases.get(engine, version)
    code = "import transformers, pydantic, fastapi, openai, huggingface_hub, PIL.Image, numpy, zmq, msgspec"
    command = [
        str(release.python),
        "-I",
        "-S",
        "-B",
        "-c",
        f"import sys; sys.path.append({str(release.environment)!r}); {code}; print(transformers.__version__)",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == release.versions["transformers"], done.stderr


def test_two_releases_of_an_engine_share_files(releases: Releases) -> None:
    first, second = releases.get("vllm", "0.32.0"), releases.get("vllm", "0.33.0")
    assert first.versions["numpy"] == second.versions["numpy"]
    one, other = (release.environment / "numpy" / "__init__.py" for release in (first, second))
    assert one.samefile(other)


def test_a_version_nobody_made(releases: Releases) -> None:
    known = {info.version for info in releases.known("vllm")}
    assert {"0.33.0", "0.32.0", "0.11.0"} <= known
    assert releases.newest("vllm") in known
