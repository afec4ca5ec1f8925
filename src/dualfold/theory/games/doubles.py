"""What a caller gives: real, finite numbers that a double holds exactly, or a refusal."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput

# Fourth powers of numbers between this and its inverse (squares of gradients) are doubles.
MIN_SQUARED_SIZE = 2.0**-250


def doubles(given: object, name: str, *, infinite: bool = False) -> Array:
    """`given` as doubles, exactly; `infinite` lets ±∞ in.

    >>> doubles([1, 2], "weights")
    array([1., 2.])
    """
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiub":
            raise TypeError
        numbers = array.astype(float)
    except (TypeError, ValueError):
        raise InvalidInput(
            Argument(name),
            f" must be real numbers, but the type is {np.asarray(given).dtype}; give an array "
            "of floats",
        ) from None
    if np.isnan(numbers).any() or not (infinite or np.isfinite(numbers).all()):
        raise InvalidInput(
            Argument(name), " must be finite, but has NaN or infinite entries; correct these"
        )
    if array.dtype.kind in "iu":  # beyond 2^53 not every integer is a double
        far = np.abs(numbers) >= 2.0**53
        exact = all(int(a) == int(b) for a, b in zip(array[far], numbers[far], strict=True))
    else:
        exact = array.dtype.itemsize <= 8 or bool(np.all(numbers == array))
    if not exact:
        raise InvalidInput(
            Argument(name),
            f" has {array.dtype} entries that no double holds (beyond 2^53, or too many "
            "digits); subtract a common offset or round them to floats",
        )
    return numbers


def vector(given: object, name: str, size: int | None = None) -> Array:
    """Row of doubles."""
    numbers = doubles(given, name)
    if numbers.ndim != 1 or not len(numbers) or (size is not None and len(numbers) != size):
        wanted = "one row of numbers" if size is None else f"{size} numbers"
        raise InvalidInput(Argument(name), f" must be {wanted}, but its shape is {numbers.shape}")
    return numbers


def table(given: object, name: str, *, squared: bool = False) -> Array:
    """Rows and columns of doubles.

    Parameters
    ----------
    given : array-like
        Numbers.
    name : str
        Name of the argument, for messages.
    squared : bool, default=False
        Whether to refuse numbers whose squares leave double precision.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The numbers.

    Examples
    --------
    >>> from dualfold.theory.games.doubles import table
    >>> table([[1, 2], [3, 4]], "rows").dtype
    dtype('float64')
    """
    numbers = doubles(given, name)
    if numbers.ndim != 2 or 0 in numbers.shape:
        raise InvalidInput(
            Argument(name), f" must have rows and columns, but its shape is {numbers.shape}"
        )
    largest = float(np.abs(numbers).max())
    if squared and largest and not MIN_SQUARED_SIZE < largest < 1 / MIN_SQUARED_SIZE:
        raise InvalidInput(
            Argument(name),
            f" reach {largest:.1e}, and squares of such numbers leave double precision; multiply "
            f"them by 2^{-int(np.frexp(largest)[1])}, which changes no digit",
        )
    return numbers


def number(given: object, name: str, *, least: float = 0.0, above: bool = False) -> float:
    """A finite number ≥ `least` (`above`: > `least`)."""
    value = doubles(given, name)
    if value.ndim or value < least or (above and value == least):
        sign = ">" if above else "≥"
        raise InvalidInput(Argument(name), f" must be a number {sign} {least:g}, not {given!r}")
    return float(value)
