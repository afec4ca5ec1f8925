"""What is noted, written and drawn about the axes of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, Message
from dualfold.exploration.fitted_map import MAX_QUICK_FLOPS, FittedMap
from dualfold.quality import column_correlations
from dualfold.quality.map_axes import close_axes, far_rows
from dualfold.quality.picture import percent
from dualfold.view.figures import biplot_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dualfold.arrays import Array, Matrix
    from dualfold.data import Prepared

# Axes or rows that are named in a line; of more, the first ones.
MAX_NAMED = 5


def variance_line(
    explained: list[float] | None, filled_share: float = 0.0, variance: str = "variance"
) -> list[str]:
    """Line on how much of the variance the axes explain, each and together.

    variance : its name, where the method has another one
    What was filled in varies less than what is not known, so that axes explain more of it.
    """
    if not explained:
        return []
    each = ", ".join(percent(share) for share in explained[:MAX_NAMED])
    variance = f"{variance} of the filled table" if filled_share else variance
    if len(explained) == 1:
        return [f"The axis explains {each} of the {variance}"]
    more = ", …" if len(explained) > MAX_NAMED else ""
    return [f"The axes explain {each}{more} of the {variance}, together {percent(sum(explained))}"]


def close_axes_remarks(result: FittedMap, X: Matrix) -> list[str]:
    """Principal axes with nearly the same variance, the next one after the map's included."""
    n, width = X.shape
    d = result.points.shape[1]
    if result.plan.method.name != "pca" or d >= min(n, width):
        return []
    if n * width * min(n, width) > MAX_QUICK_FLOPS:
        return []
    beyond = result.plan.method.estimator_class()(n_components=d + 1, whiten=False).fit(X)
    shares = beyond.explained_variance_ratio_
    remarks = []
    for first, second in close_axes(beyond.explained_variance_, n):
        if shares[second - 1] <= 1e-12:  # no variance is left to rotate
            continue
        outside = " (not on the map)" if second > d else ""
        remarks.append(
            f"axes {first} and {second}{outside} explain {shares[first - 1]:.1%} and "
            f"{shares[second - 1]:.1%}, too close for {n:,} rows to tell apart: another sample "
            "would turn them into each other, so read no meaning into either alone"
        )
    return remarks


def far_rows_remarks(result: FittedMap, data: Prepared) -> list[Message]:
    """Few rows so far from the others that these share a small part of the picture."""
    remarks = []
    for far in far_rows(result.points):
        one, rows = len(far.rows) == 1, list(far.rows)
        numbers = ", ".join(f"{data.rows[row] + 1:,}" for row in rows[:MAX_NAMED])
        more = " …" if len(rows) > MAX_NAMED else ""
        lie = f"row {numbers} lies" if one else f"{len(rows):,} rows ({numbers}{more}) lie up to"
        times = f"{far.times:,.0f} times as" if far.times < 1e6 else "over a million times as"
        why, remedy = _far_column(data, rows) if result.plan.of_features else ("", ())
        remarks.append(
            Message(
                f"axis {far.axis + 1} of {result.plan.method.name}: {lie} {times} far out as "
                f"99 % of the rows{why}, so the others share a small part of the picture; leave "
                f"{'it' if one else 'them'} out of the table to see more of these",
                *remedy,
            )
        )
    return remarks


def _far_column(data: Prepared, rows: list[int]) -> tuple[str, tuple[str, ...]]:
    """The column in which rows are farthest from the mean, in words, and what helps."""
    if sp.issparse(data.X):
        return "", ()
    X = np.asarray(data.X, dtype=np.float64)
    middle, spread = X.mean(axis=0), X.std(axis=0)
    off = np.abs(X[rows].mean(axis=0) - middle) / np.where(spread > 0, spread, np.inf)
    place = int(np.argmax(off))
    name, kinds = data.names[place], [one for one in data.encodings for _ in one.features]
    source = kinds[place] if kinds else None
    if source is not None and source.kind == "category":
        has = data.table.X[:, place] > 0
        if data.filled is not None:  # what was filled in is no observation
            has &= ~data.filled.hole[:, place]
        count = int(has.sum())
        why = f" ({count:,} of {len(X):,} rows {'has' if count == 1 else 'have'} '{name}')"
        return why, (", or ", Argument("exclude", [source.name]), " leaves the column out")
    why = f" (in '{name}' {off[place]:.0f} standard deviations from the mean)"
    usable = source is not None and source.kind == "number" and (data.table.X[:, place] > 0).all()
    return why, (", or ", Argument("log", [name]), " takes a logarithm") if usable else ()


def _arrows(result: FittedMap, data: Prepared) -> list[Array] | Array:
    """A row a column: loadings where the axes have some, else correlations."""
    if result.column_points is not None:
        return list(result.column_points.values())
    own = getattr(result.estimator, "loadings_", None)
    return column_correlations(data.X, result.points) if own is None else own


def loadings_columns(result: FittedMap, data: Prepared) -> dict[str, Array]:
    """The table of --loadings: loadings, and the correlation of each column with each axis."""
    columns: dict[str, Array] = {"column": np.array(data.names, dtype=object)}
    names = result.axis_names
    own: Array | None = getattr(result.estimator, "loadings_", None)
    if result.column_points is not None:  # the columns have places of their own
        places = np.array(list(result.column_points.values()))
        columns |= {"mass": result.estimator.column_masses_}
        return columns | {name: places[:, axis] for axis, name in enumerate(names)}
    if own is not None:
        columns |= {name: own[:, axis] for axis, name in enumerate(names)}
    together = column_correlations(data.X, result.points)
    return columns | {f"r_{name}": together[:, axis] for axis, name in enumerate(names)}


def map_with_arrows(result: FittedMap, data: Prepared, *, title: str, verdict: str) -> Figure:
    """The map with the columns as arrows."""
    return biplot_figure(
        result.points,
        _arrows(result, data),
        data.names,
        data.colors,
        title=title,
        verdict=verdict,
        color_name=data.color_name or "",
        axis_names=result.axis_titles[:2],
    )
