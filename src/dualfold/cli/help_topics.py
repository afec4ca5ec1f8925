"""`dualfold help`: the help of a command or a method, exit codes, completion, a manual page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_command

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.console import print_definitions
from dualfold.cli.exit_codes import EXIT_CODES
from dualfold.cli.method_list import print_method
from dualfold.cli.usage import meant
from dualfold.methods.descriptions import DESCRIPTIONS

# Characters in a line of texts that are no terminal's: of manual pages and documents.
PAGE_WIDTH = 80
COMPLETION_TEXT = """\
Bash, zsh, fish and PowerShell complete commands, options, methods and columns:

  dualfold --install-completion    once, for the shell that runs; then open a new one
  dualfold --show-completion       prints what that would add

It works without a network.\
"""
OTHER_TOPICS = ("exit-codes", "completion", "man")


@dataclass(frozen=True)
class HelpOptions:
    """Options of `dualfold help`, as typed."""

    topic: str | None = o.own_argument(
        "[TOPIC]",
        f"A command, a method, {', '.join(OTHER_TOPICS)}; none: all commands.",
        default=None,
        autocompletion=o.completion(*DESCRIPTIONS, *OTHER_TOPICS),
    )


def help(options: HelpOptions) -> None:
    """Help on a command, a method or a topic.

    \b
    Examples:
      dualfold help embed
      dualfold help isomap
      dualfold help exit-codes
      dualfold help man > dualfold.1
    """
    topic, commands = options.topic, program().commands
    if topic is None or topic in commands:
        typer.echo(help_text(topic))
    elif topic == "exit-codes":
        print_definitions((str(code), words) for code, words in EXIT_CODES.items())
    elif topic == "completion":
        typer.echo(COMPLETION_TEXT)
    elif topic == "man":
        typer.echo(manual_page())
    elif topic in DESCRIPTIONS:
        print_method(DESCRIPTIONS[topic])
    else:
        near = meant(topic.lower(), [*commands, *DESCRIPTIONS, *OTHER_TOPICS])
        topics = f"topics are the commands, the methods, {', '.join(OTHER_TOPICS)}"
        raise typer.BadParameter(f"there is no topic {topic!r}{near}; {topics}")


def program() -> Any:
    """The command `dualfold` with all of its commands."""
    from dualfold.cli.app import app

    return get_command(app)


def help_text(name: str | None, width: int | None = None) -> str:
    """The help of a command, of all together for None."""
    whole = program()
    top = whole.make_context(
        "dualfold", [], resilient_parsing=True, terminal_width=width, max_content_width=100
    )
    if name is None:
        return str(top.get_help())
    command = whole.commands[name]
    return str(command.make_context(name, [], parent=top, resilient_parsing=True).get_help())


def manual_page() -> str:
    """All of the help as a page for `man`."""
    lines = [
        f'.TH DUALFOLD 1 "" "dualfold {__version__}"',
        ".SH NAME",
        r"dualfold \- dimensionality reduction you can check",
    ]
    for name in program().commands:
        lines += [f".SH {name.upper()}", ".nf", *_roff_lines(help_text(name, PAGE_WIDTH)), ".fi"]
    lines.append(".SH EXIT STATUS")
    for code, words in EXIT_CODES.items():
        lines += [".TP", str(code), *_roff_lines(words)]
    return "\n".join(lines)


def _roff_lines(text: str) -> list[str]:
    """Lines as roff prints them as they are."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-").splitlines()
    return [rf"\&{line}" if line[:1] in (".", "'") else line for line in escaped]
