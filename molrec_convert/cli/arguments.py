"""Arguments that are text stay text, without the library that typer checks other types with."""

from __future__ import annotations

import sys
from typing import Any, BinaryIO

from typer.core import TyperCommand, TyperGroup

STREAM = "-"
"""The name that stands for a standard stream."""


def source_of(name: str) -> str | BinaryIO:
    """A file by its name, or standard input."""
    return sys.stdin.buffer if name == STREAM else name


def target_of(name: str) -> str | BinaryIO:
    """A file by its name, or standard output."""
    return sys.stdout.buffer if name == STREAM else name


def words_of(text: str | None) -> list[str]:
    """The words of a list that commas part; none where it is not given."""
    return [] if text is None else text.split(",")


class _TextMixin:
    """Lets typer check only arguments that were given and are no text.

    Recent releases check every argument through pydantic, whose import and schemas take a fifth of a short conversion.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "_runtime_param", param) is None:
                param._runtime_param = _Text()  # noqa: SLF001 - typer has no public way
        return params


class TextCommand(_TextMixin, TyperCommand):
    """A command most of whose arguments are text."""


class TextGroup(_TextMixin, TyperGroup):
    """A group of such commands."""


class _Text:
    """Takes the place of typer's coercion until a value needs it."""

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:
        if value is None and not param.multiple and param.nargs == 1:
            return None
        if isinstance(value, str) and param.type_descriptor.annotation is str:
            return value
        if isinstance(value, tuple) and param.type_descriptor.annotation == list[str]:
            return list(value)
        param._runtime_param = None  # noqa: SLF001
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
