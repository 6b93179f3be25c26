"""vLLM inside the child: where its configuration is made, and what it settled on. Imports vLLM only when asked to."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import sys
from typing import Any

from gonogo_inside.logs import note_swallowed  # type: ignore[import-not-found]
from gonogo_inside.processes import Reached  # type: ignore[import-not-found]
from gonogo_inside.workers import alone, fitting, stop_before_weights  # type: ignore[import-not-found]


def prepare(progress: Any) -> None:
    """Put the edges of the dry run in place: the configuration's return, and model inspection in this very process."""
    arg_utils = importlib.import_module("vllm.engine.arg_utils")
    for name in ("EngineArgs", "AsyncEngineArgs"):
        made = getattr(arg_utils, name)
        if "create_engine_config" in vars(made):
            made.create_engine_config = _ending(made.create_engine_config, progress)
    importlib.import_module("vllm.model_executor.models")
    registry = sys.modules.get("vllm.model_executor.models.registry")  # before 0.6.3 there was none
    if hasattr(registry, "_run_in_subprocess"):
        registry._run_in_subprocess = _inspect  # type: ignore[union-attr]
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("vllm.entrypoints") and "run_dp_supervisor" in vars(module):
            module.run_dp_supervisor = _supervise  # type: ignore[attr-defined]


def backends(config: Any, _progress: Any) -> None:
    """What a worker process does before it reads weights, in the first worker: its device, its groups, the model's layers.

    The engine's own worker is started, up to the moment when the model is built. Other processes are there by name only.
    """
    name = config.parallel_config.worker_cls
    worker = importlib.import_module(name.rpartition(".")[0])
    bases = [importlib.import_module(kind.__module__) for kind in getattr(worker, name.rpartition(".")[2]).__mro__]
    wrapper = next(base.WorkerWrapperBase for base in bases if hasattr(base, "WorkerWrapperBase"))
    parallel_state: Any = importlib.import_module("vllm.distributed.parallel_state")
    alone(parallel_state)
    if hasattr(parallel_state, "_node_count"):
        parallel_state._node_count = lambda *_args: getattr(config.parallel_config, "nnodes", 1)
    importlib.import_module("vllm.model_executor.model_loader")
    loaders = [each for name, each in sys.modules.items() if name.startswith("vllm.model_executor.model_loader")]
    stop_before_weights(loaders, ("initialize_model", "_initialize_model"))
    words = {
        "vllm_config": config,
        "local_rank": 0,
        "rank": 0,
        "distributed_init_method": "tcp://127.0.0.1:29500",
        "is_driver_worker": True,
    }
    made = wrapper(**fitting(wrapper, {"vllm_config": config, "rpc_rank": 0}))
    if "all_kwargs" in inspect.signature(made.init_worker).parameters:
        made.init_worker([words])
    else:
        made.init_worker(**words)
    made.init_device()
    made.load_model()


def _ending(ordinary: Any, progress: Any) -> Any:
    def create_engine_config(self: Any, *args: Any, **kwargs: Any) -> Any:
        progress.enter("configuration")
        raise Reached("the configuration", ordinary(self, *args, **kwargs))

    return create_engine_config


def _inspect(function: Any) -> Any:
    """VLLM looks at a model's class in a process of its own and hears nothing of what that logs."""
    import logging

    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        return function()
    except Exception as error:
        note_swallowed(error)
        raise
    finally:
        logging.disable(before)


def _supervise(_args: Any) -> None:
    raise Reached("start of the supervisor's servers")


def call(target: str, positional: list[Any], arguments: dict[str, Any]) -> None:
    """A Python launch: ``LLM(...)`` and its kin."""
    vllm = importlib.import_module("vllm")
    made = getattr(vllm, target, None) or getattr(importlib.import_module("vllm.engine.arg_utils"), target)
    value = (
        made(*positional, **arguments)
        if not hasattr(made, "from_engine_args") or target == "LLM"
        else _engine(made, arguments)
    )
    if hasattr(value, "create_engine_config"):
        value.create_engine_config()


def _engine(made: Any, arguments: dict[str, Any]) -> Any:
    arg_utils = importlib.import_module("vllm.engine.arg_utils")
    kind = arg_utils.AsyncEngineArgs if "Async" in made.__name__ else arg_utils.EngineArgs
    return made.from_engine_args(kind(**arguments))


def resolved(config: Any) -> dict[str, Any]:
    """``section.field`` of the finished configuration, simple values only."""
    values: dict[str, Any] = {}
    for section in _fields(config):
        part = getattr(config, section, None)
        if part is None or isinstance(part, (str, int, float, bool)):
            continue
        for name in _fields(part):
            value = _value(part, name)
            if value is not None or hasattr(part, name):
                values[f"{section}.{name}"] = value
    model = getattr(config, "model_config", None)
    architectures = getattr(getattr(model, "hf_config", None), "architectures", None)
    if architectures is not None:
        values["architectures"] = architectures
    return {name: text for name, value in values.items() if (text := _text(value)) is not None}


def _fields(value: Any) -> list[str]:
    """Names of what it holds: dataclass fields, other attributes, properties."""
    names = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    names += [name for name in getattr(value, "__dict__", ()) if not name.startswith("_")]
    names += [
        name
        for name, kind in inspect.getmembers(type(value))
        if isinstance(kind, property) and not name.startswith("_")
    ]
    return list(dict.fromkeys(names))


def _value(part: Any, name: str) -> Any:
    try:
        return getattr(part, name)
    except Exception:
        return None


def _text(value: Any) -> str | None:
    """As text; None for what is no simple value."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, type) or callable(value):
        return None
    text = str(value)
    return text if len(text) <= 2000 and " object at 0x" not in text else None
