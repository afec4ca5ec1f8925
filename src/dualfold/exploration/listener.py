"""Who hears what happens between a table and its map: the command line, or nobody."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from dualfold.errors import DualfoldWarning, Message


class Listener(Protocol):
    """Hears stages, notes and warnings; `dualfold.cli.console.Console` is one.

    prefix : before the names of stages: which of several things is at work
    """

    prefix: str

    def stage(self, name: str, expected: float | None = None) -> AbstractContextManager[None]:
        """A stage of the work while it lasts; `expected` seconds, by a guess."""

    def say(self, text: str) -> None:
        """A line that is no note."""

    def note(self, text: str) -> None:
        """Something that the user should know about the data or the answer."""

    def note_warnings(self, notices: list[str]) -> AbstractContextManager[None]:
        """Meanwhile warnings of dualfold are notes, added to `notices`, too."""


class NoteCollector:
    """Shows nothing and collects the notes, each once.

    notes : messages in the order in which they came
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.prefix = ""

    @contextlib.contextmanager
    def stage(self, name: str, expected: float | None = None) -> Iterator[None]:
        """Nothing is shown."""
        yield

    def say(self, text: str) -> None:
        """Nothing is shown."""

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def note_warnings(self, notices: list[str]) -> AbstractContextManager[None]:
        return warnings_as_notes(self.note, notices)


@contextlib.contextmanager
def warnings_as_notes(
    note: Callable[[str], None],
    notices: list[str],
    other: Callable[[Warning | str, type[Warning]], None] = lambda message, category: None,
) -> Iterator[None]:
    """Warnings of dualfold go to `note` and are added to `notices`; others go to `other`."""

    def show(
        message: Warning | str, category: type[Warning], *place: object, **more: object
    ) -> None:
        if isinstance(message, DualfoldWarning):
            notices.append(sentence(message.message))
            note(message.message)
        else:
            other(message, category)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DualfoldWarning)
        warnings.showwarning = show
        yield


def sentence(text: str) -> str:
    """Ends with one full stop, unless it ends with another mark; a message stays one."""
    return text if text.endswith((".", "?", "!")) else Message(text, ".")
