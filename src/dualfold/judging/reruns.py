"""Reruns of the method: on impostors, with other seeds, on subsamples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.neighbors import nearest
from dualfold.judging.groups import (
    LINKS_PER_POINT,
    LinkedGroups,
    groups_with_verdicts,
    joined_groups,
)
from dualfold.kernels.reports import steps
from dualfold.methods.descriptions import DESCRIPTIONS, description_of
from dualfold.quality.dimension_estimates import LEVINA_BICKEL_NEIGHBORS, levina_bickel
from dualfold.quality.map_comparison import Stability, repeated_maps, stability
from dualfold.quality.visible_groups import MapGroups, map_groups

__all__ = ["Impostors", "Repeats", "impostors", "method_runner", "repeats"]

MethodRunner = Callable[[Array, int], Array]
# Rows that the method is run on again.
MAX_METHOD_ROWS = 1_000


@dataclass(frozen=True)
class Impostors:
    """Maps of data without groups by the same method: how distinct their groups are.

    own : separation of the groups on its map of the data (`MapGroups.separation`), 0 to 1
    shuffled : on data whose columns were shuffled, each on its own, one number a run
    gaussian : on one normal cloud with the data's mean and covariance
    own_groups, shuffled_groups, gaussian_groups : how many groups each map shows
    rows : of every run
    shuffled_have : where the map of a shuffled table is as distinct, whether that table has groups
        of its own, by the test of groups. Humps of single columns survive shuffling: the
        method is not to blame for showing them
    """

    own: float
    shuffled: tuple[float, ...]
    gaussian: tuple[float, ...]
    own_groups: int
    shuffled_groups: tuple[int, ...]
    gaussian_groups: tuple[int, ...]
    rows: int
    shuffled_have: tuple[bool, ...] = ()

    def p_value(self, kind: str) -> float:
        """The share of maps, this one included, that draw groups as distinct out of nothing.

        kind : "shuffled" (exact where the columns are independent and without humps: any order of a
            column is then as likely) or "gaussian" (approximate: mean and covariance are those of
            the sample)
        """
        others = getattr(self, kind)
        return (1 + self.as_distinct(kind)) / (1 + len(others))

    def as_distinct(self, kind: str) -> int:
        """Number of maps that draw groups as distinct that their own data do not have."""
        have = self.shuffled_have if kind == "shuffled" else ()
        have = have or (False,) * len(getattr(self, kind))
        others = zip(getattr(self, kind), have, strict=True)
        return sum(other >= self.own and not real for other, real in others)

    @property
    def supported(self) -> bool:
        """Whether both p-values are at most 0.05."""
        return max(self.p_value("shuffled"), self.p_value("gaussian")) <= 0.05

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        p_values = {kind: self.p_value(kind) for kind in ("shuffled", "gaussian")}
        return vars(self) | {"p_values": p_values, "supported": self.supported}


@dataclass(frozen=True, eq=False)
class Repeats:
    """The method again on the same rows with other seeds, and on subsamples of them.

    seeds, subsamples : agreement of the maps (as `dualfold.quality.stability` gives it)
    groups_seeds, groups_subsamples : adjusted Rand index of their groups, mean over the pairs;
        1: the same groups, 0: as by chance
    rows : of every run; subsamples hold 80 % of them
    """

    seeds: Stability
    subsamples: Stability
    groups_seeds: float
    groups_subsamples: float
    rows: int

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "rows": self.rows,
            "seeds": self.seeds.to_dict() | {"groups": self.groups_seeds},
            "subsamples": self.subsamples.to_dict() | {"groups": self.groups_subsamples},
        }


def method_runner(method: Any, width: int) -> MethodRunner:
    """(points, seed) → map, from a function, an estimator or the name of a method.

    width : coordinates of the map, for methods by name
    """
    if isinstance(method, str):
        try:
            row = description_of(method)
        except LookupError as error:
            raise InvalidInput(Argument("method"), f": {error.args[0]}") from None
        method = row.estimator_class()(n_components=width)
    if hasattr(method, "fit_transform"):
        seeded = "random_state" in method.get_params(deep=False)

        def run_estimator(X: Array, seed: int) -> Array:
            settings = {"random_state": seed} if seeded else {}
            return clone(method).set_params(**settings).fit_transform(X)

        return run_estimator
    if callable(method):
        return method
    raise InvalidInput(
        Argument("method"),
        " must be the name of a method (",
        ", ".join(DESCRIPTIONS),
        "), an estimator with "
        f"fit_transform, or a function (points, seed) → map; it is a {type(method).__name__}",
    )


def impostors(make: MethodRunner, X: Array, runs: int, seed: int) -> Impostors:
    """The groups on maps of data that have none."""
    rng = np.random.default_rng(seed)
    mean, root = X.mean(axis=0), _root_of_covariance(X)
    drawn: list[Array] = [X]
    drawn += [np.stack([rng.permutation(column) for column in X.T], axis=1) for _ in range(runs)]
    drawn += [mean + rng.standard_normal((len(X), len(root))) @ root for _ in range(runs)]
    found: list[MapGroups] = []
    have: list[bool] = []
    with steps("drawing impostors", len(drawn)) as done:
        for table in drawn:
            groups = map_groups(_map_of(make, table, int(rng.integers(2**31))))
            as_distinct = len(found) > 0 and groups.separation >= found[0].separation
            if 0 < len(found) <= runs:
                have.append(as_distinct and _has_own_groups(table, groups))
            found.append(groups)
            done(1)
    separations = [one.separation for one in found]
    counts = [one.count for one in found]
    return Impostors(
        separations[0],
        tuple(separations[1 : runs + 1]),
        tuple(separations[runs + 1 :]),
        counts[0],
        tuple(counts[1 : runs + 1]),
        tuple(counts[runs + 1 :]),
        len(X),
        tuple(have),
    )


def _has_own_groups(X: Array, groups: MapGroups) -> bool:
    """Whether a table has some of the groups that its map shows."""
    if groups.count < 2:
        return False
    near = nearest(X, min(LINKS_PER_POINT, len(X) - 1))
    # Uncorrected: the correction takes seconds for each table.
    width = levina_bickel(X, min(LEVINA_BICKEL_NEIGHBORS, len(X) - 1))
    linked = LinkedGroups(groups, groups.codes, near.indices, width, radii=near.distances[:, -1])
    found, pairs = groups_with_verdicts(linked, parts=False)
    unions = joined_groups(linked, pairs, parts=False)
    return any(one.verdict == "group" for one in (*found, *unions))


def repeats(make: MethodRunner, X: Array, runs: int, seed: int) -> Repeats:
    """Maps of the same rows with other seeds, and of parts of them."""

    found = []
    for share in (1.0, 0.8):
        maps, rows = repeated_maps(
            partial(_map_of, make), X, runs=runs, share=share, random_state=seed
        )
        found.append((stability(maps, rows), _group_agreement(maps, rows)))
    return Repeats(found[0][0], found[1][0], found[0][1], found[1][1], len(X))


def _group_agreement(maps: list[Array], rows: list[Array]) -> float:
    from sklearn.metrics import adjusted_rand_score  # its import takes longer than most audits

    groups = [map_groups(points).codes for points in maps]
    marks = []
    for a in range(len(maps)):
        for b in range(a):
            _, first, second = np.intersect1d(rows[a], rows[b], return_indices=True)
            marks.append(adjusted_rand_score(groups[a][first], groups[b][second]))
    return float(np.mean(marks))


def _map_of(make: MethodRunner, X: Array, seed: int) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = np.asarray(make(X, seed), dtype=float)
    if points.ndim != 2 or len(points) != len(X) or not np.isfinite(points).all():
        raise InvalidInput(
            Argument("method"),
            f" must return one row of finite coordinates for each of {len(X)} points; the shape of "
            f"what it returned is {points.shape}",
        )
    return points


def _root_of_covariance(X: Array) -> Array:
    """R with RᵀR the covariance."""
    centred = X - X.mean(axis=0)
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    return np.asarray((values / np.sqrt(max(1, len(X) - 1)))[:, None] * directions)
