"""What the stand-in for torch says of pretend devices. The values are torch's own: the oracle tests ask the real one the same."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from gonogo.launches import read_line
from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
import torch


def ask(expression):
    try:
        value = repr(eval(expression))
    except Exception as error:
        value = f"{type(error).__name__}: {error}"
    return {"value": value}
"""
COUNT = "torch.cuda.device_count()"
NVIDIA, OLD, AMD, NONE = "H100-80GB:8", "T4:1", "MI300X:8", "cpu"
#: GPU, variables, expression, what torch says
QUESTIONS = [
    (NVIDIA, {}, COUNT, "8"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": ""}, COUNT, "0"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": ""}, "torch.cuda.is_available()", "False"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "2"}, COUNT, "1"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "1, 0,3"}, COUNT, "3"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "0,0"}, COUNT, "0"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "0,-1,1"}, COUNT, "1"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "0,8,1"}, COUNT, "1"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "1gpu,2"}, COUNT, "2"),
    (NVIDIA, {"CUDA_VISIBLE_DEVICES": "none"}, COUNT, "0"),
    (NVIDIA, {"HIP_VISIBLE_DEVICES": "0"}, COUNT, "8"),
    (AMD, {"HIP_VISIBLE_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "0"}, COUNT, "2"),
    (AMD, {"CUDA_VISIBLE_DEVICES": "0"}, COUNT, "1"),
    (AMD, {"ROCR_VISIBLE_DEVICES": "4,5,6"}, COUNT, "3"),
    (AMD, {"ROCR_VISIBLE_DEVICES": "4,5,6", "CUDA_VISIBLE_DEVICES": "0"}, COUNT, "3"),
    (AMD, {"ROCR_VISIBLE_DEVICES": "4,5,6", "HIP_VISIBLE_DEVICES": "0,1"}, COUNT, "2"),
    (
        AMD,
        {"ROCR_VISIBLE_DEVICES": "4", "HIP_VISIBLE_DEVICES": "0,1"},
        COUNT,
        "RuntimeError: HIP_VISIBLE_DEVICES contains more devices than ROCR_VISIBLE_DEVICES",
    ),
    (NVIDIA, {}, "torch.cuda._device_count_amdsmi()", "-1"),
    (AMD, {}, "torch.cuda._device_count_amdsmi()", "8"),
    (NVIDIA, {}, "torch.cuda.get_device_properties(device='cuda').multi_processor_count", "132"),
    (NVIDIA, {}, "torch.cuda.get_device_properties(torch.device('cuda', 7)).major", "9"),
    (NVIDIA, {}, "torch.cuda.get_device_properties(8)", "AssertionError: Invalid device id"),
    (NVIDIA, {}, "torch.nn.init._calculate_correct_fan(torch.empty(6, 4, 3), 'fan_in')", "12"),
    (NVIDIA, {}, "torch.nn.init._calculate_correct_fan(torch.empty(6, 4, 3), 'Fan_Out')", "18"),
    (NVIDIA, {}, "torch.nn.init.zeros_(torch.empty(6, 4)).shape == (6, 4)", "True"),
    (
        NVIDIA,
        {},
        "torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(6))",
        "ValueError: Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
    ),
    (NVIDIA, {}, "torch.tensor(71.3, dtype=torch.float32).to('cpu').item()", "71.30000305175781"),
    (NVIDIA, {}, "torch.tensor(3, dtype=torch.float64).item()", "3.0"),
    (NVIDIA, {}, "int(torch.distributed.ReduceOp.MIN)", "3"),
    (
        NVIDIA,
        {"CUDA_VISIBLE_DEVICES": "3"},
        "torch.cuda.get_device_name('cuda:1')",
        "AssertionError: Invalid device id",
    ),
    (NVIDIA, {}, "torch.cuda.get_device_capability(device=0)", "(9, 0)"),
    (NVIDIA, {}, "torch.cuda.get_device_capability('cpu')", "ValueError: Expected a cuda device, but got: cpu"),
    (NVIDIA, {}, "torch.cuda.is_initialized()", "False"),
    (
        NVIDIA,
        {},
        "(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized())",
        "(True, 8, False)",
    ),
    (NVIDIA, {}, "(torch.cuda.get_device_name(), torch.cuda.is_initialized())", "('NVIDIA H100 80GB HBM3', True)"),
    (NVIDIA, {}, "(torch.cuda.current_device(), torch.cuda.is_initialized())", "(0, True)"),
    (NONE, {}, "torch.cuda.current_device()", "AssertionError: Torch not compiled with CUDA enabled"),
    (NONE, {}, "torch.cuda.is_initialized()", "False"),
    (OLD, {}, "torch.cuda.is_bf16_supported()", "True"),
    (OLD, {}, "torch.cuda.is_bf16_supported(including_emulation=False)", "False"),
    (NVIDIA, {}, "torch.cuda.is_bf16_supported(including_emulation=False)", "True"),
    (AMD, {}, "torch.cuda.is_bf16_supported(including_emulation=False)", "True"),
    (NONE, {}, "torch.cuda.is_bf16_supported()", "False"),
    (NVIDIA, {}, "__import__('torch.hpu')", "ModuleNotFoundError: No module named 'torch.hpu'"),
]


def ask(runs: Runs, env: dict[str, str], expression: str) -> object:
    """The value of the expression in a launch with these variables, as text."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    launch = read_line(f"{variables} vllm serve ask {shlex.quote(expression)}")
    words = runs.dry_runs.answer(launch, runs.world, runs.models).words
    return words.get("resolved", {}).get("part.value", words)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Runs]]:
    folder = tmp_path_factory.mktemp("torch")
    made = {gpu: Runs(make_world(folder / gpu[:3], PAGE, gpu), folder) for gpu in (NVIDIA, OLD, AMD, NONE)}
    yield made
    for each in made.values():
        each.close()


@pytest.mark.parametrize(("gpu", "env", "expression", "value"), QUESTIONS)
def test_what_torch_says(runs: dict[str, Runs], gpu: str, env: dict[str, str], expression: str, value: str) -> None:
    assert ask(runs[gpu], env, expression) == value
