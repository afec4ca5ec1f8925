"""What is said, written and drawn about the axes of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dualfold.cli.solving import CHEAP, FittedMap

if TYPE_CHECKING:
    from dualfold.data import Prepared

# Axes that are named in a line.
NAMED = 5


def explained_line(explained: list[float] | None) -> list[str]:
    """How much of the variance the axes explain, each and together."""
    from dualfold.quality.picture import percent

    if not explained:
        return []
    each = ", ".join(percent(share) for share in explained[:NAMED])
    if len(explained) == 1:
        return [f"The axis explains {each} of the variance"]
    more = ", …" if len(explained) > NAMED else ""
    return [f"The axes explain {each}{more} of the variance, together {percent(sum(explained))}"]


def close_axes_remark(result: FittedMap, X: Any) -> list[str]:
    """Principal axes that these rows do not tell apart, the next one after the map's included."""
    from dualfold.quality import close_axes

    n, width = X.shape
    d = result.points.shape[1]
    if result.job.method.name != "pca" or n * width * min(n, width) > CHEAP or d >= min(n, width):
        return []
    beyond = result.job.method.estimator_class()(n_components=d + 1, whiten=False).fit(X)
    shares = beyond.explained_variance_ratio_
    said = []
    for first, second in close_axes(beyond.explained_variance_, n):
        if shares[second - 1] <= 1e-12:  # nothing is left to turn
            continue
        outside = ", which is not on the map," if second > d else ""
        said.append(
            f"axes {first} and {second}{outside} explain nearly the same ({shares[first - 1]:.1%} "
            f"and {shares[second - 1]:.1%}): another sample would turn them into each other, so "
            "read no meaning into either alone"
        )
    return said


def loadings_of(result: FittedMap, data: Prepared) -> Any:
    """A row a column: loadings where the axes have some, else correlations."""
    from dualfold.quality import column_correlations

    own = getattr(result.estimator, "loadings_", None)
    return column_correlations(data.X, result.points) if own is None else own


def loadings_columns(result: FittedMap, data: Prepared) -> dict[str, Any]:
    """The table of --loadings: loadings, and the correlation of each column with each axis."""
    import numpy as np

    from dualfold.quality import column_correlations

    columns: dict[str, Any] = {"column": np.array(data.names, dtype=object)}
    names = result.axis_names
    own: Any = getattr(result.estimator, "loadings_", None)
    if own is not None:
        columns |= {name: own[:, axis] for axis, name in enumerate(names)}
    together = column_correlations(data.X, result.points)
    return columns | {f"r_{name}": together[:, axis] for axis, name in enumerate(names)}


def drawn_biplot(
    path: str, result: FittedMap, data: Prepared, *, title: str, verdict: str
) -> bytes:
    """The map with the columns as arrows."""
    from dualfold.view.biplot import biplot_figure
    from dualfold.view.figures import figure_bytes

    figure = biplot_figure(
        result.points, loadings_of(result, data), data.names, data.colors, title=title,
        verdict=verdict, color_name=data.reading.color or "", axis_names=result.axis_titles[:2],
    )  # fmt: skip
    return figure_bytes(figure, path)
