"""Every exception and warning of dualfold, and the messages that they carry.

A message says what was needed, what was given and what to do about it. It names arguments by
`Argument` parts, so that one message can be shown to somebody who writes Python
(`n_neighbors=6`) and to somebody who types a command (`--n-neighbors 6`):

    raise InvalidInput(Argument("n_neighbors", 6), " needs more than 6 points; there are 5")

The first argument that a message names is the one to change.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, Self
from weakref import WeakKeyDictionary

__all__ = [
    "CertificateFailed",
    "ConditionFails",
    "DamagedFile",
    "DataUnavailable",
    "DisconnectedGraph",
    "DualfoldError",
    "DualfoldWarning",
    "FewerNeighbors",
    "Interrupted",
    "InvalidInput",
    "MissingDependency",
    "NotConverged",
    "Overtone",
    "PageThinned",
    "PiecesJoined",
    "PointsCollapse",
    "RowsFarAway",
    "RowsLeftOut",
    "TooLarge",
    "Unrealisable",
]


class Argument(str):
    """An argument by its name, perhaps with a value. As text it is what Python calls it.

    value : what was given or should be given; `...` names the argument alone
    """

    name: str
    value: Any

    def __new__(cls, name: str, value: Any = ...) -> Argument:
        if getattr(value, "ndim", None) == 0:  # a number of NumPy, whose repr names its type
            value = value.item()
        text = super().__new__(cls, name if value is ... else f"{name}={value!r}")
        text.name, text.value = name, value
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return Argument, (self.name, self.value)


class InPython(str):
    """A part of a message for those who write Python: functions and attributes to use."""


class RowNumbers(str):
    """Rows by their places in X, which Python counts from 0 and everybody else from 1."""

    rows: tuple[int, ...]
    most: int

    def __new__(cls, *rows: int, most: int = 5) -> RowNumbers:
        text = super().__new__(cls, _row_words(rows, 0, most))
        text.rows, text.most = tuple(int(row) for row in rows), most
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return RowNumbers, self.rows

    @property
    def from_one(self) -> str:
        """The text for those who look at a file."""
        return _row_words(self.rows, 1, self.most)


def _row_words(rows: tuple[int, ...], first: int, most: int) -> str:
    """row 7; rows 7, 9 …: with a word where they are counted from 0."""
    numbers = ", ".join(str(int(row) + first) for row in rows[:most])
    more = " …" if len(rows) > most else ""
    counted_from = "" if first else " (counted from 0)"
    return f"row{'s' if len(rows) > 1 else ''} {numbers}{more}{counted_from}"


class Message(str):
    """Text in which arguments are known. As text it is what a Python user reads.

    parts : strings, arguments and other messages, in the order of reading
    """

    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Message:
        flat: list[str] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else (part,)
        text = super().__new__(cls, "".join(flat))
        text.parts = tuple(flat)
        return text

    def __reduce__(self) -> tuple[object, ...]:
        return Message, self.parts

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments, each once, in the order of reading."""
        names = [part.name for part in self.parts if isinstance(part, Argument)]
        return tuple(dict.fromkeys(names))

    def text_for(self, face: Callable[[Argument], str]) -> str:
        """The text for others than Python users: arguments as `face` writes them."""
        parts = [part for part in self.parts if not isinstance(part, InPython)]
        parts = [part.from_one if isinstance(part, RowNumbers) else part for part in parts]
        return "".join(face(part) if isinstance(part, Argument) else part for part in parts)


def counted(number: int, thing: str) -> str:
    """1 row, 2,000 rows."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


class _WithMessage(Exception):
    """Message with its arguments, which errors and warnings of dualfold share."""

    def __init__(self, *parts: str) -> None:
        super().__init__(Message(*parts))

    @property
    def message(self) -> Message:
        """The text with its arguments marked; str(error) is the same text."""
        message: Message = self.args[0]
        return message

    @property
    def argument(self) -> str | None:
        """Name of the argument to change, the first in the message; None if there is none."""
        return next(iter(self.message.arguments), None)


class DualfoldError(_WithMessage):
    """Root of all errors that dualfold raises itself.

    Parameters
    ----------
    *parts : str
        Text of the message; an `Argument` among them names a parameter.

    Examples
    --------
    >>> from dualfold.errors import DualfoldError
    >>> from dualfold.graph import knn
    >>> try:
    ...     knn([[0.0], [1.0]], 5)
    ... except DualfoldError as error:
    ...     print(error.argument)
    n_neighbors
    """


class InvalidInput(DualfoldError, ValueError):
    """The data or a parameter cannot be used as given."""


class DamagedFile(InvalidInput):
    """A file does not hold what it must: it was cut, altered, or written by another program."""


class MissingDependency(DualfoldError, ImportError):
    """An optional package is needed; the message holds the pip command."""


class DataUnavailable(DualfoldError, OSError):
    """A data set is not on this machine and could not be downloaded."""


class DisconnectedGraph(DualfoldError, ValueError, RuntimeError):
    """The neighbour graph is in several pieces where one is needed."""


class NotConverged(DualfoldError, RuntimeError):
    """A solver stopped before its tolerance.

    Parameters
    ----------
    *parts : str
        Text of the message.
    solution : object, default=None
        The last iterate, if there is one; it is not an answer.
    """

    def __init__(self, *parts: str, solution: Any = None) -> None:
        super().__init__(*parts)
        self.solution = solution


class TooLarge(DualfoldError, MemoryError):
    """The chosen algorithm needs more memory or work than is allowed."""

    # MemoryError.__new__ refuses classes whose first base is another one, and that is what
    # unpickling with a traceback (tblib, which Dask's workers use) would find.
    def __new__(cls, *parts: str) -> Self:
        return Exception.__new__(cls, *parts)


class Unrealisable(InvalidInput):
    """Distances that no points have, in any number of dimensions."""


class DualfoldWarning(_WithMessage, UserWarning):
    """Root of all warnings that dualfold gives itself.

    Parameters
    ----------
    *parts : str
        Text of the message; an `Argument` among them names a parameter.

    Examples
    --------
    >>> import warnings
    >>> from dualfold.errors import DualfoldWarning
    >>> warnings.filterwarnings("error", category=DualfoldWarning)  # doctest: +SKIP
    """


class PiecesJoined(DualfoldWarning):
    """A graph in several pieces was joined by the shortest edges between them."""


class PageThinned(DualfoldWarning):
    """Something was left out of a page, so that its file is no larger than asked for."""


class FewerNeighbors(DualfoldWarning):
    """The table has fewer rows than the default number of neighbours needs."""


class RowsLeftOut(DualfoldWarning):
    """Some rows are no part of the problem; they are placed as new rows are."""


class RowsFarAway(DualfoldWarning):
    """New rows are so far from all fitted rows that their points mean nothing."""


class CertificateFailed(DualfoldWarning):
    """An answer was returned that its own certificate does not accept."""


class Interrupted(DualfoldWarning):
    """Ctrl-C ended a fit early, which keeps the map that it had reached."""


class PointsCollapse(DualfoldWarning):
    """Some points coincide on the map; the message says which and why."""


class Overtone(DualfoldWarning):
    """A coordinate is a function of the ones before it and shows nothing new."""


class ConditionFails(DualfoldWarning):
    """A method runs, but a condition of its guarantee does not hold; the message says which."""


# What was warned of during each search or cross-validation that is running.
_WARNED: WeakKeyDictionary[Any, dict[type[Warning], Warning]] = WeakKeyDictionary()
# Their frames lie between the caller's line and the one that warns.
_PASSED_OVER = ("dualfold", "sklearn", "contextlib")


def warn(warning: Warning) -> None:
    """Warn at the line that called dualfold; once for all folds of a search.

    Folds differ in the numbers of a message, so that Python would show one for each fold and
    setting. Where scikit-learn's model selection calls, the first of a kind is enough.

    warning : an instance, whose class is the kind
    """
    search = _running_search()
    if search is not None:
        # One step, so that of two folds in threads only one is the first.
        first = _WARNED.setdefault(search, {}).setdefault(type(warning), warning)
        if first is not warning:
            return
    level, frame = 1, _frame_above()
    while frame is not None and _package_of(frame) in _PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def _frame_above() -> FrameType | None:
    return sys._getframe(1)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _running_search() -> Any:
    """The outermost running search of scikit-learn, by the pool that it made for itself."""
    search, frame = None, _frame_above()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection"):
            # `parallel` is made in each call of fit or cross_validate and dies with it
            search = frame.f_locals.get("parallel", search)
        frame = frame.f_back
    return search
