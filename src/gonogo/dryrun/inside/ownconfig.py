"""The configuration class that a model brings as code of its own, which is never executed: a stand-in keeps config.json's values.

transformers writes a class's own values into config.json whether they differ from their defaults or not
(PretrainedConfig.to_diff_dict), so that a class is mostly told by the file.
"""

from __future__ import annotations

import importlib
from typing import Any

#: What every configuration class has a parameter for, whether transformers' own has one (before 5) or not.
_TOKENS = ("pad_token_id", "bos_token_id", "eos_token_id")
#: Classes that a stand-in was made for: "repository: class".
MADE: dict[str, None] = {}


def after_dynamic_modules(module: Any) -> None:
    """``transformers.dynamic_module_utils`` was imported."""
    ordinary = module.get_class_from_dynamic_module

    def get_class_from_dynamic_module(
        class_reference: Any, pretrained_model_name_or_path: Any, *args: Any, **kwargs: Any
    ) -> Any:
        name = str(class_reference).rpartition(".")[2]
        if not name.endswith("Config") or not name.isidentifier():
            return ordinary(class_reference, pretrained_model_name_or_path, *args, **kwargs)
        MADE[f"{pretrained_model_name_or_path}: {name}"] = None
        return _stand_in(name)

    module.get_class_from_dynamic_module = get_class_from_dynamic_module


def _stand_in(name: str) -> Any:
    transformers = importlib.import_module("transformers")

    def __init__(self: Any, **values: Any) -> None:
        for key, value in values.items():
            if key.endswith("_config") and isinstance(value, dict) and "model_type" in value:
                values[key] = _part(value)
        values = {**dict.fromkeys(_TOKENS), **values}
        # As such classes do: their own values first, then what they have from transformers.
        vars(self).update(values)
        transformers.PretrainedConfig.__init__(self, **{key: one for key, one in values.items() if key != "model_type"})

    return type(
        name, (transformers.PretrainedConfig,), {"__init__": __init__, "__module__": f"transformers_modules.{name}"}
    )


def _part(values: dict[str, Any]) -> Any:
    """A part of a configuration that has a configuration of its own."""
    known = importlib.import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
    if values["model_type"] in known:
        return known[values["model_type"]](**values)
    return _stand_in("PartConfig")(**values)
