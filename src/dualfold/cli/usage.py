"""How commands show their options, and how they refuse wrong usage.

Help has a section for each thing that a user decides: method, columns, values, output, ….
Wrong usage is the usage line of the command, one sentence in our own words and exit code 2.
typer's sentences are its validation library's, and change with its version.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import typer
import typer.core

from dualfold.cli.console import Console, printable
from dualfold.cli.exit_codes import USAGE_EXIT
from dualfold.exploration.listener import sentence

# typer exports one kind of its usage errors; this is what all kinds have in common.
UsageError: Any = typer.BadParameter.__bases__[0]
# The section of options that nothing else is said of, as --help.
GENERAL_SECTION = "General"


def whole_number(least: int) -> Callable[[Any], int]:
    """Reads a whole number that is not below `least`."""

    def read(text: Any) -> int:
        with contextlib.suppress(ValueError):
            if (value := int(str(text))) >= least:
                return value
        raise typer.BadParameter(not_a_number(str(text), f"a whole number ≥ {least}"))

    return read


def number(least: float, most: float | None = None) -> Callable[[Any], float]:
    """Reads a number from `least` to `most`."""
    allowed = f"a number ≥ {least:g}" if most is None else f"a number from {least:g} to {most:g}"

    def read(text: Any) -> float:
        with contextlib.suppress(ValueError):
            value = float(text)
            if value >= least and (most is None or value <= most):
                return value
        raise typer.BadParameter(not_a_number(str(text), allowed))

    return read


def not_a_number(text: str, allowed: str) -> str:
    """That a typed value is not what is allowed; what was perhaps meant, where commas hide it."""
    words = f"{text!r} is not {allowed}"
    before, _, after = text.rpartition(",")
    if not (before and before.replace(",", "").isdecimal() and after.isdecimal()):
        return words
    plain = text.replace(",", "") if len(after) == 3 or "," in before else f"{before}.{after}"
    return f"{words}; write it as {plain}, without a comma"


def meant(typed: str, words: Iterable[str]) -> str:
    """The words that are nearly what was typed, to be added to a sentence; "" for none."""
    near = get_close_matches(typed, list(words), 2, 0.7)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class Command(typer.core.TyperCommand):
    """A command whose options are shown in sections."""

    allow_extra_args = True  # refused below, by their names

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        with usage_errors_of(ctx):
            rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            names, verb = ", ".join(map(repr, rest)), "is" if len(rest) == 1 else "are"
            ctx.fail(
                f"{names} {verb} more than `{ctx.command_path}` takes; a name with blanks needs "
                "quotes around it"
            )
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *(one.metavar or "" for one in _arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        rows = [(one.metavar.strip("[]"), one.help or "") for one in _arguments(self)]
        sections: dict[str, list[Any]] = {"Arguments": rows}
        for one in self.get_params(ctx):
            if one.param_type_name == "option" and (row := one.get_help_record(ctx)) is not None:
                title = getattr(one, "rich_help_panel", None) or GENERAL_SECTION
                plain = row[1].replace("\\[", "[")  # which some versions of typer escape
                sections.setdefault(title, []).append((row[0], plain))
        sections[GENERAL_SECTION] = sections.pop(GENERAL_SECTION, [])  # the last one
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


@contextlib.contextmanager
def usage_errors_of(ctx: Any) -> Iterator[None]:
    """Meanwhile wrong usage is that of this command; a parser does not say whose it is."""
    try:
        yield
    except UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def _arguments(command: Any) -> list[Any]:
    return [one for one in command.params if one.param_type_name == "argument"]


class CommandGroup(typer.core.TyperGroup):
    """The commands together; what they refuse is shown here."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _shown_usage_errors():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _shown_usage_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            if args[0].startswith("-"):  # an option of a command, before its name
                ctx.fail(_wrong_option(args[0], ctx))
            text = f"there is no command {args[0]!r}{meant(args[0].lower(), self.commands)}"
            is_file = os.path.exists(args[0])
            ctx.fail(f"{text}; `dualfold embed {args[0]}` makes a map of it" if is_file else text)
        return super().resolve_command(ctx, args)


@contextlib.contextmanager
def _shown_usage_errors() -> Iterator[None]:
    """Meanwhile wrong usage ends with our own sentence on standard error."""
    try:
        yield
    except UsageError as error:
        ctx = error.ctx
        if ctx is None or type(error).__name__ == "NoArgsIsHelpError":
            raise  # it is the help itself
        console = Console()
        console.say(ctx.get_usage())
        console.say(sentence(f"error: {_usage_text(error)}"), "bold red")
        console.say(f"Help:  {ctx.command_path} -h")
        raise typer.Exit(USAGE_EXIT) from None


def _usage_text(error: Any) -> str:
    """Sentence on what is wrong; an error tells its kind by what it knows."""
    if hasattr(error, "option_name"):
        return _wrong_option(error.option_name, error.ctx)
    param = getattr(error, "param", None)
    hint = getattr(error, "param_hint", None)
    if hint is None and param is not None:
        hint = param.metavar if param.param_type_name == "argument" else max(param.opts, key=len)
    name, text = str(hint or "").strip("'"), printable(error.message)
    if hasattr(error, "param_type"):
        help = str(getattr(param, "help", None) or "")
        return f"{name} is missing" + (f": {help[0].lower()}{help[1:]}" if help else "")
    if hint is None or text.startswith(name):
        return text[:1].lower() + text[1:]
    return f"{name}: {text}"


def _wrong_option(name: str, ctx: Any) -> str:
    """That an option needs a value, or takes none; or that a command has no such option."""
    mine = {k: one for one in ctx.command.get_params(ctx) for k in (*one.opts, *one.secondary_opts)}
    if (one := mine.get(name)) is not None:
        return f"{name} takes no value" if one.is_flag else f"{name} needs a value: {one.metavar}"
    commands = getattr(ctx.find_root().command, "commands", {}).items()
    owners = [
        (key, max(p.opts, key=len)) for key, one in commands for p in one.params if name in p.opts
    ]
    text = f"`{ctx.command_path}` has no option {printable(name)}"
    text += f" (`dualfold {owners[0][0]}` has)" if owners else ""
    spelt = owners[0][1] if owners else name  # -m is --method
    return text + meant(spelt, [flag for flag in mine if flag.startswith("--")])
