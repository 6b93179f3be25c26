"""torch.nn.init: functions that fill a tensor give it back, and what they count of its shape is counted."""

from __future__ import annotations

import math
from typing import Any

from .faketensors import KnownTensor
from .unknown import Unknown, as_the_real_one

_FILLERS = (
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
)


def _filled(tensor: Any, *_args: Any, **_options: Any) -> Any:
    return tensor


def fans(tensor: Any) -> Any:
    """torch.nn.init._calculate_fan_in_and_fan_out: inputs and outputs of one unit of a layer with these weights."""
    if not isinstance(tensor, KnownTensor):
        return Unknown("torch.nn.init._calculate_fan_in_and_fan_out()")
    if tensor.ndim < 2:
        told = "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        raise as_the_real_one(ValueError(told))
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def fan(tensor: Any, mode: str) -> Any:
    """torch.nn.init._calculate_correct_fan."""
    if mode.lower() not in ("fan_in", "fan_out"):
        told = f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']"
        raise as_the_real_one(ValueError(told))
    found = fans(tensor)
    return found if isinstance(found, Unknown) else found[mode.lower() == "fan_out"]


def describe(m: Any) -> None:
    """Fill torch.nn.init."""
    for name in _FILLERS:
        setattr(m, name, _filled)
    m._calculate_fan_in_and_fan_out, m._calculate_correct_fan = fans, fan
