from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from gonogo.check.packages_chosen import Applied, ChosenPackages, choose_packages, in_release
from gonogo.dryrun import World
from gonogo.dryrun.packages import packages_in
from gonogo.problems import OwnProblem, UsageProblem
from gonogo.releases import Releases
from tests.dryrun.tiny_world import make_world
from tests.releases.package_index import wheel

PAGE = """
def ask():
    import lmcache
    import importlib.util
    importlib.util.find_spec("bitsandbytes")
"""


class Index(Releases):
    """A package index that has one version of everything, unless it is out of reach."""

    def __init__(self, reached: bool = True) -> None:
        super().__init__(Path("/nowhere"))
        self.reached = reached

    def version_on(self, project: str, date: datetime) -> str | None:
        if not self.reached:
            raise OwnProblem("cannot reach the package index")
        return "2.50"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = make_world(tmp_path, PAGE)
    for name, code in (
        ("tiny-dep", {"tinydep/__init__.py": b"", "_tiny.py": b""}),
        ("shared-api", {"shared/api.py": b""}),
        ("shared-sdk", {"shared/sdk.py": b""}),
    ):
        zipfile.ZipFile(io.BytesIO(wheel(name, "1.0", code))).extractall(made.release.environment)
    versions = {"torch": "2.9.1", "flashinfer-python": "0.5", "tiny-dep": "1.0", "resolved-one": "3"}
    return replace(made, release=replace(made.release, versions=versions))


def applied(
    world: World, without: tuple[str, ...] = (), with_: tuple[str, ...] = (), index: Releases | None = None
) -> Applied:
    return in_release(choose_packages(without, with_), world.release, index or Index())


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("flashinfer-python", {"flashinfer", "flashinfer_cubin"}),  # by distribution
        ("FlashInfer_Python", {"flashinfer", "flashinfer_cubin"}),
        ("flashinfer", {"flashinfer", "flashinfer_cubin"}),  # by its main import name
        ("flashinfer-cubin", {"flashinfer_cubin"}),
        ("torch", {"torch", "functorch", "torchgen"}),
        ("functorch", {"functorch"}),
        ("tiny-dep", {"_tiny", "tinydep"}),  # of the light environment
        ("tinydep", {"_tiny", "tinydep"}),
        ("_tiny", {"_tiny"}),
        ("resolved-one", {"resolved_one"}),  # resolved, and left out of it
        ("shared", {"shared"}),
        ("shared-api", {"shared"}),  # it cannot go alone
        ("vllm._moe_C", {"vllm._moe_C"}),
        ("deep-ep", {"deep_ep"}),
    ],
)
def test_what_a_name_stands_for(world: World, name: str, gone: set[str]) -> None:
    found = applied(world, (name,))
    assert found.packages == dict.fromkeys(gone, False)
    assert found.assumed == (f"packages: without {name}",)
    assert found.release == world.release


def test_a_package_that_is_gone_is_not_listed_either(world: World) -> None:
    def unlisted(*names: str) -> set[str]:
        found = packages_in(world.engine, world.release, "nvidia", applied(world, names).packages)
        return set(found.unlisted)

    assert unlisted() == set()
    assert unlisted("tiny-dep") == {"tiny_dep-1.0.dist-info"}
    assert unlisted("_tiny") == set()  # its other half is still there
    assert unlisted("shared") == {"shared_api-1.0.dist-info", "shared_sdk-1.0.dist-info"}


def test_distributions_of_fakes_go_with_them(world: World) -> None:
    def told(*names: str) -> dict[str, str]:
        distributions: dict[str, str] = replace(world, packages=applied(world, names).packages).description()[
            "distributions"
        ]
        return distributions

    assert {"flashinfer-python", "flashinfer-cubin"} <= set(told())
    assert not {"flashinfer-python", "flashinfer-cubin"} & set(told("flashinfer-python"))
    assert "torch" not in told("torch")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("flshinfer", "knows no package 'flshinfer': is it flashinfer"),
        ("nothing-like-it", r"knows no package 'nothing-like-it'\."),
        ("lmcache", "lmcache is not among the packages of vllm 1.0: it is not there anyway"),
    ],
)
def test_a_package_that_nobody_knows(world: World, name: str, says: str) -> None:
    with pytest.raises(UsageProblem, match=says):
        applied(world, (name,))


@pytest.mark.parametrize(
    ("word", "module", "version"),
    [
        ("ray", "ray", "2.50"),  # in no image, and the table knows it
        ("ray==2.9", "ray", "2.9"),
        ("lmcache", "lmcache", "2.50"),  # the code imports it
        ("bitsandbytes", "bitsandbytes", "2.50"),  # the code looks for it
        ("amdsmi==7.0", "amdsmi", "7.0"),  # of another vendor
        ("deep-ep", "deep_ep", "2.50"),
        ("torch", "torch", "2.9.1"),  # it is there anyway
    ],
)
def test_a_package_that_is_there_besides(world: World, word: str, module: str, version: str) -> None:
    found = applied(world, (), (word,))
    assert found.packages[module] is True
    assert found.assumed == (f"packages: with {word.partition('==')[0]} {version}",)
    described = replace(world, release=found.release, packages=found.packages).description()
    assert described["faked"][module] == version
    assert described["distributions"][word.partition("==")[0]] == version
    assert module not in described["absent"]
    assert found.release.identity != world.release.identity


def test_one_that_no_code_asks_for(world: World) -> None:
    with pytest.raises(UsageProblem, match=r"knows no package 'lmcach'.* And its code does not ask for it"):
        applied(world, (), ("lmcach",))


def test_a_version_needs_the_index_only_where_it_is_not_given(world: World) -> None:
    assert applied(world, (), ("ray==2.9",), Index(reached=False)).assumed == ("packages: with ray 2.9",)
    with pytest.raises(OwnProblem, match="cannot reach the package index"):
        applied(world, (), ("ray",), Index(reached=False))


@pytest.mark.parametrize(
    ("without", "with_", "says"),
    [
        (("a b",), (), "'a b' is no package"),
        (("",), (), "'' is no package"),
        (("ray==1",), (), "'ray==1' is no package"),
        ((), ("ray==x",), "'ray==x' says no version"),
        ((), ("ray==",), "'ray==' says no version"),
        ((), ("../ray",), "is no package"),
        (("flash-attn",), ("flash_attn==2",), "flash-attn cannot be both there and not"),
    ],
)
def test_what_makes_no_sense(without: tuple[str, ...], with_: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageProblem, match=says):
        choose_packages(without, with_)


def test_nothing_chosen_changes_nothing(world: World) -> None:
    assert choose_packages((), ()) == ChosenPackages()
    assert applied(world) == Applied(world.release, {}, ())
