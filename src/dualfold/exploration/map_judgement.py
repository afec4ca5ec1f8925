"""The judgement of a map, by the table that it is of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dualfold.data.prepared import colors_of
from dualfold.exploration.axis_remarks import close_axes_remarks, far_rows_remarks
from dualfold.exploration.copies import copies_remarks
from dualfold.exploration.fitted_map import MAX_QUICK_FLOPS, FittedMap
from dualfold.exploration.plan import Plan
from dualfold.judging.evidence import MapEvidence
from dualfold.judging.judgement import Judgement, judged_map
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.methods.maps.profile_map import profiles
from dualfold.quality import QualityReport, report
from dualfold.quality.picture import Picture
from dualfold.quality.quality_report import mean_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dualfold.arrays import Array, Matrix
    from dualfold.data import Prepared
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.neighbor_cache import NeighborCache


def judgement_of_map(
    fitted: FittedMap, data: Prepared, cache: NeighborCache, listener: Listener
) -> Judgement:
    """Judgement of a map of a table, with remarks about its axes and rows."""
    evidence = table_evidence(data, cache, of_distances=fitted.plan.of_distances)
    rivals = _principal_components(fitted, data)
    judgement = judged_map(evidence, fitted.points, rivals=rivals, stage=listener.stage)
    remarks = (
        *close_axes_remarks(fitted, data.X),
        *far_rows_remarks(fitted, data),
        *copies_remarks(fitted, data),
    )
    for remark in remarks:
        listener.note(remark)
    return replace(judgement, remarks=remarks)


def judgement_of_points(
    points: Array,
    near: Picture,
    data: Prepared,
    cache: NeighborCache,
    listener: Listener,
    *,
    of_distances: bool,
    named: bool = False,
) -> Judgement:
    """Judgement of points of a table, whoever made them, whose neighbourhoods were measured."""
    evidence = table_evidence(data, cache, of_distances=of_distances)
    return judged_map(evidence, points, near=near, named=named, stage=listener.stage)


def mean_quality(
    points: Array, data: Prepared, cache: NeighborCache, **settings: Any
) -> QualityReport:
    """All measures of points: where cells were filled in, means over plausible fillings.

    settings : of `dualfold.quality.report`
    """
    each = [report(space, points, sample_weight=data.weights, **settings) for space in cache.spaces]
    return mean_report(each, data.filled_share, data.doubt)


def _principal_components(fitted: FittedMap, data: Prepared) -> dict[str, Array]:
    """Principal components of the table, to compare a map with, where they are quick; else {}."""
    n, width = data.X.shape
    d, plan = fitted.points.shape[1], fitted.plan
    quick = n * width * min(n, width) <= MAX_QUICK_FLOPS and d <= min(n - 1, width)
    if plan.method.name in ("pca", "famd") or not plan.of_features or not quick:
        return {}
    pca = Plan(DESCRIPTIONS["pca"], d)
    return {"pca": pca.estimator().fit_transform(data.X, **pca.with_weights(data.weights))}


def table_evidence(data: Prepared, cache: NeighborCache, *, of_distances: bool) -> MapEvidence:
    """Evidence of a table and its neighbours.

    of_distances : whether the table holds distances, which are no columns
    """
    labels = _label_columns(data)
    ordered = [one for one in data.encodings if one.kind == "ordered" and one.name in labels]
    labels |= {one.name: one.values(labels[one.name])[:, 0] for one in ordered}
    gower = data.reading.mixed == "gower"  # a space of distances does not know its columns
    has_terms = data.text is not None and data.text.weights is not None
    named = (data.reading.color, data.reading.labels, *data.suspected_targets)
    return MapEvidence(
        cache.spaces,
        data.names,
        data.feature_sources,
        {name: data.X[:, at] for at, name in enumerate(data.names)} if gower else None,
        data.weights,
        data.filled_share,
        data.doubt,
        labels=labels,
        orders={one.name: one.levels for one in ordered},
        numbers=None if of_distances else _number_columns(data),
        classes=[name for name in named if name is not None],
        terms=data.text.terms if has_terms else None,
        term_weights=data.text.weights if has_terms else None,
    )


def _label_columns(data: Prepared) -> dict[str, Array]:
    """Categories, dates and columns that are no features; no names of rows, no texts."""
    others = (data.reading.identifier, *data.reading.text)
    return {name: colors_of(values) for name, values in data.labels.items() if name not in others}


def _number_columns(data: Prepared) -> tuple[Sequence[str], Matrix]:
    """Names and numbers as they were read, counts as shares of their row."""
    names, X = data.numbers
    if data.reading.mixed == "counts":
        X = profiles(X)
    return names, X
