"""How a command ends: with an exit code, one sentence if it fails, and without delay at Ctrl-C.

Python delivers signals to the main thread between two of its own instructions; a
factorisation in C may take minutes. So the work runs in a thread of its own and the main one
only waits: when the signal comes it removes files that are not complete and ends the process.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, Protocol, TypeVar

import typer

from dualfold.cli.console import Console, is_debugging
from dualfold.cli.wording import command_text, messages_about
from dualfold.data.atomic_files import discard_unfinished
from dualfold.errors import DualfoldError
from dualfold.exploration.listener import sentence

if TYPE_CHECKING:
    from dualfold.certificate import Certificate

P = ParamSpec("P")
R = TypeVar("R")

FAILURE_EXIT = 1
USAGE_EXIT = 2
UNCERTIFIED_EXIT = 3
INTERRUPTED_EXIT = 130
# What they mean, for help and documents.
EXIT_CODES = {
    0: "done",
    FAILURE_EXIT: "failure: a file that cannot be read or written, data that do not fit",
    USAGE_EXIT: "wrong usage: an option, a value or a command that does not exist",
    UNCERTIFIED_EXIT: "neither proved nor measured to the tolerance (of `certify`, and with "
    "--strict)",
    INTERRUPTED_EXIT: "interrupted by Ctrl-C; no file is left half-written (128 and its number "
    "for another signal)",
}


def interruptible(work: Callable[[], R]) -> R:
    """The result of `work`, done in another thread; its exceptions are raised here."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: dict[str, Any] = {}
    ended = threading.Event()  # a thread whose `join` was interrupted counts as ended

    def attempt() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:
            outcome["error"] = error
        finally:
            ended.set()

    for name in ("SIGTERM", "SIGHUP"):  # a closed terminal, a batch system's end of time
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: end_now(128 + number))
    threading.Thread(target=attempt, daemon=True).start()
    while not ended.is_set():
        try:
            ended.wait(0.2)  # on Windows an unlimited wait would not notice the signal
        except KeyboardInterrupt:
            if not _will_stop():
                raise
            Console().say("stopping with the map as it is; Ctrl-C once more ends all.", "yellow")
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def _will_stop() -> bool:
    """Whether the work ends soon by itself, with what it has reached."""
    stops = sys.modules.get("dualfold.kernels.stops")  # not loaded: nothing computes yet
    return stops is not None and bool(stops.request_stop())


def end_now(code: int) -> NoReturn:
    """End without waiting for threads that are still computing; no incomplete file stays."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)

    discard_unfinished()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def with_exit_codes(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose failures are one sentence on standard error and an exit code."""

    @functools.wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> R:
        try:
            with messages_about(command):
                return interruptible(lambda: command(*args, **options))
        except KeyboardInterrupt:
            Console().say("interrupted; no file was left half-written.", "yellow")
            end_now(INTERRUPTED_EXIT)
        except DualfoldError as error:
            if is_debugging():
                raise
            with messages_about(command):
                _fail(command_text(error.message))
        except BrokenPipeError:  # `dualfold … | head` has seen enough
            _give_up_standard_output()
            raise typer.Exit(FAILURE_EXIT) from None
        except MemoryError:
            _fail("this needs more memory than there is; try fewer rows or columns")
        except OSError as error:
            if is_debugging():
                raise
            nameless = isinstance(error, FileNotFoundError)  # removed by another program meanwhile
            place = error.filename or ("the current folder" if nameless else "standard output")
            if place == "standard output":
                _give_up_standard_output()
            _fail(f"{place}: {error.strerror or error}")
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:  # a mistake of ours, not of the user
            if is_debugging():
                raise
            _fail(
                f"something went wrong that should not ({type(error).__name__}: {error}); this is "
                "a mistake in dualfold. DUALFOLD_DEBUG=1 shows where it was, for a report"
            )

    return run


class CertifiedOptions(Protocol):
    """Options of a command whose answer has a certificate."""

    @property
    def as_json(self) -> bool: ...
    @property
    def quiet(self) -> bool: ...
    @property
    def strict(self) -> bool: ...


def finish_certified(
    console: Console,
    options: CertifiedOptions,
    summary: dict[str, object],
    lines: list[str],
    *,
    certificate: Certificate,
    verdict: str,
) -> None:
    """The last words of a command whose answer has a certificate, and its exit code."""
    console.finish(summary, lines, as_json=options.as_json)
    if options.quiet and not certificate.holds:  # an answer that may be wrong is never kept quiet
        Console().note(verdict)
    if options.strict and not certificate.holds:
        raise typer.Exit(UNCERTIFIED_EXIT)


def _give_up_standard_output() -> None:
    """Send what its buffer still holds nowhere; Python would fail to write it at the end."""
    with contextlib.suppress(OSError, ValueError):  # where it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    Console().say(sentence(f"error: {message}"), "bold red")
    raise typer.Exit(FAILURE_EXIT)
