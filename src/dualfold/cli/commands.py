"""Commands whose options depend on the method: `embed -m isomap --landmarks 200`.

The words after the command are looked through for methods before they are parsed. A command is
made anew with their options where one is used or help for a method is wanted; only then is the
estimator loaded that states them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from dualfold.cli.method_options import (
    MethodOption,
    as_word,
    flag_of,
    method_options,
    words_of,
)
from dualfold.descriptions import DESCRIPTIONS, description_of

# Options of methods that stand among those of the command.
SHARED = ("n_components", "n_neighbors")


@dataclass(frozen=True)
class Given:
    """A value that was given, which may be None."""

    value: Any


@dataclass(frozen=True)
class MethodCommand:
    """A command that takes the options of methods as its argument `options`.

    words : the options that name methods, with commas between several
    usual : the methods where none is named
    """

    function: Callable[..., None]
    words: tuple[str, ...]
    usual: str

    def methods(self, args: Sequence[str]) -> list[str]:
        """The names of methods in the words after the command."""
        text = self.usual
        for place, word in enumerate(args):
            for flag in self.words:
                if word == flag and place + 1 < len(args):
                    text = args[place + 1]
                elif word.startswith(f"{flag}=") or (len(flag) == 2 and word[:2] == flag != word):
                    text = word[len(flag) :].removeprefix("=")
        return [name.strip().lower() for name in text.split(",") if name.strip()]

    def named(self, args: Sequence[str]) -> bool:
        return any(word.startswith(flag) for flag in self.words for word in args)

    def plain(self) -> Callable[..., None]:
        """The command without options of a method."""
        return with_options(self.function, ())


class MethodGroup(typer.core.TyperGroup):
    """The commands, of which some take the options of methods."""

    method_commands: Mapping[str, MethodCommand] = {}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command, with the options of its methods where they are needed."""
        name, command, rest = super().resolve_command(ctx, args)
        chosen = self.method_commands.get(str(name))
        if chosen is None or command is None:
            return name, command, rest
        known = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
        flags = [word.partition("=")[0] for word in rest if word.startswith("--")]
        foreign = [flag for flag in flags if flag not in known and flag != "--help"]
        helped = chosen.named(rest) and bool({"--help", "-h"} & set(rest))
        if not (foreign or helped or ctx.resilient_parsing):
            return name, command, rest
        methods = chosen.methods(rest)
        unknown = [name for name in methods if name not in DESCRIPTIONS]
        if unknown or not methods:  # the command says so, unless an option hides it
            if unknown and foreign and not ctx.resilient_parsing:
                _refuse_unknown(unknown[0], ctx)
            return name, command, rest
        # To complete a word needs names alone, unless it is the value of an option.
        options = options_of(methods, names_alone=not (foreign or helped))
        own = {one for option in options for one in _flags(option)}
        for flag in foreign:
            if flag not in own and not ctx.resilient_parsing:
                _refuse_foreign(flag, methods, ctx)
        return name, command_with(chosen, options, methods), rest


def options_of(methods: Iterable[str], *, names_alone: bool = False) -> list[MethodOption]:
    """The options that some of the methods have, each once; their names need no estimator."""
    found: dict[str, MethodOption] = {}
    for method in methods:
        named = [MethodOption(name) for name in DESCRIPTIONS[method].options]
        for option in named if names_alone else method_options(method):
            if option.name not in SHARED:
                found.setdefault(option.name, option)
    return list(found.values())


def command_with(
    chosen: MethodCommand, options: Sequence[MethodOption], methods: Sequence[str]
) -> Any:
    """The command with these options, which stand apart in its help."""
    names = {option.name for option in options}

    class WithOptions(typer.core.TyperCommand):
        def format_options(self, ctx: Any, formatter: Any) -> None:
            whole = self.params
            self.params = [one for one in whole if one.name not in names]
            super().format_options(ctx, formatter)
            self.params = whole
            records = [one.get_help_record(ctx) for one in whole if one.name in names]
            rows = [record for record in records if record is not None]
            if rows:  # a method may have none of its own
                with formatter.section(f"Options of {', '.join(methods)}"):
                    formatter.write_dl(rows)

    from dualfold.cli.console import plainly

    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(cls=WithOptions)(plainly(with_options(chosen.function, options)))
    return typer.main.get_command(alone)


def with_options(
    function: Callable[..., None], options: Sequence[MethodOption]
) -> Callable[..., None]:
    """The function with an argument for each option, which are handed on as `options`."""
    signature = inspect.signature(function, eval_str=True)
    own = [_parameter(option) for option in options]

    def called(**values: Any) -> None:
        given = {option.name: values.pop(option.name, None) for option in options}
        chosen = {
            name: value.value if isinstance(value, Given) else value
            for name, value in given.items()
            if value is not None
        }
        function(**values, options=chosen)

    plain = [one for one in signature.parameters.values() if one.name != "options"]
    called.__name__, called.__doc__ = function.__name__, function.__doc__
    called.__signature__ = signature.replace(parameters=[*plain, *own])  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in [*plain, *own]}
    return called


def _parameter(option: MethodOption) -> inspect.Parameter:
    help = f"{option.help} [{option.values}; default: {option.usual}]".lstrip()
    if option.is_switch:
        switch = f"{option.flag}/{option.off}"
        kind: Any = Annotated[bool | None, typer.Option(switch, help=help)]
    else:
        words = words_of(option)
        kind = Annotated[
            str | None,
            typer.Option(
                option.flag,
                metavar="VALUE",
                help=help,
                callback=_reader(option),
                autocompletion=lambda incomplete: [w for w in words if w.startswith(incomplete)],
            ),
        ]
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
    )


def _reader(option: MethodOption) -> Callable[[Any], Any]:
    def read(text: str | None) -> Any:
        if text is None or isinstance(text, Given):
            return text
        try:
            return Given(option.parsed(text))
        except ValueError as error:
            raise typer.BadParameter(f"{error}; the default is {as_word(option.default)}") from None

    return read


def _flags(option: MethodOption) -> tuple[str, ...]:
    return (option.flag, option.off) if option.is_switch else (option.flag,)


def _refuse_unknown(name: str, ctx: Any) -> None:
    try:
        description_of(name)
    except LookupError as error:
        ctx.fail(str(error.args[0]))


def _refuse_foreign(flag: str, methods: Sequence[str], ctx: Any) -> None:
    """A usage error for an option of other methods; a word that no method knows is left."""
    owned = _foreign(flag.replace("--no-", "--", 1), methods)
    if owned:
        ctx.fail(owned)


def _foreign(flag: str, methods: Sequence[str]) -> str:
    """That an option belongs to other methods, and what to do; "" where no method has it."""
    owners = [
        row.name
        for row in DESCRIPTIONS.values()
        if flag in [flag_of(option) for option in row.options]
    ]
    if not owners:
        return ""
    listed = ", ".join(owners[:4]) + (f" and {len(owners) - 4} others" if owners[4:] else "")
    return (
        f"{flag} is an option of {listed}, not of {' and '.join(methods)}; `dualfold methods "
        f"{methods[0]}` lists what it takes"
    )


def refuse_unshared(options: Mapping[str, Any], methods: Sequence[str]) -> None:
    """A usage error for an option that no method has, or a value that one of them does not take."""
    for name, value in options.items():
        owners = [one for one in methods if name in DESCRIPTIONS[one].options]
        if not owners:
            raise typer.BadParameter(_foreign(flag_of(name), methods))
        for owner in owners if len(methods) > 1 else ():
            option = next(one for one in method_options(owner) if one.name == name)
            if not option.is_switch and not option.takes(value):
                raise typer.BadParameter(
                    f"{option.flag} {as_word(value)} is not for {owner}, which takes "
                    f"{option.values}; run {owner} apart"
                )
