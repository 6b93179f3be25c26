"""gonogo: go / no-go for LLM servers. The public API; everything else may change.

    with gonogo.Checker() as checker:
        result = checker.check("vllm serve Qwen/Qwen3-8B --max-model-len 8192", gpu="H100:1")
    print(result.verdict)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gonogo.check.checker import Checker
    from gonogo.check.result import CheckResult, LaunchResult, WorldResult
    from gonogo.dryrun.outcome import Error, Site
    from gonogo.launches import Launch
    from gonogo.problems import OwnProblem, Problem, UsageProblem

__version__ = "0.1.0"

_WHERE = {
    "Checker": "gonogo.check.checker",
    "CheckResult": "gonogo.check.result", "LaunchResult": "gonogo.check.result", "WorldResult": "gonogo.check.result",
    "Error": "gonogo.dryrun.outcome", "Site": "gonogo.dryrun.outcome", "Launch": "gonogo.launches",
    "OwnProblem": "gonogo.problems", "Problem": "gonogo.problems", "UsageProblem": "gonogo.problems",
}

__all__ = [
    "CheckResult", "Checker", "Error", "Launch", "LaunchResult", "OwnProblem", "Problem", "Site", "UsageProblem",
    "WorldResult", "check",
]


def check(command: Any, **options: Any) -> CheckResult:
    """The verdict on one launch, in a checker of its own; options as for Checker.check. For many launches keep a Checker."""
    from gonogo.check.checker import Checker

    with Checker() as checker:
        return checker.check(command, **options)


def __getattr__(name: str) -> Any:
    # Late, so that `import gonogo` and `gonogo --help` load nothing that they do not need.
    if name not in _WHERE:
        raise AttributeError(f"module 'gonogo' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WHERE[name]), name)
