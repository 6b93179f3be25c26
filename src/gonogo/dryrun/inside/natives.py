"""Native code: libraries that open files themselves are led into the sandbox, and the machine's own libraries are not there."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .decisions import DECISIONS
from .files import Files
from .furniture import CUDA_RUNTIME
from .unknown import Unknown

#: The C library, under the names that stand in programs: part of every world.
LIBC = ("libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0")


def install(files: Files, is_ours: Callable[[str], bool]) -> None:
    """Lead ctypes and shared memory into the world. ``is_ours`` knows the files of the release and its environment."""
    _libraries(is_ours)
    shared_memory: Any = importlib.import_module("_posixshmem")
    shared_memory.shm_open = lambda path, flags, mode=0o777: os.open("/dev/shm/" + path.lstrip("/"), flags, mode)
    shared_memory.shm_unlink = lambda path: os.unlink("/dev/shm/" + path.lstrip("/"))


def _libraries(is_ours: Callable[[str], bool]) -> None:
    """ctypes.CDLL: whether the world's machine has a library is not known, and what stands on this one must not show."""
    ordinary: Any = ctypes.CDLL.__init__

    def __init__(self: Any, name: Any = None, *args: Any, **kwargs: Any) -> None:
        text = os.fsdecode(name) if isinstance(name, (str, bytes)) or hasattr(name, "__fspath__") else None
        if text is None or text in LIBC or is_ours(text):
            ordinary(self, name, *args, **kwargs)
        elif text == CUDA_RUNTIME or DECISIONS.take("library", text, False, True):
            self.__class__, self._name, self._handle = _UnknownLibrary, text, 0
        else:
            raise OSError(f"{text}: cannot open shared object file: No such file or directory")

    ctypes.CDLL.__init__ = __init__  # type: ignore[method-assign]
    ctypes.util.find_library = lambda name: {"c": LIBC[0], "m": LIBC[1]}.get(name)


class _UnknownLibrary(ctypes.CDLL):
    """A library that may be on the world's machine."""

    def __init__(self) -> None:
        raise TypeError("made from a CDLL only")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self._name}.{name}")

    __getitem__ = __getattr__


def after_tokenizers(files: Files) -> Callable[[ModuleType], None]:
    """tokenizers.Tokenizer.from_file reads natively; its class cannot be changed, so a class over it stands in its place."""

    def then(m: ModuleType) -> None:
        module: Any = m
        native = module.Tokenizer

        class Opener(type):
            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, native)

            def __call__(cls, *args: Any, **kwargs: Any) -> Any:
                return native(*args, **kwargs)

        class Tokenizer(metaclass=Opener):
            @staticmethod
            def from_file(path: Any) -> Any:
                return native.from_file(files.lead(path))

            from_str = native.from_str
            from_buffer = native.from_buffer
            from_pretrained = native.from_pretrained

        Tokenizer.__module__ = native.__module__
        module.Tokenizer = Tokenizer

    return then


def after_sentencepiece(files: Files) -> Callable[[ModuleType], None]:
    """SentencePieceProcessor.LoadFromFile."""

    def then(m: ModuleType) -> None:
        processor = getattr(m, "SentencePieceProcessor", None)
        ordinary = getattr(processor, "LoadFromFile", None)
        if processor is not None and ordinary is not None:
            processor.LoadFromFile = lambda self, path: ordinary(self, files.lead(path))

    return then
