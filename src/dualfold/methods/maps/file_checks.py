"""What a file must hold where a map is read from it: type, shape, range of each part.

A file may come from anywhere. Everything is checked before it is used: C and SciPy follow
indices wherever they point, and a NaN among old points becomes a coordinate of new ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import DamagedFile
from dualfold.graph.metrics import is_euclidean
from dualfold.kernels.sparse import rows_are_sound

# Computed numbers are of these types; features may also be integers or booleans.
FLOAT_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


def real_array(
    value: Any,
    name: str,
    shape: Sequence[int | None],
    *,
    features: bool = False,
    least: float = -math.inf,
    above: float = -math.inf,
    infinite: bool = False,
) -> Array:
    """An array of finite numbers of this shape (None: any length).

    features : any type of real numbers; infinite : numbers may be infinite, but not NaN
    least, above : none is below `least`, all are larger than `above`
    """
    if not isinstance(value, np.ndarray):
        raise DamagedFile(f"it lacks the part {name!r}")
    if not (value.dtype.kind in "fiub" if features else value.dtype in FLOAT_TYPES):
        raise DamagedFile(f"the part {name!r} holds {value.dtype} values")
    if not _has_shape(value, shape):
        wanted = "×".join("any" if size is None else str(size) for size in shape)
        raise DamagedFile(f"the part {name!r} has shape {value.shape} where {wanted} is needed")
    numbers = ~np.isnan(value) if infinite else np.isfinite(value)
    if not bool(numbers.all()):
        raise DamagedFile(f"the part {name!r} has entries that are no numbers")
    lowest = value.min() if value.size else math.inf
    if lowest < least or (above > -math.inf and lowest <= above):
        raise DamagedFile(f"the part {name!r} has entries as low as {lowest:g}")
    return value


def _has_shape(value: Any, shape: Sequence[int | None]) -> bool:
    return len(value.shape) == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(value.shape, shape, strict=True)
    )


def real_table(
    value: Any, name: str, shape: Sequence[int | None], *, features: bool = False
) -> Any:
    """As `real_array`, dense or sparse."""
    if not sp.issparse(value):
        return real_array(value, name, shape, features=features)
    if not _has_shape(value, shape):
        raise DamagedFile(f"the part {name!r} has shape {value.shape}")
    real_array(value.data, f"{name}.data", [None], features=features)
    return value


def index_array(value: Any, name: str, shape: Sequence[int | None], below: int) -> Array:
    """Integers from 0 to below − 1."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu":
        raise DamagedFile(f"the part {name!r} holds no whole numbers")
    real_array(value, name, shape, features=True, least=0)
    if value.size and int(value.max()) >= below:
        raise DamagedFile(f"the part {name!r} has entries above {below - 1}")
    return value


def refuse_unsound_rows(name: str, indptr: Any, columns: Any, shape: tuple[int, ...]) -> None:
    """`DamagedFile` for rows of a sparse matrix that point outside of it: C would read there."""
    if not rows_are_sound(indptr, columns, shape) or indptr[-1] != len(columns):
        raise DamagedFile(f"the part {name!r} is no sparse matrix of shape {shape}")


def sparse_matrix(name: str, parts: Sequence[Any], shape: Any) -> sp.csr_array:
    """A matrix of its data, indices and indptr, with the shape that the header states."""
    data, columns, indptr = parts
    if not isinstance(shape, list) or len(shape) != 2 or not all(map(_is_size, shape)):
        raise DamagedFile(f"the shape of {name!r} is {str(shape)[:40]}")
    refuse_unsound_rows(name, indptr, columns, tuple(shape))
    real_array(data, f"{name}.data", [len(columns)], features=True)
    if data.dtype == np.float16:  # SciPy multiplies none of these
        raise DamagedFile(f"the part '{name}.data' holds {data.dtype} values")
    return sp.csr_array((data, columns, indptr), shape=tuple(shape))


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def integer(
    facts: Mapping[str, Any], name: str, least: int, most: int, *, optional: bool = False
) -> Any:
    """An integer that the header states; None where it is `optional` and missing."""
    value = facts.get(name)
    if value is None and optional:
        return None
    if type(value) is not int or not least <= value <= most:
        raise DamagedFile(f"{name} is {str(value)[:20]!r} where {least} to {most} can be")
    return value


def number(
    facts: Mapping[str, Any],
    name: str,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    optional: bool = False,
) -> Any:
    """A finite number that the header states; None where it is `optional` and missing."""
    value: Any = facts.get(name)
    if value is None and optional:
        return None
    plain = type(value) in (int, float) and math.isfinite(_as_float(value))
    if not plain or value <= above or not least <= value <= most:
        raise DamagedFile(f"{name} is {str(value)[:20]!r}, which is no value of it")
    return _as_float(value)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def word(facts: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    """A word among those that are `known`."""
    value = facts.get(name)
    if not isinstance(value, str) or value not in known:
        raise DamagedFile(f"{name} is {str(value)[:20]!r}; there are {', '.join(known)}")
    return value


def metric_name(facts: Mapping[str, Any]) -> str:
    """The metric, which a file states by its name."""
    value = facts.get("metric")
    if isinstance(value, str) and value != "precomputed":
        if is_euclidean(value):
            return value
        from sklearn.neighbors import VALID_METRICS  # slow to import, and rarely needed

        if value in VALID_METRICS["brute"]:
            return value
    raise DamagedFile(f"metric is {str(value)[:20]!r}, which names none")


def json_object(facts: Any, name: str) -> Mapping[str, Any]:
    """JSON object that the header states under a name."""
    value = facts.get(name) if isinstance(facts, dict) else None
    if not isinstance(value, dict):
        raise DamagedFile(f"{name!r} is missing or no JSON object")
    return value
