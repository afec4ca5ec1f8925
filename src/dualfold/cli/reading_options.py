"""The options with which a table is read, made from the fields of `Reading`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from dualfold.cli.options import beginning, one_of
from dualfold.data.reading import DEFAULT_VALUES, OPTION_SUBJECTS, READING_OPTIONS, Reading

# What is about the file alone: a stored map says itself what became of the columns.
OF_FILE = tuple(name for name in READING_OPTIONS if OPTION_SUBJECTS[name] != "columns")
# A report measures a map and learns nothing.
OF_REPORT = tuple(name for name in READING_OPTIONS if name != "labels")
# New rows have the columns and the scales of the old ones.
OF_NEW_ROWS = (*OF_FILE, "color", "identifier", "missing")


def reads_table(
    names: Iterable[str] = tuple(READING_OPTIONS),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose argument `reading` is given by these options, in its place."""
    wanted = [name for name in READING_OPTIONS if name in tuple(names)]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for one in signature.parameters.values():
            mine = one.name == "reading"
            parameters += [_parameter(name) for name in wanted] if mine else [one]

        @functools.wraps(command)
        def called(**values: Any) -> None:
            given = {name: values.pop(name) for name in wanted}
            # typer hands None for a repeatable option that is not there
            chosen = {name: DEFAULT_VALUES[name] if v is None else v for name, v in given.items()}
            command(**values, reading=Reading(**chosen))

        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        return called

    return decorated


def _parameter(name: str) -> inspect.Parameter:
    option, default = READING_OPTIONS[name], DEFAULT_VALUES[name]
    three = name == "standardize"  # asked for, forbidden, or left to the data
    repeatable, switch = isinstance(default, tuple), isinstance(default, bool) or three
    more: dict[str, Any] = {}
    if option.choices:
        check = one_of(*option.choices)
        more["callback"] = lambda value: value if value is None else check(value)
        more["autocompletion"] = beginning(*option.choices)
    if not switch:
        more["metavar"] = option.metavar or "|".join(option.choices)
    kind: Any = list[str] | None if repeatable else bool if switch else str | None
    kind = bool | None if three else kind
    flag = f"{flag_of(name)}/--no-{name}" if three else flag_of(name)
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None if repeatable else default,
        annotation=Annotated[kind, typer.Option(flag, help=option.help, **more)],
    )


def flag_of(name: str) -> str:
    """What is typed for a field of `Reading`."""
    return READING_OPTIONS[name].flag or f"--{name.replace('_', '-')}"


def reading_words(reading: Reading, *, standardize: bool = False) -> list[str]:
    """The options that read the same table the same way."""
    words: list[str] = []
    for name in READING_OPTIONS:
        value = getattr(reading, name)
        if name == "standardize" and standardize:
            value = True
        if isinstance(value, bool):
            words += [flag_of(name)] if value else []
            words += ["--no-standardize"] if name == "standardize" and not value else []
        elif value != DEFAULT_VALUES[name]:
            for one in value if isinstance(value, tuple) else (value,):
                words += [flag_of(name), str(one)]
    return words
