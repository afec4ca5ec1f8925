"""Messages of the library as the command line shows them: its arguments become options."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from dualfold.cli.method_options import as_word, flag_of
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import Argument, Message

# Arguments of the library whose parameter has another name in the commands.
PARAMETERS = {
    "X": "file",
    "Y": "embedding",
    "label_columns": "color",
    "most_mb": "html_mb",
    "overwrite": "force",
    "queries": "file",
    "y": "labels",
}
METHOD_OPTIONS = {name for row in DESCRIPTIONS.values() for name in row.options}
# The command that runs, by its function or its name; messages name its options.
_running: Callable[..., Any] | str = "embed"


@contextlib.contextmanager
def running(command: Callable[..., Any]) -> Iterator[None]:
    """Meanwhile messages are about this command."""
    global _running
    before, _running = _running, command
    try:
        yield
    finally:
        _running = before


def shown(text: str, command: str | None = None) -> str:
    """The text as a user of the command reads it, by default of the one that runs."""
    if not isinstance(text, Message):
        return text
    parameters = _parameters(command or _running)
    return text.shown(lambda argument: _as_option(argument, parameters))


@functools.cache
def _parameters(command: Callable[..., Any] | str) -> dict[str, Any]:
    """The parameters of a command by their names in Python.

    A function may be a command of another program (python -m papers).
    """
    import typer
    from typer.main import get_command

    if isinstance(command, str):
        from dualfold.cli.app import app

        found: Any = get_command(app).commands[command]  # type: ignore[attr-defined]
    else:
        alone = typer.Typer(add_completion=False)
        alone.command()(command)
        found = get_command(alone)
    return {parameter.name: parameter for parameter in found.params}


def _as_option(argument: Argument, parameters: dict[str, Any]) -> str:
    """The option that stands for an argument: of this command, of a method, else of `embed`."""
    name = PARAMETERS.get(argument.name, argument.name)
    if name in parameters:
        return _option_text(parameters[name], argument.value)
    if argument.name in METHOD_OPTIONS:
        flag, value = flag_of(argument.name), argument.value
        return flag if value is ... or value is True else f"{flag} {as_word(value)}"
    elsewhere = _parameters("embed").get(name)
    if elsewhere is not None:
        return f"{_option_text(elsewhere, argument.value)} (of `dualfold embed`)"
    words = argument.name.replace("_", " ")  # no option stands for it
    return words if argument.value is ... else f"{words} {as_word(argument.value)}"


def _option_text(parameter: Any, value: Any) -> str:
    """A parameter of a command with its value, as it is typed."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    option = max(parameter.opts, key=len)
    if value is ... or value is True:
        return option
    if value is None or value is False:
        return next(iter(getattr(parameter, "secondary_opts", ())), f"no {option}")
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in values)
