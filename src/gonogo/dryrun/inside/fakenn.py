"""torch.nn as far as building a model goes: modules own parameters, buffers and modules; what they compute is unknown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from .faketensors import ATTRIBUTES, KnownTensor, Size, Tensor, made
from .faketypes import DEFAULT
from .unknown import Unknown, as_the_real_one, described_attribute

_KEPT = ("_parameters", "_buffers", "_modules")


class Parameter(KnownTensor):
    """torch.nn.Parameter: the type and shape of its data."""

    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True, **_options: Any) -> Any:
        """As torch does it: subclasses hand over their data here and have an __init__ of their own."""
        self = object.__new__(cls)
        if isinstance(data, KnownTensor):
            KnownTensor.__init__(self, data.shape, data.dtype, data.device)
        elif data is None:
            KnownTensor.__init__(self, (0,), DEFAULT["dtype"], made(0).device)
        self.requires_grad = requires_grad
        return self

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def __init_subclass__(cls, **_kwargs: Any) -> None:
        pass


class UninitializedParameter(Parameter):
    """torch.nn.UninitializedParameter."""

    __module__ = "torch.nn.parameter"


class Buffer(Parameter):
    """torch.nn.Buffer."""

    __module__ = "torch.nn.parameter"


class _Hook:
    """Called whenever a module gets to own something, until it is removed."""

    def __init__(self, hooks: list[Callable[..., Any]], function: Callable[..., Any]) -> None:
        self._hooks, self._function = hooks, function
        hooks.append(function)

    def remove(self) -> None:
        """Do not call it any more."""
        if self._function in self._hooks:
            self._hooks.remove(self._function)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_args: Any) -> None:
        self.remove()


#: Hooks on all modules, by what a module gets to own.
_HOOKS: dict[str, list[Callable[..., Any]]] = {kept: [] for kept in _KEPT}
REGISTRATION_HOOKS: dict[str, Callable[[Callable[..., Any]], _Hook]] = {
    "register_module_module_registration_hook": lambda function: _Hook(_HOOKS["_modules"], function),
    "register_module_parameter_registration_hook": lambda function: _Hook(_HOOKS["_parameters"], function),
    "register_module_buffer_registration_hook": lambda function: _Hook(_HOOKS["_buffers"], function),
}


class Module:
    """torch.nn.Module: what it owns is kept as torch keeps it, what it does not own it does not have."""

    __module__ = "torch.nn.modules.module"
    dump_patches = False
    training = True
    call_super_init = False

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        for name in _KEPT:
            object.__setattr__(self, name, OrderedDict())
        object.__setattr__(self, "training", True)
        object.__setattr__(self, "_non_persistent_buffers_set", set())

    def __getattr__(self, name: str) -> Any:
        for kept in _KEPT:
            owned = self.__dict__.get(kept)
            if owned is not None and name in owned:
                return owned[name]
        if f"Module.{name}" in ATTRIBUTES:
            return Unknown(f"{type(self).__name__}().{name}")
        raise as_the_real_one(AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'"))

    def __setattr__(self, name: str, value: Any) -> None:
        kind = "_parameters" if isinstance(value, Parameter) else "_modules" if isinstance(value, Module) else None
        owned = self.__dict__.get(kind) if kind else None
        if kind and owned is None:
            what = "parameters" if kind == "_parameters" else "module"
            raise as_the_real_one(AttributeError(f"cannot assign {what} before Module.__init__() call"))
        if owned is not None:
            assert kind is not None
            self._own(kind, name, value)
            return
        for kept in _KEPT:
            if name in self.__dict__.get(kept, ()):
                self.__dict__[kept][name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if not self._forget(name):
            object.__delattr__(self, name)

    def _own(self, kept: str, name: str, value: Any) -> None:
        if name not in self.__dict__[kept]:  # else its place among the others stays
            self._forget(name)
        for hook in list(_HOOKS[kept]):
            changed = hook(self, name, value)
            value = value if changed is None else changed
        self.__dict__[kept][name] = value

    def _forget(self, name: str) -> bool:
        found = self.__dict__.pop(name, None) is not None
        for kept in _KEPT:
            found = self.__dict__.get(kept, {}).pop(name, None) is not None or found
        return found

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        return sorted(
            {*dir(type(self)), *self.__dict__, *(name for kept in _KEPT for name in self.__dict__.get(kept, ()))}
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward(self, *_input: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        return Unknown(f"{type(self).__name__}()()")

    def register_parameter(self, name: str, param: Any) -> None:
        """Own a parameter, or None in its place."""
        self._own("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Own a tensor that is no parameter."""
        self._own("_buffers", name, tensor)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Own a module."""
        self._own("_modules", name, module)

    register_module = add_module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules that it owns itself."""
        yield from ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self) -> Iterator[Any]:
        yield from (module for _, module in self.named_children())

    def named_modules(
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Itself and all modules below, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self.named_children():
            if isinstance(module, Module):
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator[Any]:
        yield from (module for _, module in self.named_modules())

    def _named(self, kept: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        owners = self.named_modules(prefix=prefix) if recurse else iter([(prefix, self)])
        for at, module in owners:
            for name, value in module.__dict__.get(kept, {}).items():
                if value is not None:
                    yield (f"{at}.{name}" if at else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Parameters with their full names."""
        yield from self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        yield from (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Buffers with their full names."""
        yield from self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        yield from (value for _, value in self.named_buffers(recurse=recurse))

    def state_dict(self, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """Parameters and buffers by name."""
        return dict([*self.named_parameters(), *self.named_buffers()])

    def get_submodule(self, target: str) -> Any:
        """The module of that dotted name."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = getattr(module, name)
        return module

    def get_parameter(self, target: str) -> Any:
        """The parameter of that dotted name."""
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    get_buffer = get_parameter

    def apply(self, function: Callable[[Any], Any]) -> Any:
        """Call ``function`` on all modules below and on itself."""
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Set the mode of itself and all modules below."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    def _same(self, *_args: Any, **_kwargs: Any) -> Any:
        return self

    to = to_empty = cuda = cpu = xpu = mtia = ipu = half = float = double = bfloat16 = type = requires_grad_ = (
        share_memory
    ) = _same

    def compile(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing is compiled."""

    zero_grad = set_extra_state = compile

    def extra_repr(self) -> str:
        return ""

    def get_extra_state(self) -> Any:
        return Unknown("torch.nn.Module().get_extra_state()")

    def _hook(self, *_args: Any, **_kwargs: Any) -> Any:
        return Unknown("torch.utils.hooks.RemovableHandle()")

    register_forward_hook = register_forward_pre_hook = register_backward_hook = register_full_backward_hook = _hook
    register_full_backward_pre_hook = register_state_dict_post_hook = register_state_dict_pre_hook = _hook
    register_load_state_dict_post_hook = register_load_state_dict_pre_hook = load_state_dict = set_submodule = _hook


class _Owner(Module):
    """A container whose modules are numbered."""

    __module__ = "torch.nn.modules.container"

    def __init__(self, modules: Any = ()) -> None:
        super().__init__()
        self.extend(modules or ())

    def append(self, module: Any) -> Any:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Any) -> Any:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> None:
        rest = list(self._modules.values())
        rest.insert(index, module)
        self._modules.clear()
        self.extend(rest)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, module: Any) -> None:
        name = list(self._modules)[index]
        self._modules[name] = module

    def __dir__(self) -> list[str]:
        return super().__dir__()


class ModuleList(_Owner):
    """torch.nn.ModuleList."""

    __module__ = "torch.nn.modules.container"


class Sequential(_Owner):
    """torch.nn.Sequential."""

    __module__ = "torch.nn.modules.container"

    def __init__(self, *modules: Any) -> None:
        named = modules[0] if len(modules) == 1 and isinstance(modules[0], dict) else None
        super().__init__(
            () if named is not None else modules[0] if len(modules) == 1 and isinstance(modules[0], list) else modules
        )
        for name, module in (named or {}).items():
            self.add_module(name, module)


class ModuleDict(Module):
    """torch.nn.ModuleDict."""

    __module__ = "torch.nn.modules.container"

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Any) -> None:
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self.add_module(name, module)

    def __getitem__(self, name: str) -> Any:
        return self._modules[name]

    def __setitem__(self, name: str, module: Any) -> None:
        self.add_module(name, module)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def keys(self) -> Any:
        return self._modules.keys()

    def values(self) -> Any:
        return self._modules.values()

    def items(self) -> Any:
        return self._modules.items()


class _Layer(Module):
    """A layer that computes: it owns what ``shapes`` says, and remembers its arguments by name."""

    __module__ = "torch.nn.modules"
    _names: tuple[str, ...] = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__()
        given = {**dict(zip(self._names, args, strict=False)), **options}
        for name, value in given.items():
            if name not in ("device", "dtype", "bias"):
                object.__setattr__(self, name, value)
        kind = {"dtype": options.get("dtype"), "device": options.get("device")}
        shapes = self._shapes(given)
        for name in ("weight", "bias"):
            shape = shapes.get(name)
            data = made(shape, **kind) if shape is not None else None
            self.register_parameter(name, None if data is None else Parameter(data))

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        return {}

    def reset_parameters(self) -> None:
        """New weights; nobody knows them."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__"):
                raise
        return described_attribute(self, name, f"torch.nn.{type(self).__name__}()")


class Linear(_Layer):
    """torch.nn.Linear."""

    __module__ = "torch.nn.modules.linear"
    _names = ("in_features", "out_features", "bias")

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        rows, columns = given["out_features"], given["in_features"]
        return {"weight": (rows, columns), **({"bias": (rows,)} if given.get("bias", True) else {})}


class Embedding(_Layer):
    """torch.nn.Embedding."""

    __module__ = "torch.nn.modules.sparse"
    _names = ("num_embeddings", "embedding_dim", "padding_idx")

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        return {"weight": (given["num_embeddings"], given["embedding_dim"])}


class LayerNorm(_Layer):
    """torch.nn.LayerNorm."""

    __module__ = "torch.nn.modules.normalization"
    _names = ("normalized_shape", "eps", "elementwise_affine", "bias")

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        shape = given["normalized_shape"]
        shape = tuple(shape) if isinstance(shape, (tuple, list, Size)) else (shape,)
        if not given.get("elementwise_affine", True):
            return {}
        return {"weight": shape, **({"bias": shape} if given.get("bias", True) else {})}


class RMSNorm(LayerNorm):
    """torch.nn.RMSNorm."""

    _names = ("normalized_shape", "eps", "elementwise_affine")

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        return {name: shape for name, shape in super()._shapes(given).items() if name == "weight"}


class _Convolution(_Layer):
    __module__ = "torch.nn.modules.conv"
    _axes = 1
    _names = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias")

    def _shapes(self, given: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
        size = given["kernel_size"]
        size = tuple(size) if isinstance(size, (tuple, list)) else (size,) * self._axes
        object.__setattr__(self, "kernel_size", size)
        channels = given["in_channels"]
        groups = given.get("groups", 1)
        inner = channels // groups if isinstance(channels, int) and isinstance(groups, int) else channels
        rows = given["out_channels"]
        return {"weight": (rows, inner, *size), **({"bias": (rows,)} if given.get("bias", True) else {})}


class Conv1d(_Convolution):
    """torch.nn.Conv1d."""


class Conv2d(_Convolution):
    """torch.nn.Conv2d."""

    _axes = 2


class Conv3d(_Convolution):
    """torch.nn.Conv3d."""

    _axes = 3


#: Layers of torch.nn that own nothing.
_WITHOUT_WEIGHTS = """
    AdaptiveAvgPool1d AdaptiveAvgPool2d AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d Dropout Dropout1d Dropout2d
    Dropout3d ELU Flatten Fold GELU GLU Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSoftmax Mish PixelShuffle
    PixelUnshuffle ReLU ReLU6 SELU SiLU Sigmoid Softmax Softplus Softsign Tanh Unfold Unflatten Upsample ZeroPad1d ZeroPad2d
    ConstantPad1d ConstantPad2d ReflectionPad1d ReflectionPad2d ReplicationPad1d ReplicationPad2d CrossEntropyLoss
"""
#: Layers of which nobody here knows what they own.
_OTHERS = """
    LSTM GRU RNN LSTMCell GRUCell RNNCell RNNBase MultiheadAttention BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm GroupNorm
    InstanceNorm1d InstanceNorm2d InstanceNorm3d ConvTranspose1d ConvTranspose2d ConvTranspose3d EmbeddingBag Bilinear PReLU
    Transformer TransformerEncoder TransformerEncoderLayer TransformerDecoder TransformerDecoderLayer ParameterList
    ParameterDict LocalResponseNorm CrossMapLRN2d LazyLinear
"""

LAYERS: dict[str, type] = {
    each.__name__: each
    for each in (
        Module,
        ModuleList,
        ModuleDict,
        Sequential,
        Linear,
        Embedding,
        LayerNorm,
        RMSNorm,
        Conv1d,
        Conv2d,
        Conv3d,
    )
} | {name: type(name, (_Layer,), {"__module__": "torch.nn.modules"}) for name in (_WITHOUT_WEIGHTS + _OTHERS).split()}

__all__ = ["LAYERS", "Buffer", "Module", "Parameter", "Tensor", "UninitializedParameter"]
