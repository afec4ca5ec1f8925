"""Classes of rows: validated and numbered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.errors import Argument, InPython, InvalidInput, RowNumbers, counted

# A message names this many classes, and counts the others.
MAX_NAMED_CLASSES = 5


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes of rows.

    classes : the different labels, sorted
    codes : for each row the place of its label among `classes`
    """

    classes: Array
    codes: Array

    @cached_property
    def sizes(self) -> Array:
        """The number of rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @cached_property
    def members(self) -> tuple[Array, ...]:
        """The row numbers of each class, ascending."""
        order = np.argsort(self.codes, kind="stable")
        return tuple(np.split(order, np.cumsum(self.sizes)[:-1]))

    def of_two_or_more(self, reason: str, totals: Array | None = None) -> Labels:
        """The labels themselves, or an error with the `reason` where a class has one row.

        totals : what the rows of each class count for, where they have weights
        """
        refuse_singles(self.classes, self.sizes, reason, totals)
        return self

    def of_rows(self, rows: Array) -> Labels:
        """The labels of some rows; classes that none of them has are gone."""
        if len(rows) == len(self.codes):
            return self
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        refuse_few(self.classes[kept], len(rows))
        return Labels(self.classes[kept], codes.astype(np.int64))


def refuse_singles(classes: Array, sizes: Array, reason: str, totals: Array | None = None) -> None:
    """Raise with the `reason` where a class has one row, of a weight (`totals`) below 2."""
    single = classes[(sizes == 1) & ((sizes if totals is None else totals) < 2)]
    if len(single):
        names = ", ".join(str(name) for name in single[:MAX_NAMED_CLASSES])
        unnamed = len(single) - MAX_NAMED_CLASSES
        more = f" and {unnamed} more" if unnamed > 0 else ""
        raise InvalidInput(
            f"class{'es' if len(single) > 1 else ''} {names}{more} of ",
            Argument("y"),
            f" ha{'s' if len(single) == 1 else 've'} one row each, and {reason}; leave "
            "such rows out, or put them into another class",
        )


def labels_of(y: ArrayLike | Labels, n: int) -> Labels:
    """The labels `y` of n rows, or an error that says what is wrong with them.

    >>> labels_of(["b", "a", "b"], 3).codes
    array([1, 0, 1])
    """
    if isinstance(y, Labels) and len(y.codes) == n:
        return y
    given = _one_column(y.codes if isinstance(y, Labels) else y)
    if len(given) != n:
        raise InvalidInput(
            Argument("y"),
            f" has {counted(len(given), 'label')} for {counted(n, 'row')}; it needs one for each",
        )
    classes, codes = classes_and_codes(validated_labels(given))
    refuse_few(classes, n)
    return Labels(classes, codes)


def validated_labels(y: ArrayLike) -> Array:
    """Labels as a column; missing ones and measurements are refused."""
    given = _one_column(y)
    _refuse_missing(given)
    _refuse_measurements(given)
    return given


def classes_and_codes(given: Array) -> tuple[Array, Array]:
    """The different labels, sorted, and for each row the place of its own among them."""
    try:
        classes, codes = np.unique(given, return_inverse=True)
    except TypeError as error:
        raise InvalidInput(
            Argument("y"),
            " mixes labels that have no common order, such as text and numbers; turn all of them "
            "into text",
            InPython(": [str(label) for label in y]"),
        ) from error
    return classes, codes.astype(np.int64)


def refuse_few(classes: Array, n: int) -> None:
    """Raise where there is one class for all n rows, or one for each."""
    if len(classes) == 1:
        raise InvalidInput(
            Argument("y"),
            f" has one class, {classes[0]!s}, for all {n} rows; two or more are needed",
        )
    if len(classes) == n:
        raise InvalidInput(
            Argument("y"),
            f" has {n} classes for {n} rows, so that no two rows are of the same class; is it "
            "a name or a number of the row? Give the column that holds the classes",
        )


def _one_column(y: ArrayLike) -> Array:
    try:
        given = np.asarray(y)
    except ValueError:  # rows of different lengths
        given = np.empty((0, 0))
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InvalidInput(
            Argument("y"),
            f" should be a 1d array, a label for each row; its shape is {given.shape}. Give "
            "one column of it, or join its columns into one",
        )
    return given


def _refuse_missing(given: Array) -> None:
    """Raise for missing labels: NaN, NaT, pandas' NA, which do not equal themselves, and None."""
    if given.dtype.kind in "biuSU":
        return
    missing = np.array([_is_missing(label) for label in given])
    if missing.any():
        raise InvalidInput(
            Argument("y"),
            f" lacks {int(missing.sum())} of {len(given)} labels (NaN or None), the first in ",
            RowNumbers(int(np.argmax(missing))),
            "; leave these rows out, or give them a class",
        )


def _is_missing(label: object) -> bool:
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA, which is neither true nor false
        return True


def _refuse_measurements(given: Array) -> None:
    """Raise for numbers with a fraction, which are measurements, as in scikit-learn."""
    numbers = given
    if given.dtype == object and all(isinstance(label, float) for label in given):
        numbers = given.astype(float)
    if numbers.dtype.kind == "f" and (numbers % 1 != 0).any():
        example = numbers[np.argmax(numbers % 1 != 0)]
        raise InvalidInput(
            Argument("y"),
            f" holds numbers such as {example:.4g}, which look continuous, and classes are "
            "needed. Cut their range into classes",
            InPython(" (pandas.cut)"),
            ", or, if these numbers are names of classes, turn them into text",
            InPython(": [str(label) for label in y]"),
        )
