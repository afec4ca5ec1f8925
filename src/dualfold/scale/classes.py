"""Classes of the rows of a table in tiles: their counts, means and the scatter within them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.threads import row_slices
from dualfold.scale.engine import compute, in_order
from dualfold.scale.tile_moments import weights_of_tiles
from dualfold.scale.tiled_table import TiledTable
from dualfold.weights.column_moments import column_means
from dualfold.weights.gram import refuse_scale
from dualfold.weights.labels import (
    classes_and_codes,
    labels_of,
    refuse_few,
    refuse_singles,
    validated_labels,
)
from dualfold.weights.row_weights import present_rows

# Entries that are shifted at a time.
SHIFT_CHUNK_NUMBERS = 2**20


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Sums that Fisher's discriminant needs of the rows so far; adding two merges them.

    classes : their labels, sorted; sizes : how many rows each has
    counts : the same, or the sums of their weights
    means : a row for each class
    within : Σ (x − its class's mean)(x − its class's mean)ᵀ, D×D
    """

    classes: Array
    sizes: Array
    counts: Array
    means: Array
    within: Array

    @classmethod
    def of(cls, rows: Any, y: Any, *weights: Array) -> ClassMoments:
        """Moments of some rows, their labels and their weights, in float64."""
        labels = validated_labels(y)
        if len(labels) != rows.shape[0]:
            raise InvalidInput(
                Argument("y"),
                f" has {len(labels)} labels for {rows.shape[0]} rows here; it needs the chunks or "
                "partitions of X",
            )
        if weights:
            rows, labels = (present_rows(part, weights[0]) for part in (rows, labels))
        classes, codes = classes_and_codes(labels)
        each = weights[0][weights[0] > 0] if weights else np.ones(len(codes))
        sizes = np.bincount(codes, minlength=len(classes))
        counts = np.bincount(codes, each, len(classes)) if weights else sizes
        if not len(codes):  # every row has the weight 0
            width = rows.shape[1]
            return cls(classes, sizes, counts, np.zeros((0, width)), np.zeros((width, width)))
        pieces = list(row_slices(rows.shape[0], max(1, SHIFT_CHUNK_NUMBERS // rows.shape[1])))
        shift = column_means(_wide(rows[pieces[0]]))  # far from 0, sums would lose digits
        sums = np.zeros((len(classes), rows.shape[1]))
        for piece in pieces:
            sums += _class_sums(_wide(rows[piece]) - shift, codes[piece], each[piece], len(classes))
        means = shift + sums / counts[:, None]
        within = np.zeros((rows.shape[1], rows.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for piece in pieces:
                apart = _wide(rows[piece]) - means[codes[piece]]
                if weights:
                    apart *= np.sqrt(each[piece])[:, None]
                within += apart.T @ apart
        if not np.isfinite(within).all():
            refuse_scale(np.inf, rows)
        return cls(classes, sizes, counts, means, within)

    def __add__(self, other: ClassMoments) -> ClassMoments:
        """Chan, Golub and LeVeque, class by class."""
        classes, codes = classes_and_codes(np.concatenate([self.classes, other.classes]))
        mine, theirs = codes[: len(self.classes)], codes[len(self.classes) :]
        counts = np.bincount(codes, np.concatenate([self.counts, other.counts]), len(classes))
        sizes = np.bincount(codes, np.concatenate([self.sizes, other.sizes]), len(classes))
        means = np.zeros((len(classes), self.means.shape[1]))
        means[theirs], means[mine] = other.means, self.means
        both, here, there = np.intersect1d(mine, theirs, return_indices=True)
        delta = other.means[there] - self.means[here]
        share = other.counts[there] / counts[both]
        means[both] += delta * share[:, None]
        offsets = delta * np.sqrt(self.counts[here] * share)[:, None]
        within = self.within + other.within + offsets.T @ offsets
        return ClassMoments(classes, sizes.astype(np.int64), counts, means, within)

    @property
    def mean(self) -> Array:
        """Mean of all rows."""
        return self.means[0] + self.shares @ (self.means - self.means[0])

    @property
    def shares(self) -> Array:
        """Share of each class among all rows."""
        return np.asarray(self.counts / self.counts.sum())

    @property
    def between(self) -> Array:
        """Σ (mean of its class − mean)(mean of its class − mean)ᵀ over all rows, D×D."""
        offsets = (self.means - self.mean) * np.sqrt(self.counts)[:, None]
        return np.asarray(offsets.T @ offsets)


def class_moments_of(rows: TiledTable, y: Any, weights: Array | None = None) -> ClassMoments:
    """Moments of the classes of a table in tiles, in one pass; the tiles alone decide their bits.

    y : a label for each row, in memory, or lazily (a Dask array or series) in the tiles of X
    weights : validated weights of all rows
    """
    lazy = hasattr(y, "to_delayed")
    known = None if lazy else labels_of(y, rows.n_rows)
    parts = _lazy_parts(rows, y) if known is None else _parts(rows, known.codes)
    size = 8 * rows.width**2
    more = weights_of_tiles(rows, weights)
    whole = in_order(rows.each(ClassMoments.of, parts, *more), ClassMoments.__add__, size)
    moments: ClassMoments = compute("adding up classes", whole, threads=rows.budget.threads)[0]
    if moments is None:
        raise InvalidInput("the table has no rows in any of its tiles")
    classes = moments.classes if known is None else known.classes[moments.classes]
    refuse_few(classes, int(moments.sizes.sum()))
    reason = "the spread within a class is not known from one row"
    refuse_singles(classes, moments.sizes, reason, moments.counts)
    return replace(moments, classes=classes)


def _parts(rows: TiledTable, codes: Array) -> list[Array]:
    """The numbers of the classes in each tile, as small as they can be: they travel."""
    small = codes.astype(np.min_scalar_type(int(codes.max())))
    return rows.parts_of(small)


def _lazy_parts(rows: TiledTable, y: Any) -> list[Any]:
    """The labels of each tile, delayed."""
    if hasattr(y, "rechunk") and not np.isnan(y.shape[0]):
        if y.shape[0] != rows.n_rows:
            raise InvalidInput(
                Argument("y"),
                f" has {y.shape[0]:,} labels for {rows.n_rows:,} rows; it needs one for each row",
            )
        y = y.rechunk({0: rows.lengths})
    parts = list(np.ravel(y.to_delayed()))
    if len(parts) != len(rows.tiles):
        raise InvalidInput(
            Argument("y"),
            f" has {len(parts)} partitions and X has {len(rows.tiles)}; take both from the same "
            "data frame, or give y in memory",
        )
    return parts


def _wide(rows: Any) -> Array:
    dense = rows.toarray() if sp.issparse(rows) else rows
    return np.asarray(dense, dtype=np.float64)


def _class_sums(rows: Array, codes: Array, each: Array, count: int) -> Array:
    """The sums of the rows of each class, of which each counts as often as `each` says."""
    members = sp.csr_array((each, (codes, np.arange(len(codes)))), shape=(count, len(codes)))
    return np.asarray(members @ rows)
