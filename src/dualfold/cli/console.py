"""What the command line says, where it says it, and how it ends when something is wrong.

Data goes to standard output; everything said to a person goes to standard error.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer

from dualfold.cli.exit_codes import end_now, interruptible
from dualfold.cli.progress import Stage, displayed
from dualfold.cli.wording import running, shown
from dualfold.errors import DualfoldError, DualfoldWarning

P = ParamSpec("P")
R = TypeVar("R")

FAILURE, UNCERTIFIED, INTERRUPTED = 1, 3, 130


class Console:
    """Writes to standard error, or nothing when asked to be quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        from rich.console import Console as Terminal

        self.quiet = quiet
        self.prefix = ""  # before the names of stages: which of several things is at work
        self._noted: set[str] = set()
        self._terminal = Terminal(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        if not self.quiet:
            self._terminal.print(printable(text), style=style or None, markup=False)

    def note(self, text: str) -> None:
        """Something the user should know about the data or the answer, said once."""
        words = f"note: {sentence(shown(text))}"
        if words not in self._noted:
            self._noted.add(words)
            self.say(words, "yellow")

    @contextlib.contextmanager
    def doing(self, name: str, expected: float | None = None) -> Iterator[None]:
        """A line with a bar and the time left while it lasts, on a terminal only.

        expected : seconds, by a guess that the line calls one
        """
        if self.quiet or not self._terminal.is_terminal:
            yield
            return
        from dualfold.kernels.reports import reporting_to

        stage = Stage(printable(self.prefix + name), expected)
        with displayed(self._terminal, stage), reporting_to(stage.update):
            yield

    @contextlib.contextmanager
    def noting_warnings(self, notices: list[str]) -> Iterator[None]:
        """Warnings of dualfold as notes, added to `notices` too; others only in debug."""

        def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
            if isinstance(message, DualfoldWarning):
                notices.append(sentence(shown(message.message)))
                self.note(message.message)
            elif debugging():
                self.say(f"{category.__name__}: {message}")

        with warnings.catch_warnings():
            warnings.simplefilter("always", DualfoldWarning)
            warnings.showwarning = show
            yield


# Names come from files; a terminal obeys such characters: colours, titles, the direction of text.
_COMMANDS = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_SHOWN = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _COMMANDS - {9, 10}
}


def printable(text: str) -> str:
    """The text with commands to a terminal written out, as \\x1b."""
    return str(text).translate(_SHOWN)


def sentence(text: str) -> str:
    """Ends with one full stop, unless it ends with another mark."""
    return text if text.endswith((".", "?", "!")) else text + "."


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    rest = {code: f"\\u{code:04x}" for code in _COMMANDS if code > 31}  # JSON's own writing
    typer.echo(text.translate(rest))


def debugging() -> bool:
    return os.environ.get("DUALFOLD_DEBUG", "") not in ("", "0")


def plainly(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose failures are one sentence on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            with running(command):
                return interruptible(lambda: command(*args, **options))
        except KeyboardInterrupt:
            Console().say("interrupted; no file was left half-written.", "yellow")
            end_now(INTERRUPTED)
        except DualfoldError as error:
            if debugging():
                raise
            with running(command):
                _end(shown(error.message), FAILURE)
        except BrokenPipeError:  # `dualfold … | head` has seen enough
            _give_up_standard_output()
            raise typer.Exit(FAILURE) from None
        except MemoryError:
            _end("this needs more memory than there is; try fewer rows or columns", FAILURE)
        except OSError as error:
            if debugging():
                raise
            nameless = isinstance(error, FileNotFoundError)  # somebody removed it meanwhile
            place = error.filename or ("the current folder" if nameless else "standard output")
            if place == "standard output":
                _give_up_standard_output()
            _end(f"{place}: {error.strerror or error}", FAILURE)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:  # a mistake of ours, not of the user
            if debugging():
                raise
            _end(
                f"something went wrong that should not ({type(error).__name__}: {error}); this is "
                "a mistake in dualfold. DUALFOLD_DEBUG=1 shows where it was, for a report",
                FAILURE,
            )

    return run


def _give_up_standard_output() -> None:
    """What its buffer still holds goes nowhere; Python would fail to write it at the end."""
    with contextlib.suppress(OSError, ValueError):  # where it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(message: str, code: int) -> NoReturn:
    Console().say(sentence(f"error: {message}"), "bold red")
    raise typer.Exit(code)
