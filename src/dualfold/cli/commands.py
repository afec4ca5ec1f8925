"""From a class of options to a command: `dualfold embed` is a function of one `EmbedOptions`.

Each field of such a class is an option: one of its own (its metadata), or the one of that name
that several commands have (`options.py`). Two fields stand for several options: `reading` for
those with which a table is read, made from the fields of `Reading`; and `method_options` for
those of the methods, of which a command takes the ones of the methods that it names: `embed -m
isomap --landmarks 200`. Only to show or read the values of the latter is an estimator loaded,
which states them.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from dualfold.cli.exit_codes import with_exit_codes
from dualfold.cli.method_options import (
    METHOD_OPTIONS,
    SWITCH_OPTIONS,
    as_word,
    coordinates_option,
    flag_of,
    method_options,
    off_flag_of,
    option_words,
)
from dualfold.cli.options import (
    COMMON_OPTIONS,
    READING_SECTIONS,
    complete_column,
    completion,
    one_of,
)
from dualfold.cli.usage import Command, not_a_number, usage_errors_of, whole_number
from dualfold.data.reading import DEFAULT_VALUES, READING_OPTIONS, Reading
from dualfold.methods.descriptions import DESCRIPTIONS, description_of

if TYPE_CHECKING:
    from dualfold.cli.compare import CompareOptions
    from dualfold.cli.embed import EmbedOptions
    from dualfold.exploration.plan import Plan

# Methods that `compare` runs where none is named.
COMPARED_METHODS = "pca,isomap,lle,eigenmaps"


def add_command(app: typer.Typer, run: Callable[[Any], None]) -> None:
    """`run`, a function of one object with the options, as a command of that name."""
    command = as_command(run)
    takes_methods = METHOD_OPTIONS[0] in inspect.signature(command).parameters
    kind = MethodCommand if takes_methods else Command
    app.command(name=run.__name__, cls=kind)(with_exit_codes(command))


def as_command(run: Callable[[Any], None]) -> Callable[..., None]:
    """The function as typer takes it: with an argument for each option."""
    (kind,) = (hint for name, hint in get_type_hints(run).items() if name != "return")
    hints = get_type_hints(kind)
    reading_fields: Sequence[str] = ()
    parameters: list[inspect.Parameter] = []
    for one in fields(kind):
        if one.name == "reading":
            reading_fields = one.metadata.get("fields", tuple(READING_OPTIONS))
            parameters += map(_reading_parameter, reading_fields)
        elif one.name == "method_options":
            parameters += map(_method_parameter, METHOD_OPTIONS)
        else:
            option = one.metadata.get("option") or COMMON_OPTIONS[one.name]
            default = inspect.Parameter.empty if one.default is MISSING else one.default
            parameters.append(_parameter(one.name, Annotated[hints[one.name], option], default))

    @functools.wraps(run)
    def command(**values: Any) -> None:
        if reading_fields:
            typed = {name: values.pop(name) for name in reading_fields}
            # typer hands None for a repeatable option that is not there
            chosen = {k: DEFAULT_VALUES[k] if v is None else v for k, v in typed.items()}
            values["reading"] = Reading(**chosen)
        if "method_options" in hints:
            typed = {name: values.pop(name, None) for name in METHOD_OPTIONS}
            values["method_options"] = {k: v for k, v in typed.items() if v is not None}
        run(kind(**values))

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameter(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def _reading_parameter(name: str) -> inspect.Parameter:
    """The option of a field of `Reading`."""
    option, default = READING_OPTIONS[name], DEFAULT_VALUES[name]
    three = name == "standardize"  # yes, no, or as the data need
    repeatable, switch = isinstance(default, tuple), isinstance(default, bool) or three
    more: dict[str, object] = {}
    if option.choices:
        more["callback"] = one_of(*option.choices)
        more["autocompletion"] = completion(*option.choices)
    if not switch:
        more["metavar"] = option.metavar or "|".join(option.choices)
    if option.metavar == "COLUMN":
        more["autocompletion"] = complete_column
    if option.least is not None:
        more["parser"] = whole_number(option.least)
    word = str if option.least is None else int
    kind: Any = list[str] | None if repeatable else bool if switch else word | None
    kind = bool | None if three else kind
    flag = reading_flag(name)
    flag = f"{flag}/--no-{name}" if three else flag
    flags = (option.alias, flag) if option.alias else (flag,)
    more["rich_help_panel"] = READING_SECTIONS[option.section]
    annotation = Annotated[kind, typer.Option(*flags, help=option.help, **more)]
    return _parameter(name, annotation, None if repeatable else default)


def reading_flag(name: str) -> str:
    """Flag of a field of `Reading`."""
    return READING_OPTIONS[name].flag or flag_of(name)


def _method_parameter(name: str) -> inspect.Parameter:
    """An option of some methods, as it is typed; `MethodCommand` knows of which."""
    if name in SWITCH_OPTIONS:
        switch = f"{flag_of(name)}/{off_flag_of(name)}"
        return _parameter(name, Annotated[bool | None, typer.Option(switch)])

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        option = _first_option(name, ctx.meta["dualfold.methods"])
        return [word for word in option.words if word.startswith(incomplete)]

    option = typer.Option(flag_of(name), metavar="VALUE", autocompletion=complete)
    return _parameter(name, Annotated[str | None, option])


def _first_option(name: str, methods: Sequence[str]) -> Any:
    """The option of the first of these methods that has it."""
    owner = next(one for one in methods if name in DESCRIPTIONS[one].options)
    return next(one for one in method_options(owner) if one.name == name)


class MethodCommand(Command):
    """A command with the options of the methods that are named in it."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """As every command, once the methods are known; options of others are refused."""
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True  # they are refused below, beside the close ones
        with usage_errors_of(ctx):
            typed = parser.parse_args(list(args))[0]
        named = typed.get("method") or typed.get("methods")
        several = any(one.name == "methods" for one in self.params)
        methods = _known_methods(named or (COMPARED_METHODS if several else "pca"))
        offered = _options_of(methods)
        foreign = [name for name in typed if name in METHOD_OPTIONS and name not in offered]
        if foreign and methods and not ctx.resilient_parsing:
            ctx.fail(foreign_option(foreign[0], methods))
        ctx.meta["dualfold.methods"] = methods
        ctx.meta["dualfold.shown"] = offered if named else []
        if methods or ctx.resilient_parsing:
            ctx.meta["dualfold.offered"] = offered
        rest = super().parse_args(ctx, args)
        for name in METHOD_OPTIONS:  # typer would hand on those of its last run
            ctx.params.setdefault(name, None)
        return rest

    def get_params(self, ctx: Any) -> Any:
        """Options of the command and of its methods; of all methods before they are known."""
        params = super().get_params(ctx)
        offered = ctx.meta.get("dualfold.offered", METHOD_OPTIONS)
        own = [one for one in self.params if one.name not in METHOD_OPTIONS]
        of_methods = {one.name: one for one in self.params}
        return [*own, *(of_methods[name] for name in offered), *params[len(self.params) :]]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options in a help text; those of named methods have a section of their own."""
        ctx.meta["dualfold.offered"] = []
        super().format_options(ctx, formatter)
        methods, rows = ctx.meta["dualfold.methods"], []
        for name in ctx.meta["dualfold.shown"]:
            option = _first_option(name, methods)
            one: Any = copy(next(one for one in self.params if one.name == name))
            one.help = option.help_text
            rows.append(one.get_help_record(ctx))
        if rows:  # a method may have none of its own
            with formatter.section(f"Options of {', '.join(methods)}"):
                formatter.write_dl(rows)


def _known_methods(text: str) -> list[str]:
    """Names with commas between them; none where one is unknown, which is refused elsewhere."""
    try:
        return [description_of(name.strip()).name for name in text.split(",") if name.strip()]
    except LookupError:
        return []


def _options_of(methods: Sequence[str]) -> list[str]:
    """The options that some of the methods have beside those of the command, each once."""
    names = (name for one in methods for name in DESCRIPTIONS[one].options)
    return [name for name in dict.fromkeys(names) if name in METHOD_OPTIONS]


def foreign_option(name: str, methods: Sequence[str]) -> str:
    """That an option belongs to other methods, and what to do."""
    owners = [row.name for row in DESCRIPTIONS.values() if name in row.options]
    listed = ", ".join(owners[:4]) + (f" and {len(owners) - 4} others" if owners[4:] else "")
    return (
        f"{flag_of(name)} is an option of {listed}, not of {' and '.join(methods)}; `dualfold "
        f"methods {methods[0]}` lists what it takes"
    )


def plans_of(methods: Sequence[str], options: EmbedOptions | CompareOptions) -> tuple[Plan, ...]:
    """Plan of each method, with those of the options that it has."""
    from dualfold.exploration.plan import Plan

    typed = options.method_options.items()
    given = {name: _value_of(name, text, methods) for name, text in typed}
    given |= {} if options.n_neighbors is None else {"n_neighbors": options.n_neighbors}
    for name, value in given.items():
        _refuse_unshared(name, value, methods)
    return tuple(
        Plan(
            DESCRIPTIONS[one],
            _coordinates(options.n_components, one),
            {name: value for name, value in given.items() if name in DESCRIPTIONS[one].options},
        )
        for one in methods
    )


def _value_of(name: str, text: Any, methods: Sequence[str]) -> Any:
    """Value that a typed option stands for, or a usage error."""
    if name in SWITCH_OPTIONS:
        return text
    option = _first_option(name, methods)
    try:
        return option.value_of(text)
    except ValueError:
        words = f"{not_a_number(text, option.values)}; the default is {as_word(option.default)}"
        raise typer.BadParameter(words, param_hint=option.flag) from None


def _refuse_unshared(name: str, value: Any, methods: Sequence[str]) -> None:
    """A usage error for an option that no method has, or a value that one of them does not take."""
    owners = [one for one in methods if name in DESCRIPTIONS[one].options]
    if not owners:
        raise typer.BadParameter(foreign_option(name, methods))
    for owner in owners if len(methods) > 1 and name not in SWITCH_OPTIONS else ():
        option = _first_option(name, [owner])
        if not option.takes(value):
            raise typer.BadParameter(
                f"{option.flag} {as_word(value)} is not for {owner}, which takes "
                f"{option.values}; run {owner} apart"
            )


def _coordinates(text: str | None, method: str) -> Any:
    """The number of coordinates, or a word that lets the data decide; None for None."""
    if text is None:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)  # the usual case; the others need the estimator
    try:
        return coordinates_option(method).value_of(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error} ({method})", param_hint="--n-components") from None


def reading_words(reading: Reading, *, standardize: bool = False) -> list[str]:
    """The options that read the same table the same way."""
    words: list[str] = []
    for name in READING_OPTIONS:
        value = getattr(reading, name)
        if name == "standardize" and standardize:
            value = True
        if isinstance(value, bool):
            words += [reading_flag(name)] if value else []
            words += ["--no-standardize"] if name == "standardize" and not value else []
        elif value != DEFAULT_VALUES[name]:
            for one in value if isinstance(value, tuple) else (value,):
                words += [reading_flag(name), str(one)]
    return words


def embed_words(
    source: str, settings: Mapping[str, Any], reading: Reading, *, standardize: bool = False
) -> list[str]:
    """The command that makes a map with these settings."""
    words = ["dualfold", "embed", source, "--method", settings["method"]]
    if settings["n_components"] != 2:
        words += ["--n-components", as_word(settings["n_components"])]
    words += option_words(DESCRIPTIONS[settings["method"]], settings)
    return words + reading_words(reading, standardize=standardize)


def try_next(words: Sequence[str]) -> str:
    """A command to copy."""
    return f"Try next:  {shlex.join(words)}"
