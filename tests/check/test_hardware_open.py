from __future__ import annotations

import pytest

from gonogo.check.hardware_open import choose_hardware, fit
from gonogo.dryrun import DryRun
from gonogo.dryrun.outcome import Error, Outcome
from gonogo.engines import engine_named
from gonogo.hardware.parse import parse_hardware
from gonogo.hardware.types import Hardware
from gonogo.problems import UsageProblem

VLLM = engine_named("vllm")
H100 = parse_hardware("H100-80GB:1")


def labels(options: tuple[str, ...], count: int | None = None) -> list[tuple[str, bool]]:
    choice = choose_hardware(options, count)
    return [(one.label, sized) for one, sized in zip(choice.hardware, choice.sized, strict=True)]


def test_what_was_asked_for() -> None:
    assert labels(("H100-80GB:8",)) == [("8x H100-80GB", False)]
    assert labels(("H100-80GB:8x2", "cpu")) == [("2 nodes of 8x H100-80GB", False), ("cpu", False)]


def test_a_count_that_was_left_out_is_fitted_alone() -> None:
    assert labels(("H100-80GB:4", "L4")) == [("4x H100-80GB", False), ("1x L4", True)]


def test_a_container_says_how_many_it_is_given() -> None:
    assert labels(("H100-80GB",), 2) == [("2x H100-80GB", False)]
    assert labels(("H100-80GB:4", "L4"), 2) == [("4x H100-80GB", False), ("2x L4", False)]
    assert labels(("cpu",), 2) == [("cpu", False)]
    assert {label.split()[0] for label, _ in labels((), 2)} == {"2x"}
    assert not any(sized for _, sized in labels((), 2))


def test_a_gpu_left_open_is_several_and_is_said() -> None:
    choice = choose_hardware((), None)
    vendors = {one.gpu.vendor for one in choice.hardware}
    capabilities = {one.gpu.capability for one in choice.hardware if one.gpu.vendor == "nvidia"}
    assert vendors == {"nvidia", "amd"}
    assert {(8, 0), (8, 9), (9, 0), (10, 0)} <= capabilities
    assert all(choice.sized)
    assert choice.assumed == (f"gpu: open, tried on {', '.join(one.gpu.name for one in choice.hardware)}",)


def test_a_short_name_is_an_assumption() -> None:
    (note,) = choose_hardware(("H100:8",), None).assumed
    assert "H100 is read as H100-80GB" in note


def test_an_unknown_gpu() -> None:
    with pytest.raises(UsageProblem, match="unknown GPU 'H1000'"):
        choose_hardware(("H100:8", "H1000"), None)


# -- fitting the number of GPUs


class Engine:
    """An engine that uses ``tensor`` x ``pipeline`` GPUs, in nodes of eight, and refuses to start on fewer."""

    def __init__(self, tensor: int, pipeline: int = 1, *, refuses: int = 0) -> None:
        self.values = {
            "parallel_config.tensor_parallel_size": str(tensor),
            "parallel_config.pipeline_parallel_size": str(pipeline),
            "parallel_config.nnodes": "1",
        }
        self.needed = tensor * pipeline
        self.refuses = refuses
        self.asked: list[str] = []

    def run(self, hardware: Hardware) -> DryRun:
        self.asked.append(hardware.label)
        there = hardware.count * hardware.nodes
        if there < self.needed or self.refuses:
            message = f"needs {self.needed}, there are {there}" if not self.refuses else "never"
            error = Error("0" * 16, "ValueError", (), message, None)
            return DryRun(Outcome("refused", error=error))
        return DryRun(Outcome("passed", resolved=self.values))


@pytest.mark.parametrize(
    ("tensor", "pipeline", "expected"),
    [
        (1, 1, "1x H100-80GB"),
        (2, 2, "4x H100-80GB"),
        (8, 1, "8x H100-80GB"),
        (16, 1, "2 nodes of 8x H100-80GB"),
        (8, 4, "4 nodes of 8x H100-80GB"),
    ],
)
def test_a_launch_gets_as_many_gpus_as_it_uses(tensor: int, pipeline: int, expected: str) -> None:
    engine = Engine(tensor, pipeline)
    hardware, run = fit(H100, VLLM, engine.run)
    assert (hardware.label, run.outcome.kind) == (expected, "passed")
    assert engine.asked[-1] == expected or hardware.count == 8


def test_a_refusal_that_no_number_of_gpus_changes_is_one() -> None:
    engine = Engine(1, refuses=1)
    hardware, run = fit(H100, VLLM, engine.run)
    assert (hardware.label, run.outcome.kind) == ("8x H100-80GB", "refused")
    assert len(engine.asked) == 2  # and it is not tried on each


def test_a_refusal_for_the_number_of_gpus_is_tried_on_more() -> None:
    engine = Engine(64)
    _, run = fit(H100, VLLM, engine.run)
    assert run.outcome.kind == "refused"
    assert len(engine.asked) > 2


def test_a_cpu_has_no_number() -> None:
    engine = Engine(1, refuses=1)
    assert fit(parse_hardware("cpu"), VLLM, engine.run)[0].label == "cpu"
    assert engine.asked == ["cpu"]
