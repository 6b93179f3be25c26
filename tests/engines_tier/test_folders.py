"""A real release as a checkout of it: what git has of it, without what a build adds."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import gonogo
from gonogo.releases import Release, Releases
from tests.engines_tier.test_releases import declared
from tests.engines_tier.test_seeds import FAST_PREFILL, MODELS
from tests.releases.test_git import git

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def release() -> Release:
    return Releases().get("vllm", "0.33.0")


@pytest.fixture(scope="module")
def checker() -> Iterator[gonogo.Checker]:
    with gonogo.Checker() as made:
        yield made


@pytest.fixture(scope="module")
def checkout(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """vllm's repository at v0.33.0, as far as a release tells: its source, and a pyproject.toml."""
    folder = tmp_path_factory.mktemp("work") / "vllm"
    shutil.copytree(release.root / "vllm", folder / "vllm", ignore=shutil.ignore_patterns("__pycache__", "_version.py"))
    assert release.build is not None
    for name in release.build.only:
        place = folder / name
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    requirements = "".join(f"  {str(one)!r},\n" for one in declared(release) if "extra" not in str(one.marker))
    text = (
        f'[project]\nname = "vllm"\nrequires-python = "{release.requires_python}"\ndependencies = [\n{requirements}]\n'
    )
    (folder / "pyproject.toml").write_text(text + '[project.scripts]\nvllm = "vllm.entrypoints.cli.main:main"\n')
    assert tomllib.loads((folder / "pyproject.toml").read_text())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "all", date=release.date.isoformat())
    git(folder, "tag", "v0.33.0")
    return folder


def test_a_checkout_fares_as_the_release(checker: gonogo.Checker, checkout: Path) -> None:
    def check(release: str | Path) -> gonogo.LaunchResult:
        (launch,) = checker.check(
            FAST_PREFILL, release=release, gpu="H100-80GB:8", models_dir=MODELS, hub=False
        ).launches
        return launch

    published, ours = check("vllm==0.33.0"), check(checkout)
    assert ours == published  # world by world: release, error, site, warnings
    assert ours.verdict == "NO-GO"
    raising = checkout / "vllm" / "config" / "vllm.py"
    raising.write_text(raising.read_text().replace("Fast prefill optimization for KV", "Quick prefill for KV"))
    assert "Quick prefill for KV" in str(check(checkout).worlds[0].error)  # its own code is what runs


def test_the_wheel_makes_the_source_whole(release: Release) -> None:
    """Of vllm 0.33.0's wheel: modules that its sdist lacks, and compiled ones, which stand empty."""
    assert (release.root / "vllm" / "vllm_flash_attn" / "layers" / "rotary.py").stat().st_size > 1000
    assert (release.root / "vllm" / "_C_stable_libtorch.abi3.so").stat().st_size == 0
    assert release.build is not None
    assert release.build.vendor == "nvidia"
    assert {"vllm._C_stable_libtorch", "vllm.vllm_flash_attn._vllm_fa3_C"} <= set(release.build.compiled)
    assert "vllm._C" not in release.build.compiled
    assert {"vllm/third_party/deep_gemm", "vllm/vllm_flash_attn/layers"} <= set(release.build.only)
