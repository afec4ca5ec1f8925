"""A map as plain parts (a kind, facts, arrays), which files hold, and how two maps differ in them.

Every map takes itself apart (`parts()`) and puts itself together (`from_parts`); `Parts` does the
naming of arrays, and refuses on reading what is not of the type, shape and range that is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.methods.maps import file_checks

# Where an array comes from: copied from the data or computed from it alone; computed from the
# answer; or compared by where the map places rows, since 0 has no relative error (means).
Origin = Literal["data", "answer", "placing"]

# Arrays from the answer agree up to this share of the largest entry of their column.
ANSWER_TOLERANCE = 1e-6
# Arrays from the data agree up to this share of each entry.
DATA_TOLERANCE = 1e-9


@dataclass
class Parts:
    """Facts and arrays of a map, as a file holds them.

    kind : the name of the kind of map
    facts, arrays : JSON-ready values and arrays, by name
    origins : of each array, for comparisons
    """

    kind: str
    facts: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)

    def put(self, name: str, value: Any, origin: Origin = "data") -> None:
        """Add an array, dense or sparse; None adds nothing."""
        if sp.issparse(value):
            matrix = sp.csr_array(value)
            self.facts[name] = {"sparse": list(matrix.shape)}
            for part in ("data", "indices", "indptr"):
                self._put_array(f"{name}.{part}", getattr(matrix, part), origin)
        elif value is not None:
            self._put_array(name, np.asarray(value), origin)

    def _put_array(self, name: str, array: Array, origin: Origin) -> None:
        self.arrays[name] = array
        self.origins[name] = origin

    def put_inner(self, name: str, inner: Parts) -> None:
        """Add the parts of a map that this one is made of, its arrays under "name."."""
        self.facts[name] = {"kind": inner.kind, "facts": inner.facts}
        for key, array in inner.arrays.items():
            self._put_array(f"{name}.{key}", array, inner.origins[key])

    def inner(self, name: str) -> Parts:
        """The parts as they were put."""
        stated = file_checks.json_object(self.facts, name)
        facts = file_checks.json_object(stated, "facts")
        return self.below(name, facts, stated.get("kind", ""))

    def below(self, name: str, facts: Mapping[str, Any], kind: str = "") -> Parts:
        """The parts of something whose arrays are named "name."."""
        before = f"{name}."
        arrays = {
            key.removeprefix(before): array
            for key, array in self.arrays.items()
            if key.startswith(before)
        }
        return Parts(kind, dict(facts), arrays)

    def get(self, name: str) -> Any:
        """The array as it was put; None if it was none."""
        stated = self.facts.get(name)
        if isinstance(stated, dict) and "sparse" in stated:
            parts = [self.arrays.get(f"{name}.{part}") for part in ("data", "indices", "indptr")]
            return file_checks.sparse_matrix(name, parts, stated["sparse"])
        return self.arrays.get(name)

    def array(self, name: str, shape: Sequence[int | None], **limits: Any) -> Array:
        """An array of finite numbers of this shape; `limits` are those of `real_array`."""
        return file_checks.real_array(self.get(name), name, shape, **limits)

    def optional_array(self, name: str, shape: Sequence[int | None], **limits: Any) -> Array | None:
        """As `array`; None where there is none."""
        return None if self.get(name) is None else self.array(name, shape, **limits)

    def table(self, name: str, shape: Sequence[int | None], *, features: bool = False) -> Any:
        """A table of finite numbers, dense or sparse; features may be integers or booleans."""
        return file_checks.real_table(self.get(name), name, shape, features=features)

    def features_and_points(self) -> tuple[Any, Array]:
        """The rows that a map was made of, and a point for each."""
        features = self.table("features", [None, None], features=True)
        return features, self.array("points", [features.shape[0], None])

    def indices(self, name: str, shape: Sequence[int | None], below: int) -> Array:
        """An array of integers from 0 to below − 1."""
        return file_checks.index_array(self.get(name), name, shape, below)

    def integer(self, name: str, least: int, most: int, *, optional: bool = False) -> Any:
        """The fact `name`, an integer from `least` to `most`; None if `optional` and missing."""
        return file_checks.integer(self.facts, name, least, most, optional=optional)

    def number(self, name: str, **limits: Any) -> Any:
        """A number among the facts; `limits` are those of `file_checks.number`."""
        return file_checks.number(self.facts, name, **limits)

    def word(self, name: str, known: Sequence[str]) -> str:
        """A word among the facts, if it is `known`."""
        return file_checks.word(self.facts, name, known)

    def metric(self) -> str:
        """The name of the metric among the facts."""
        return file_checks.metric_name(self.facts)

    def differences(self, stored: Parts) -> list[str]:
        """In words, what of a `stored` map differs from this one; nothing where they agree."""
        if self.kind != stored.kind:
            return [
                f"the model holds a map of kind {stored.kind!r}, the method makes {self.kind!r}"
            ]
        names = _differing_facts(self.facts, stored.facts)
        words = [f"the fact {name!r} differs" for name in names]
        for name in sorted(self.arrays.keys() | stored.arrays.keys()):
            ours, theirs = self.arrays.get(name), stored.arrays.get(name)
            if ours is None or theirs is None:
                words.append(f"the part {name!r} is {'too much' if ours is None else 'missing'}")
            elif not _agree(ours, theirs, self.origins[name]):
                words.append(f"the part {name!r} is not what the data leads to")
        return words


def refuse_functions(metric: Metric, features: Rows) -> None:
    """`InvalidInput` where a map needs more than names and numbers to be stored."""
    if not isinstance(metric, str) or is_precomputed(metric) or features is None:
        raise InvalidInput(
            "a metric that is a function (or has parameters), precomputed distances, or a graph "
            "without the points it was made of cannot be saved as data, since a model file "
            "never holds code; fit with a metric by its name (",
            Argument("metric", "manhattan"),
            ", …) on features",
        )


def _agree(ours: Array, theirs: Array, origin: Origin) -> bool:
    if origin == "placing":
        return True
    if ours.shape != theirs.shape or theirs.dtype.kind not in "fiub":
        return False
    if ours.dtype.kind != "f" or ours.size == 0:
        return bool(np.array_equal(ours, theirs))
    sizes = np.abs(ours.astype(float))
    if origin == "answer":
        return agree_within(ours, theirs, ANSWER_TOLERANCE * sizes.max(axis=0))
    eps = max(float(np.finfo(x.dtype).eps) for x in (ours, theirs) if x.dtype.kind == "f")
    return agree_within(ours, theirs, max(DATA_TOLERANCE, 4 * eps) * sizes)


def agree_within(ours: Array, theirs: Array, allowed: Array) -> bool:
    """Whether numbers are equal (infinite ones, too) or differ by no more than is allowed."""
    a, b = ours.astype(float), theirs.astype(float)
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(a - b)
    return bool(np.all((a == b) | (distance <= allowed)))  # NaN is no agreement


def _differing_facts(mine: dict[str, Any], stored: dict[str, Any], before: str = "") -> list[str]:
    """The names of facts that differ, those of inner maps with dots."""
    names = []
    for name in sorted(mine.keys() | stored.keys(), key=str):
        ours, theirs, full_name = mine.get(name), stored.get(name), f"{before}{name}"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            names += _differing_facts(ours, theirs, f"{full_name}.")
        elif not _is_same_fact(ours, theirs):
            names.append(full_name)
    return names


def _is_same_fact(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(_is_same_fact, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, int | float):
        if ours != ours:  # NaN: the rounding of a metric is unknown to both
            return bool(theirs != theirs)
        return ours == theirs or abs(ours - theirs) <= DATA_TOLERANCE * abs(ours)
    return type(ours) is type(theirs) and bool(ours == theirs)
