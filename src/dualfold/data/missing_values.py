"""Missing and infinite values: refuse them, leave their rows out, or impute them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.columns import Table
from dualfold.data.filled_cells import MIN_KNOWN_SHARE, FilledCells
from dualfold.data.imputation import Imputation, mean_imputation
from dualfold.data.imputation_fit import fitted_imputation
from dualfold.data.notices import column_argument, quoted_names
from dualfold.data.reading import Missing
from dualfold.data.scales import Standard, standard_of
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.weights.encoding import Encoding, indicators, level_places, sources_of

CELLS_PER_CHUNK = 4_000_000


@dataclass(frozen=True, eq=False)
class ColumnScaling:
    """Scaling of columns to come, which decides which rows are similar.

    indicators : which columns are the 0 and 1 of categories
    levels : for each category the places of its columns
    sources : the column of the file that each comes from; their own names where ()
    """

    standardize: bool = False
    indicators: NDArray[np.bool_] | None = None
    levels: tuple[tuple[int, ...], ...] = ()
    sources: tuple[str, ...] = ()

    @classmethod
    def of(cls, standardize: bool, encodings: Sequence[Encoding]) -> ColumnScaling:
        """Scaling of the columns which encodings make."""
        places, sources = level_places(encodings), sources_of(encodings)
        return cls(standardize, indicators(encodings), places, sources)

    def first_places(self, width: int) -> NDArray[np.int64]:
        """The place of the first column of X that each column of the file has."""
        if not self.sources:
            return np.arange(width)
        return np.sort(np.unique(self.sources, return_index=True)[1])


AS_READ = ColumnScaling()

# From this share of the rows on, the notice names the column that they were lost to.
MIN_BLAMED_SHARE = 0.05


def with_constant_notice(table: Table, missing: Missing) -> Table:
    """The table with a notice that names its constant columns, where it is complete."""
    constant = [] if missing == "keep" else _constant(table)
    if not constant:
        return table
    kept = "it changes" if len(constant) == 1 else "they change"
    sentence = f"{quoted_names(constant)}: the same value in every row; kept, {kept} no distance"
    return replace(table, notices=(*table.notices, sentence))


def complete_table(
    table: Table, missing: Missing, scaled: ColumnScaling = AS_READ
) -> tuple[Table, FilledCells | None]:
    """A table without missing or infinite values, and the cells that were filled in.

    missing : the rule; "auto" raises
    """
    if missing == "keep":
        return table, None
    if missing not in ("auto", "raise", "drop", "mean", "impute"):
        raise InvalidInput(
            Argument("missing"), f" must be 'raise', 'drop', 'mean' or 'impute', but is {missing!r}"
        )
    bad_rows, nans, infinities = _missing_values(table.X)
    if missing == "impute" and bad_rows.any() and isinstance(table.X, np.ndarray):
        table = _without_sparse_rows(table, scaled)
        bad_rows, nans, infinities = _missing_values(table.X)
    count = int(bad_rows.sum())
    if not count:
        return table, None
    named = replace(table, names=scaled.sources or table.names)
    incomplete = _gap_sentence(named, count, nans, infinities)
    if missing in ("mean", "impute"):
        return _imputed_table(table, incomplete, scaled, by_model=missing == "impute")
    return _without_rows(table, missing, named, incomplete, bad_rows, nans + infinities), None


def _without_rows(
    table: Table,
    missing: Missing,
    named: Table,
    incomplete: str,
    bad_rows: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> Table:
    emptiest = Argument("exclude", [named.names[int(np.argmax(counts))]])
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
    sentence = Message(f"{incomplete}; these rows were left out", costliest)
    return replace(_table_without(table, bad_rows), notices=(*table.notices, sentence))


def _imputed_table(
    table: Table, incomplete: str, scaled: ColumnScaling, *, by_model: bool
) -> tuple[Table, FilledCells]:
    """The table with missing values imputed by a model of its rows, or by means."""
    _refuse_sparse_or_empty(table, incomplete)
    firsts = scaled.first_places(table.X.shape[1])
    X = table.X
    hole = ~np.isfinite(X)
    model = _start(X, hole, scaled)
    if by_model:
        model = fitted_imputation(X, model)
    cells = FilledCells.of(model, hole, firsts)
    sentence = _imputation_message(incomplete, cells, by_model=by_model)
    filled = model.imputed(X) if model.n_components else np.where(hole, model.mean, X)
    filled = filled.astype(X.dtype if not by_model else np.float64, copy=False)
    return replace(table, X=filled, notices=(*table.notices, sentence)), cells


def _without_sparse_rows(table: Table, scaled: ColumnScaling) -> Table:
    """The table without rows that are mostly empty, since their places would be invented."""
    sparse = _sparse_rows(table.X[:, scaled.first_places(table.X.shape[1])])
    if not sparse.any():
        return table
    notice = _sparse_rows_message(int(sparse.sum()), len(sparse))
    return replace(_table_without(table, sparse), notices=(*table.notices, notice))


def _table_without(table: Table, rows: NDArray[np.bool_]) -> Table:
    return replace(
        table,
        X=table.X[~rows],
        labels={name: values[~rows] for name, values in table.labels.items()},
        row_names={name: values[~rows] for name, values in table.row_names.items()},
        rows=table.rows[~rows],
    )


def _sparse_rows(X: Array) -> NDArray[np.bool_]:
    """Rows that are mostly empty; none where all are."""
    sparse = np.isfinite(X).mean(axis=1) < MIN_KNOWN_SHARE
    return sparse if not sparse.all() else np.zeros(len(X), dtype=bool)


def _sparse_rows_message(count: int, n: int) -> Message:
    have, places = ("has", "its place") if count == 1 else ("have", "their places")
    return Message(
        f"{count} of {n} rows {have} less than a fifth of the values and "
        f"{'was' if count == 1 else 'were'} left out, since {places} would be invented; ",
        Argument("missing", "mean"),
        " keeps all rows",
    )


def _imputation_message(incomplete: str, cells: FilledCells, *, by_model: bool) -> Message:
    model = cells.imputation
    if not by_model:
        how = "filled with the mean of their column"
        return Message(f"{incomplete}; they were {how} ({cells.share_text} of the cells)")
    count = model.n_components
    components = "1 principal component" if count == 1 else f"{count} principal components"
    how = f"the values of similar rows (a model with {components})"
    if not count:
        how = "the mean of their column, because other columns do not help to predict known values"
    limits = [] if model.n_rows == cells.n_rows else [f"fitted to {model.n_rows:,} of the rows"]
    limits += [] if model.converged else ["stopped early: the table is large"]
    more = f" ({'; '.join(limits)})" if limits else ""
    return Message(
        f"{incomplete}; filled in ({cells.share_text} of the cells) by {how}{more}; ",
        Argument("missing", "drop"),
        " leaves such rows out",
    )


def _start(X: Array, hole: NDArray[np.bool_], scaled: ColumnScaling) -> Imputation:
    """The means and the scales of the known cells; one scale where columns keep their own."""
    mean = known_means(X, hole)
    standard = standard_of_known(X, hole, scaled.indicators)
    scale = np.where(np.isfinite(standard.deviation), standard.deviation, 0.0)
    if not scaled.standardize and scale.any():
        common = float(np.sqrt(np.square(scale / scale.max()).mean())) * float(scale.max())
        scale = np.where(scale > 0, common, 0.0)
    return mean_imputation(mean, scale, scaled.levels)


def standard_of_known(
    X: Array,
    hole: NDArray[np.bool_],
    indicators: Array | None,
    sample_weight: Array | None = None,
) -> Standard:
    """Means and deviations of the cells that are there.

    Those of the filled table would be too small: what is filled in varies less than what is not
    known.
    """
    means = known_means(X, hole)
    if sample_weight is not None:
        known = sample_weight[:, None] * ~hole
        sums = known.sum(axis=0)
        offsets = (known * np.where(hole, 0.0, X - means)).sum(axis=0)
        means = means + offsets / np.where(sums > 0, sums, 1.0)
    standard = standard_of(np.where(hole, means, X), indicators, sample_weight)
    share = np.maximum(np.average(~hole, axis=0, weights=sample_weight), 1 / len(X))
    plain = np.ones(X.shape[1], bool) if indicators is None else ~indicators
    return Standard(
        standard.mean, np.where(plain, standard.deviation / np.sqrt(share), standard.deviation)
    )


def known_means(X: Array, hole: NDArray[np.bool_]) -> Array:
    """The mean of the values of each column that are there."""
    values = np.where(hole, 0, X)
    # The scale first: the plain sum of large finite values could overflow.
    means = (values / np.maximum((~hole).sum(axis=0), 1)).sum(axis=0, dtype=np.float64)
    # Where all known values are one and the same, so is their mean, to the last bit.
    low, high = np.where(hole, np.inf, X).min(0), np.where(hole, -np.inf, X).max(0)
    return np.asarray(np.where(low == high, low, means))


def _refuse_sparse_or_empty(table: Table, incomplete: str) -> None:
    if not isinstance(table.X, np.ndarray):
        raise InvalidInput(
            f"{incomplete}; a sparse matrix has no useful column mean, choose ",
            Argument("missing", "drop"),
        )
    known = np.atleast_1d(np.isfinite(table.X).any(axis=0))
    if not known.all():
        empty = [
            name for name, has_values in zip(table.names, known, strict=True) if not has_values
        ]
        raise InvalidInput(
            f"{quoted_names(empty)}: no finite value to take the mean of; ",
            column_argument("exclude", empty),
            f" leaves {'it' if len(empty) == 1 else 'them'} out",
        )


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
