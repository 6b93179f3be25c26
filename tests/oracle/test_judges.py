"""How the second judge is put together; no real engine is needed for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ask_torch import questions
from real_environment import RealEnvironment
from real_torch_world import with_real_torch, with_stand_ins
from second_judge import Tally

from agreement import Agreement, Difference
from tests.dryrun.tiny_world import make_world


def install(site: Path, name: str, files: dict[str, str], requires: tuple[str, ...] = ()) -> None:
    """A distribution in a folder of packages, as an installer leaves it."""
    record = [*files, f"{name}-1.0.dist-info/METADATA", f"{name}-1.0.dist-info/RECORD"]
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0+cpu\n"
    metadata += "".join(f"Requires-Dist: {each}\n" for each in requires)
    texts = {**files, record[-2]: metadata, record[-1]: "".join(f"{each},,\n" for each in record)}
    for path, text in texts.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)


def real(folder: Path) -> RealEnvironment:
    site = folder / "real"
    install(
        site, "torch", {"torch/__init__.py": "", "torch/lib/a.so": ""}, ("sympy>=1", "triton", "numpy; extra == 'x'")
    )
    install(site, "sympy", {"sympy/__init__.py": "", "isympy.py": ""}, ("mpmath",))
    install(site, "mpmath", {"mpmath/__init__.py": "real"})
    install(site, "triton", {"triton/__init__.py": ""}, ("only-of-triton",))
    install(site, "only-of-triton", {"only_of_triton.py": ""})
    install(site, "numpy", {"numpy/__init__.py": ""})
    return RealEnvironment(Path(sys.executable), site)


def test_torch_and_what_it_needs_join_the_light_environment_and_nothing_else(tmp_path: Path) -> None:
    environment = real(tmp_path)
    light = tmp_path / "light"
    install(light, "mpmath", {"mpmath/__init__.py": "light"})
    names = environment.join(light, tmp_path / "joined", ["triton", "torch"])
    assert names == ["isympy", "sympy", "torch"]
    there = {path.name for path in (tmp_path / "joined").iterdir()}
    assert there == {"isympy.py", "sympy", "torch", "mpmath", "mpmath-1.0.dist-info"}
    assert (tmp_path / "joined" / "mpmath" / "__init__.py").read_text() == "light"
    assert environment.version("torch") == "1.0"


def test_a_real_package_that_the_light_environment_has_is_taken_from_there(tmp_path: Path) -> None:
    light = tmp_path / "light"
    install(light, "compressed-tensors", {"compressed_tensors/__init__.py": ""})
    assert "compressed_tensors" in real(tmp_path).join(light, tmp_path / "joined", ["compressed_tensors"])


def test_only_what_is_real_differs_between_the_two_worlds(tmp_path: Path) -> None:
    world = make_world(tmp_path, "", "MI300X:8")
    told = world.description()
    judged = with_real_torch(world, real(tmp_path), tmp_path / "judge").description()
    plain = with_stand_ins(world, tmp_path / "plain").description()
    differing = {key for key in told if told[key] != judged[key]}
    assert differing == {"adapter", "environment", "faked", "absent"}
    assert set(told["faked"]) - set(judged["faked"]) == {"torch"}
    assert {key for key in told if told[key] != plain[key]} == {"adapter"}
    facts = json.loads((tmp_path / "judge" / "adapter" / "facts.json").read_text())
    assert (facts["engine"], facts["device"]["torch"]) == ("vllm", "2.9.1+rocm7.0")
    assert (facts["device"]["cuda"], facts["device"]["gpu"]["gfx"]) == (None, "gfx942")
    assert facts["device"]["host"] == json.loads(json.dumps(told["hardware"]["host"]))


def test_a_hold_is_no_contradiction_and_a_difference_anywhere_else_is_one() -> None:
    found = Agreement(launches=5)
    for number, name, judge, ours in (
        ("1", "outcome", "passed", "unclear: ('truth of it',)"),
        ("1", "resolved", {"a": "1"}, {}),
        ("2", "outcome", "unclear: an import failed", "refused"),
        ("3", "warnings", ["w"], []),
        ("4", "outcome", "unclear: this", "unclear: that"),
    ):
        found.differences.append(Difference(number, (), name, judge, ours))
    tally = Tally.of(found)
    assert tally == Tally(frozenset("14"), frozenset("2"), frozenset("3"))
    assert tally.line("H100", found).startswith(
        "H100         1 of 5 agree in every field, 2 are unclear to gonogo, 1 to the"
    )


def test_questions_are_expressions_of_names_and_constants(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        "import torch\n"
        "def f(x, n: torch.dtype = torch.float16):\n"
        "    if torch.cuda.get_device_properties(0).major > x:\n"
        "        return torch.zeros(n, dtype=torch.int8), torch.device('cuda', index=0), torch.__file__\n"
        "    return torch.finfo(torch.bfloat16).max, other.torch.nothing, torch.ones(*x)\n"
    )
    (tmp_path / "broken.py").write_text("def")
    assert questions(tmp_path) == [
        "torch.cuda.get_device_properties(0).major",
        "torch.device('cuda', index=0)",
        "torch.dtype",
        "torch.finfo(torch.bfloat16).max",
        "torch.float16",
        "torch.int8",
        "torch.ones",
        "torch.zeros",
    ]
