"""Missing and infinite values: refuse them, leave their rows out, or impute them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.columns import Table
from dualfold.data.notices import column_argument, quoted_names
from dualfold.data.reading import Missing
from dualfold.data.scales import Standard, standard_of
from dualfold.errors import Argument, InvalidInput, Message

CELLS_PER_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """How columns will be scaled, which decides which rows are similar.

    indicators : which columns are the 0 and 1 of categories
    sources : the column of the file that each comes from; their own names where ()
    """

    standardize: bool = False
    indicators: NDArray[np.bool_] | None = None
    sources: tuple[str, ...] = ()


AS_READ = ColumnScaling()

# From this share of the rows on, the notice names the column that they were lost to.
MIN_BLAMED_SHARE = 0.05
# Iterated PCA; wide tables stop after a few rounds.
DEFAULT_COMPONENTS = 2
STEP_TOLERANCE = 1e-6
MAX_FLOPS = 2e10
MAX_ROUNDS = 1000
MIN_ROUNDS = 5


def complete_table(table: Table, missing: Missing, scaled: ColumnScaling = AS_READ) -> Table:
    """A table without missing or infinite values; a notice names constant columns."""
    table = without_missing_values(table, missing, scaled)
    constant = [] if missing == "keep" else _constant(table)
    if not constant:
        return table
    kept = "it changes" if len(constant) == 1 else "they change"
    sentence = f"{quoted_names(constant)}: the same value in every row; kept, {kept} no distance"
    return replace(table, notices=(*table.notices, sentence))


def without_missing_values(
    table: Table, missing: Missing, scaled: ColumnScaling = AS_READ
) -> Table:
    """A table without missing or infinite values, by the rule `missing`; "auto" raises."""
    if missing == "keep":
        return table
    if missing not in ("auto", "raise", "drop", "mean", "impute"):
        raise InvalidInput(
            Argument("missing"), f" must be 'raise', 'drop', 'mean' or 'impute', but is {missing!r}"
        )
    bad_rows, nans, infinities = _missing_values(table.X)
    count = int(bad_rows.sum())
    if not count:
        return table
    named = replace(table, names=scaled.sources or table.names)
    incomplete = _gap_sentence(named, count, nans, infinities)
    if missing == "mean":
        return _mean_imputed_table(table, incomplete)
    if missing == "impute":
        return _pca_imputed_table(table, incomplete, scaled)
    emptiest = Argument("exclude", [named.names[int(np.argmax(nans + infinities))]])
    if missing in ("auto", "raise"):
        raise InvalidInput(
            f"{incomplete}. Choose ",
            Argument("missing", "drop"),
            " to leave these rows out, ",
            Argument("missing", "mean"),
            " to fill them with the mean of their column, ",
            Argument("missing", "impute"),
            " to fill them by rows that are alike, or leave columns out, as ",
            emptiest,
        )
    costliest = _costliest(table, bad_rows)
    if bad_rows.all():
        raise InvalidInput(
            f"{incomplete}: with ",
            Argument("missing", "drop"),
            " no row is left. Leave out the emptiest columns, as ",
            emptiest,
            costliest,
            ", or choose ",
            Argument("missing", "mean"),
        )
    return replace(
        table,
        X=table.X[~bad_rows],
        labels={name: values[~bad_rows] for name, values in table.labels.items()},
        rows=table.rows[~bad_rows],
        notices=(*table.notices, Message(f"{incomplete}; these rows were left out", costliest)),
    )


def _pca_imputed_table(table: Table, incomplete: str, scaled: ColumnScaling) -> Table:
    """The table with missing values imputed from similar rows, by iterated regularised PCA."""
    _refuse_sparse_or_empty(table, incomplete)
    filled, converged = pca_imputed(
        np.asarray(table.X), standardize=scaled.standardize, indicators=scaled.indicators
    )
    sentence = Message(
        f"{incomplete}; filled in by what rows that are alike have there (iterated PCA"
        + ("" if converged else ", stopped early: the table is large")
        + "); ",
        Argument("missing", "drop"),
        " leaves such rows out",
    )
    return replace(table, X=filled, notices=(*table.notices, sentence))


def _refuse_sparse_or_empty(table: Table, incomplete: str) -> None:
    if not isinstance(table.X, np.ndarray):
        raise InvalidInput(
            f"{incomplete}; a sparse matrix has no useful column mean, choose ",
            Argument("missing", "drop"),
        )
    known = np.atleast_1d(np.isfinite(table.X).any(axis=0))
    if not known.all():
        empty = [name for name, some in zip(table.names, known, strict=True) if not some]
        raise InvalidInput(
            f"{quoted_names(empty)}: no finite value to take the mean of; ",
            column_argument("exclude", empty),
            f" leaves {'it' if len(empty) == 1 else 'them'} out",
        )


def _mean_imputed_table(table: Table, incomplete: str) -> Table:
    """The table with missing values imputed by the mean of their column."""
    _refuse_sparse_or_empty(table, incomplete)
    filled = np.array(table.X)
    hole = ~np.isfinite(filled)
    filled[hole] = 0
    known = (~hole).sum(axis=0)
    # The scale first: the plain sum of large finite values could overflow.
    means = (filled / known).sum(axis=0, dtype=np.float64)
    # Where all known values are one and the same, so is their mean, to the last bit.
    low, high = np.where(hole, np.inf, filled).min(0), np.where(hole, -np.inf, filled).max(0)
    means = np.where(low == high, low, means)
    filled[hole] = np.broadcast_to(means, filled.shape)[hole]
    sentence = f"{incomplete}; they were filled with the mean of their column"
    return replace(table, X=filled, notices=(*table.notices, sentence))


def _costliest(table: Table, bad_rows: NDArray[np.bool_]) -> Message:
    """Which single column costs most rows, where leaving it out would save half of them."""
    if not isinstance(table.X, np.ndarray) or len(table.names) < 2:
        return Message()
    holes = ~np.isfinite(table.X[bad_rows])
    alone = (holes & (holes.sum(axis=1) == 1)[:, None]).sum(axis=0)
    worst = int(np.argmax(alone))
    saved, lost = int(alone[worst]), int(bad_rows.sum())
    if lost < max(2, MIN_BLAMED_SHARE * len(bad_rows)) or 2 * saved <= lost:
        return Message()
    name = table.names[worst]
    return Message(
        f" ('{name}' alone costs {saved} of these {lost} rows; ",
        Argument("exclude", [name]),
        " keeps them)",
    )


def _missing_values(X: Any) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which rows have a value that is no number, and how many NaN and infinite each column has."""
    n, width = X.shape
    if not isinstance(X, np.ndarray):
        entries = X.tocoo()
        nan, infinite = np.isnan(entries.data), np.isinf(entries.data)
        bad = np.zeros(n, dtype=bool)
        bad[entries.row[nan | infinite]] = True
        return (
            bad,
            np.bincount(entries.col[nan], minlength=width),
            np.bincount(entries.col[infinite], minlength=width),
        )
    bad = np.zeros(n, dtype=bool)
    nans, infinities = np.zeros(width, dtype=np.int64), np.zeros(width, dtype=np.int64)
    step = max(1, CELLS_PER_CHUNK // max(1, width))
    for start in range(0, n, step):
        block = X[start : start + step]
        finite = np.isfinite(block)
        if not finite.all():
            bad[start : start + step] = ~finite.all(axis=1)
            nan = np.isnan(block)
            nans += nan.sum(axis=0)
            infinities += (~finite & ~nan).sum(axis=0)
    return bad, nans, infinities


def _gap_sentence(
    table: Table, count: int, nans: NDArray[np.int64], infinities: NDArray[np.int64]
) -> str:
    parts = []
    for word, counts in (("missing", nans), ("infinite", infinities)):
        worst = [column for column in np.argsort(-counts, kind="stable") if counts[column]]
        if worst:
            known = {table.names[c]: counts[c] for c in worst}  # levels of a category once
            shown = ", ".join(f"'{name}' ({known[name]})" for name in list(known)[:5])
            more = f" and {len(known) - 5} more columns" if len(known) > 5 else ""
            parts.append(f"{word} values in {shown}{more}")
    verb = "is" if count == 1 else "are"
    return f"{count} of {len(table.rows)} rows {verb} not complete: {'; '.join(parts)}"


def _constant(table: Table) -> list[str]:
    if not isinstance(table.X, np.ndarray) or len(table.rows) < 2:
        return []
    same = table.X.min(axis=0) == table.X.max(axis=0)
    return [name for name, constant in zip(table.names, same, strict=True) if constant]


def pca_imputed(
    X: Array,
    *,
    n_components: int = DEFAULT_COMPONENTS,
    standardize: bool = True,
    indicators: Array | None = None,
) -> tuple[Array, bool]:
    """X with its missing values (NaN) imputed, and whether the iteration had converged.

    Missing values begin at the mean of their column. Then in turn: the principal components of the
    imputed table, each shrunk by the share of noise in its variance, (λ − σ²)/λ with σ² the mean of
    the remaining variances; missing values take the fitted values; means and deviations are
    computed again. So a value is estimated from similar rows, and shrunk by its uncertainty.

    indicators : columns that are the 0 and 1 of categories; missing values become shares

    Josse and Husson, "Handling missing values in exploratory multivariate data analysis
    methods" (2012).
    """
    hole = ~np.isfinite(X)
    filled = np.where(hole, np.nan, X).astype(np.float64)
    filled = np.where(hole, np.nanmean(filled, axis=0), filled)
    n, width = X.shape
    count = min(n_components, width - 1, n - 2)
    if not hole.any() or count < 1:
        return filled, True
    small = min(n, width)
    rounds = int(np.clip(MAX_FLOPS / (n * width * small + small**3), MIN_ROUNDS, MAX_ROUNDS))
    for _ in range(rounds):
        standard = _standard(filled, standardize, indicators)
        fitted = _shrunk_fit(standard.apply(filled), count)
        scale = np.where(np.isinf(standard.deviation), 0.0, standard.deviation)
        new = (fitted * scale + standard.mean)[hole]
        step = ((new - filled[hole]) / np.broadcast_to(_unit(scale), X.shape)[hole]) ** 2
        filled[hole] = new
        if float(step.mean()) <= STEP_TOLERANCE**2:
            return filled, True
    return filled, False


def _standard(filled: Array, standardize: bool, indicators: Array | None) -> Standard:
    found = standard_of(filled, indicators)
    if standardize:
        return found
    plain: Any = np.ones(filled.shape[1])
    return Standard(found.mean, plain)


def _unit(scale: Array) -> Array:
    return np.where(scale > 0, scale, 1.0)


def _shrunk_fit(Z: Array, count: int) -> Array:
    """The part of centred rows that shrunk principal components make up."""
    n, width = Z.shape
    wide = width > n
    values, vectors = np.linalg.eigh((Z @ Z.T if wide else Z.T @ Z) / n)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    rank = min(n - 1, width)
    noise = values[count:rank].sum() / max(1, rank - count)
    kept = values[:count]
    shrunk = np.where(kept > noise, (kept - noise) / np.where(kept > 0, kept, 1.0), 0.0)
    V = vectors[:, :count]
    return np.asarray((V * shrunk) @ (V.T @ Z) if wide else (Z @ V) * shrunk @ V.T)
