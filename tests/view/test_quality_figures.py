"""Figures of quality show the numbers that they were given."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib import image

from dualfold import quality, view
from dualfold.data import digits
from dualfold.errors import InvalidInput
from tests.view.door import co_ranking, co_ranking_figure, figure_bytes


@pytest.fixture(scope="module")
def example():
    """(images, plane of their principal components, labels)"""
    table = digits()
    X = table.points[:600]
    centred = X - X.mean(axis=0)
    return X, centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T, table.labels[:600]


def pixels(figure):
    return image.imread(io.BytesIO(figure_bytes(figure, "x.png")))[:, :, :3]


def test_scree_marks_the_widest_gap_and_what_is_kept():
    figure = view.scree_figure([9.0, 8.5, 3.0, 2.8], kept=2, title="t", verdict="v")
    axes = figure.axes[0]
    assert axes.texts[0].get_text() == "widest gap, after 2"
    kept, left = axes.collections[:2]
    np.testing.assert_allclose(kept.get_offsets(), [[1, 9], [2, 8.5]])
    np.testing.assert_allclose(left.get_offsets(), [[3, 3], [4, 2.8]])
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((3, 8.5))
    assert pixels(figure).min() < 0.5
    with pytest.raises(InvalidInput, match="finite eigenvalues"):
        view.scree_figure([])


def test_curves_diagrams_and_heat_maps_show_their_numbers(example):
    X, Y, _ = example
    curve, drawn = quality.neighborhood_curve(X, Y), quality.neighborhood_curve(X, Y, sample=60)
    figure = view.curve_figure({"all": curve, "drawn": drawn})
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.r_nx)
    assert len(axes.collections) == 1  # a band for the drawn one only
    assert axes.get_legend().get_texts()[0].get_text() == f"all (area {curve.auc:.3f})"
    assert axes.get_xscale() == "log"
    diagram = quality.shepard(X, Y)
    axes = view.shepard_figure(diagram).axes[0]
    shown = axes.collections[0].get_array()
    np.testing.assert_array_equal(shown.filled(0).ravel(), diagram.counts.T.ravel())
    ranks = co_ranking(X, Y, 30)
    figure = co_ranking_figure(ranks)
    shown = figure.axes[0].collections[0].get_array()
    np.testing.assert_allclose(shown.ravel(), (ranks.counts / 600).ravel())
    perfect = pixels(co_ranking_figure(co_ranking(X, X, 30)))
    assert perfect.std() < pixels(figure).std()  # all but the diagonal is white
    with pytest.raises(InvalidInput, match="at least one curve"):
        view.curve_figure({})


def test_the_map_is_coloured_by_its_quality(example):
    X, Y, _ = example
    values = quality.trustworthiness(X, Y, per_point=True)
    figure = view.quality_map_figure(Y, values, verdict="a verdict")
    assert figure.axes[1].get_ylabel() == "trustworthiness of each point"
    low, high = figure.axes[1].get_ylim()
    assert values.min() <= low < high <= values.max()
    sampled = quality.trustworthiness(X, Y, per_point=True, sample=60)
    assert pixels(view.quality_map_figure(Y, sampled)).min() < 0.7
