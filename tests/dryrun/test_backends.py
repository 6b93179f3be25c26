"""The stage ``backends``: what workers refuse in their own words counts, what hangs on stand-ins does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gonogo.dryrun import DryRuns
from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
class Parallel:
    worker_cls = "vllm.worker.Worker"

def __getattr__(name):
    return lambda *words: {"does": name, "words": words}
"""
ARG_UTILS = """
import vllm.page

class EngineArgs:
    def __init__(self, words):
        self.does = words[0]

    def create_engine_config(self):
        return self

    parallel_config = vllm.page.Parallel

class AsyncEngineArgs(EngineArgs):
    pass
"""
WORKER = """
import torch
from torch import nn
from vllm.distributed import parallel_state
from vllm.model_executor.model_loader import loader

class WorkerWrapperBase:
    def __init__(self, vllm_config, rpc_rank=0):
        pass

    def init_worker(self, all_kwargs):
        self.worker = Worker(**all_kwargs[0])

    def init_device(self):
        self.worker.init_device()

    def load_model(self):
        self.worker.load_model()

class Worker:
    def __init__(self, vllm_config, local_rank, rank, distributed_init_method, is_driver_worker):
        self.config, self.local_rank = vllm_config, local_rank

    def init_device(self):
        torch.distributed.init_process_group(backend="nccl", world_size=4, rank=0)
        self.group = parallel_state.GroupCoordinator([[0, 1], [2, 3]], self.local_rank, "nccl")

    def load_model(self):
        loader.load_model(getattr(self, self.config.does))

    def passes(self):
        layer = nn.Linear(8, 4, bias=False)
        assert layer.weight.shape == (4, 8)
        assert dict(layer.named_parameters()).keys() == {"weight"}

    def refuses(self):
        if 10 % self.group.world_size == 0 and self.group.ranks == [0, 1]:
            raise ValueError("10 is not what I like")

    def refuses_on_a_whim(self):
        if torch.some_library.is_it_so():
            pass
        else:
            raise ValueError("it is not so")

    def passes_on_a_whim(self):
        if torch.some_library.is_it_so():
            raise ValueError("it is so")

    def falls_over_a_stand_in(self):
        one, other = torch.some_library.two_things()

    def refuses_because_it_fell(self):
        try:
            one, other = torch.some_library.two_things()
        except ValueError as error:
            raise RuntimeError("there are no two things") from error
"""
LOADER = """
def initialize_model(build):
    build()

def load_model(build):
    initialize_model(build)
    raise AssertionError("weights are never read")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder = tmp_path_factory.mktemp("workers")
    world = make_world(folder, PAGE)
    files = {
        "engine/arg_utils.py": ARG_UTILS,
        "worker.py": WORKER,
        "distributed/__init__.py": "",
        "distributed/parallel_state.py": (
            "class GroupCoordinator:\n    def __init__(self, group_ranks, local_rank, backend):\n        raise AssertionError\n"
        ),
        "model_executor/model_loader/__init__.py": "",
        "model_executor/model_loader/loader.py": LOADER,
    }
    for name, text in files.items():
        path = folder / "tree" / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = Runs(world, folder)
    yield found
    found.close()


def test_a_model_that_is_built_passes_all_stages(runs: Runs) -> None:
    outcome = runs.outcome("passes")
    assert outcome.kind == "passed"
    assert outcome.stages == {"arguments": "passed", "configuration": "passed", "backends": "passed"}


def test_what_a_worker_refuses_is_refused(runs: Runs) -> None:
    outcome = runs.outcome("refuses")
    assert (outcome.kind, outcome.stages["backends"]) == ("refused", "refused")
    assert outcome.error is not None
    assert outcome.error.message == "10 is not what I like"
    assert outcome.error.site is not None
    assert (outcome.error.site.path, outcome.error.site.function) == ("vllm/worker.py", "Worker.refuses")


@pytest.mark.parametrize("launch", ["refuses_on_a_whim", "passes_on_a_whim"])
def test_a_stage_that_hangs_on_an_unknown_value_was_not_looked_at(runs: Runs, launch: str) -> None:
    outcome = runs.outcome(launch)
    assert (outcome.kind, outcome.stages["backends"]) == ("passed", "unclear")
    assert outcome.reason is not None
    assert "torch.some_library.is_it_so()" in outcome.reason


@pytest.mark.parametrize("launch", ["falls_over_a_stand_in", "refuses_because_it_fell"])
def test_falling_over_a_stand_in_is_no_refusal(runs: Runs, launch: str) -> None:
    outcome = runs.outcome(launch)
    assert (outcome.kind, outcome.stages["backends"]) == ("passed", "unclear")
    assert outcome.error is None


def test_without_the_stage_nothing_is_said_of_it(runs: Runs) -> None:
    with DryRuns(backends=False) as short:
        runs_alike = Runs(runs.world, runs.models._folder)
        runs_alike.dry_runs = short
        assert runs_alike.outcome("refuses").stages == {"arguments": "passed", "configuration": "passed"}
