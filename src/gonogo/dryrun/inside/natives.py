"""Libraries that open files in native code: their openers are led into the sandbox like Python's own."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from .files import Files


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
