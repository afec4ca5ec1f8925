"""Messages of the library as the command line shows them: its arguments become options."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import typer
from typer.main import get_command

from dualfold.cli.method_options import METHOD_OPTIONS, as_word
from dualfold.errors import Argument, Message

# Arguments of the library whose option has another name.
OPTION_OF_ARGUMENT = {
    "X": "file",
    "Y": "embedding",
    "label_columns": "color",
    "most_mb": "html_mb",
    "overwrite": "force",
    "queries": "file",
    "y": "labels",
}
# The command that runs, by its function or its name; messages name its options.
_command: Callable[..., Any] | str = "embed"


@contextlib.contextmanager
def messages_about(command: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile messages name the options of this command."""
    global _command
    before, _command = _command, command
    try:
        yield
    finally:
        _command = before


def command_text(text: str, command: str | None = None) -> str:
    """The text as a user of the command reads it, by default of the one that runs."""
    if not isinstance(text, Message):
        return text
    parameters = _parameters(command or _command)
    return text.text_for(lambda argument: _as_option(argument, parameters))


def command_texts(texts: Iterable[str]) -> list[str]:
    """Messages as a user of the command that runs reads them."""
    return [command_text(text) for text in texts]


@functools.cache
def _parameters(command: Callable[..., Any] | str) -> dict[str, object]:
    """The parameters of a command by their names in Python.

    A function may be a command of another program (python -m papers).
    """
    if isinstance(command, str):
        from dualfold.cli.app import app

        known: Any = get_command(app).commands[command]  # type: ignore[attr-defined]
    else:
        alone = typer.Typer(add_completion=False)
        alone.command()(command)
        known = get_command(alone)
    return {parameter.name: parameter for parameter in known.params}


def _as_option(argument: Argument, parameters: dict[str, object]) -> str:
    """The option that stands for an argument: of this command, of a method, else of `embed`."""
    name, value = OPTION_OF_ARGUMENT.get(argument.name, argument.name), argument.value
    if name in parameters:
        return _option_text(parameters[name], value)
    elsewhere = _parameters("embed").get(name)
    if elsewhere is None:  # no option stands for it
        words = argument.name.replace("_", " ")
        return words if value is ... else f"{words} {as_word(value)}"
    of_methods = name in METHOD_OPTIONS or name == "n_neighbors"
    text = _option_text(elsewhere, value)
    return text if of_methods else f"{text} (of `dualfold embed`)"


def _option_text(parameter: Any, value: Any) -> str:
    """A parameter of a command with its value, as it is typed."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    option, of_methods = max(parameter.opts, key=len), parameter.name in METHOD_OPTIONS
    if value is ... or value is True:
        return option
    if value is False or (value is None and not of_methods):
        return next(iter(getattr(parameter, "secondary_opts", ())), f"no {option}")
    values = value if isinstance(value, list | tuple) else [value]
    words = [as_word(one) if of_methods else str(one) for one in values]
    return " ".join(f"{option} {shlex.quote(word)}" for word in words)
