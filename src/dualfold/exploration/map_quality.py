"""What a map shows of its table: overall order, neighbourhoods, groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dualfold.exploration.job import MAX_QUICK_FLOPS, SCORED_NEIGHBORS, FittedMap, Job
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.neighbor_cache import NeighborCache
    from dualfold.quality.map_verdict import MapVerdict
    from dualfold.quality.picture import Picture

# Plausible fillings in which order and groups are looked for: these are means over many rows,
# and a second filling shows whether the first decided.
ORDER_TABLES = 2


def too_few_rows(n: int) -> str:
    """Why a map of so few rows is not judged; "" where it is."""
    if n > SCORED_NEIGHBORS:
        return ""
    return f"{n} rows are too few, {SCORED_NEIGHBORS + 1} are needed"


def verdict_on_map(
    result: FittedMap, cache: NeighborCache, data: Prepared, listener: Listener
) -> MapVerdict | None:
    """What the map shows; None where there are too few rows to measure."""
    if too_few_rows(len(result.points)):
        return None
    near = _neighborhoods(result, cache, data, listener)
    return verdict_of_points(result.points, near, cache, data, listener)


def verdict_of_points(
    points: Any, near: Picture, cache: NeighborCache, data: Prepared, listener: Listener
) -> MapVerdict:
    """The same, of a map whose neighbourhoods were measured before."""
    from dataclasses import replace

    from dualfold.judging.three_questions import verdict_with_picture
    from dualfold.quality.map_verdict import mean_verdict
    from dualfold.quality.space import EuclideanSpace

    y = EuclideanSpace(points, None, "Y")
    columns = None
    if data.reading.mixed == "gower":  # a space of distances does not know its columns
        columns = {name: data.X[:, place] for place, name in enumerate(data.names)}
    with listener.stage("looking for order and groups"):
        found = [
            verdict_with_picture(
                x, y, near, columns=columns, names=data.names, blocks=data.feature_sources
            )
            for x in cache.spaces[:ORDER_TABLES]
        ]
    return replace(mean_verdict(found, data.filled_share, data.doubt), neighborhoods=near)


def _neighborhoods(
    result: FittedMap, cache: NeighborCache, data: Prepared, listener: Listener
) -> Picture:
    """Neighbours that the map keeps, beside chance and principal components."""
    from dualfold.quality.estimate import sample_size
    from dualfold.quality.picture import mean_picture
    from dualfold.quality.ranks import picture_of

    weights = data.weights

    def picture(points: Any, **others: Any) -> Picture:
        given = {"sample": sample_size(len(points)), "sample_weight": weights} | others
        found = [picture_of(space, points, SCORED_NEIGHBORS, **given) for space in cache.spaces]
        return mean_picture(found, data.filled_share, data.doubt)

    with listener.stage("counting kept neighbours"):
        rival = _principal_components(result, data)
        rivals = {} if rival is None else {"pca": picture(rival).kept}
        return picture(result.points, rivals=rivals)


def _principal_components(result: FittedMap, data: Prepared) -> Any:
    """Those of the table, to compare a map with, where they are quick to compute; else None."""
    n, width = data.X.shape
    d, job = result.points.shape[1], result.job
    quick = n * width * min(n, width) <= MAX_QUICK_FLOPS and d <= min(n - 1, width)
    if job.method.name in ("pca", "famd") or not job.of_features or not quick:
        return None
    pca = Job(DESCRIPTIONS["pca"], d)
    return pca.estimator().fit_transform(data.X, **pca.with_weights(data.weights))
