"""gonogo: go / no-go for LLM servers. The public API; everything else may change.

with gonogo.Checker() as checker:
    result = checker.check("vllm serve Qwen/Qwen3-8B --max-model-len 8192", gpu="H100:1")
print(result.verdict)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gonogo.check.checker import Checker
    from gonogo.check.result import Because, CheckResult, LaunchResult, WorldResult
    from gonogo.dryrun.outcome import Error, Site
    from gonogo.launches import Launch, Source
    from gonogo.problems import OwnProblem, Problem, UsageProblem

__version__ = "0.1.0"

_WHERE = {
    "Because": "gonogo.check.result",
    "CheckResult": "gonogo.check.result",
    "Checker": "gonogo.check.checker",
    "Error": "gonogo.dryrun.outcome",
    "Launch": "gonogo.launches",
    "LaunchResult": "gonogo.check.result",
    "OwnProblem": "gonogo.problems",
    "Problem": "gonogo.problems",
    "Site": "gonogo.dryrun.outcome",
    "Source": "gonogo.launches",
    "UsageProblem": "gonogo.problems",
    "WorldResult": "gonogo.check.result",
}

__all__ = [
    "Because",
    "CheckResult",
    "Checker",
    "Error",
    "Launch",
    "LaunchResult",
    "OwnProblem",
    "Problem",
    "Site",
    "Source",
    "UsageProblem",
    "WorldResult",
    "check",
]


def check(
    command: str | Sequence[str] | Launch | Sequence[Launch],
    *,
    release: str | Path | None = None,
    gpu: str | Sequence[str] | None = None,
    models_dir: str | Path | None = None,
    model_facts: Mapping[str, str | Path] | None = None,
    env: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    with_: Sequence[str] = (),
    hub: bool = True,
    allow_code: bool = False,
) -> CheckResult:
    """The verdict on one launch, or on several, in a Checker of its own: see there. For many checks keep one."""
    from gonogo.check.checker import Checker

    with Checker() as checker:
        return checker.check(
            command,
            release=release,
            gpu=gpu,
            models_dir=models_dir,
            model_facts=model_facts,
            env=env,
            without=without,
            with_=with_,
            hub=hub,
            allow_code=allow_code,
        )


class _Package(ModuleType):
    """The package: a room that is called like a function of the API does not take its place when it is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    # Late, so that `import gonogo` and `gonogo --help` load nothing that they do not need.
    if name not in _WHERE:
        raise AttributeError(f"module 'gonogo' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
