"""What the vendors' management libraries say of pretend devices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dryrun.tiny_world import Runs, make_world

PAGE = """
import pynvml


def by_uuid(text):
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByUUID(text)
    return {"name": pynvml.nvmlDeviceGetName(handle)}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    folder: Path = tmp_path_factory.mktemp("nvml")
    made = Runs(make_world(folder, PAGE), folder)
    yield made
    made.close()


def test_a_gpu_that_its_user_names_by_uuid_is_there(runs: Runs) -> None:
    outcome = runs.outcome("by_uuid GPU-8932f937-d72c-4106-c12f-20bd9faed9f6")
    assert outcome.resolved == {"part.name": "NVIDIA H100 80GB HBM3"}


def test_what_is_no_uuid_is_no_gpu_and_nobody_knows_how_the_driver_says_so(runs: Runs) -> None:
    outcome = runs.outcome("by_uuid '{}'")
    assert outcome.kind == "unclear"
    assert "raised by a stand-in" in str(outcome.reason)
