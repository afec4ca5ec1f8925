"""Figures of the papers draw the numbers they were given, with names and colours that differ."""

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.games import HalfSquare, Quadratic, gradient_descent
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.games import gap_figure, path_figure
from papers.figures.unfolding import as_unfolding_in_words, bounds_in_words, unfolding_figure
from tests.theory.games.door import Curve, Rate
from tests.tools.tables import roll_points


def test_a_chart_shows_its_lines() -> None:
    lines = [
        Line("measured", [1, 2], [3, 4], [0.1, 0.2]),
        Line("", [1, 2], [3, 5], look="paper"),
        Line("bound", [1, 2], [6, 6], look="bound"),
    ]
    figure = chart_figure([Chart(lines, x_ticks=(1, 2))], title="T")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "bound"]
    drawn = [list(line.get_ydata()) for line in axes.lines if len(line.get_ydata()) == 2]
    assert [3, 4] in drawn
    assert [3, 5] in drawn
    with pytest.raises(InvalidInput, match="at least one chart"):
        chart_figure([])


def test_names_stand_beside_the_ends_of_their_lines() -> None:
    lines = [Line("short", [0, 1], [3, 4]), Line("long", [0, 5], [3, 1]), Line("", [0, 5], [9, 9])]
    axes = chart_figure([Chart(lines, level=2.0, names="beside")]).axes[0]
    names = {text.get_text(): text for text in axes.texts}
    assert {name: tuple(text.xy) for name, text in names.items()} == {
        "short": (5.0, 4),  # to the right of all lines, and a leader goes there
        "long": (5.0, 1),
    }
    drawn = {tuple(line.get_ydata()): line for line in axes.lines}
    assert list(drawn[4, 4].get_xdata()) == [1, 5]
    assert drawn[3, 4].get_color() == names["short"].get_color()
    assert drawn[3, 1].get_color() == names["long"].get_color()
    assert names["long"].get_color() != names["short"].get_color()
    assert (2.0, 2.0) in drawn
    assert axes.get_legend() is None


def test_marks_are_for_few_points_and_zero_has_a_place() -> None:
    few, many = Line("few", range(3), range(3)), Line("many", range(40), range(40))
    bound = Line("bound", range(99), range(99), look="bound")
    charts = [Chart([few, bound]), Chart([few, many], x_scale="from zero")]
    left, right = chart_figure(charts).axes
    assert [line.get_marker() for line in left.lines] == ["o", "None"]
    assert [line.get_marker() for line in right.lines] == ["", ""]
    assert left.get_xscale() == "linear"
    assert right.get_xlim()[0] == 0
    places = right.transData.transform([(0, 1), (10, 1), (100, 1), (1000, 1)])[:, 0]
    assert places[3] - places[2] == pytest.approx(places[2] - places[1])
    assert places[0] < places[1]


def test_paths_and_gaps_are_those_given() -> None:
    f = Quadratic(np.array([[2.0, 1.0], [1.0, 20.0]]), np.array([-5.0, -3.0]))
    path = gradient_descent(f, np.array([-3.0, -1.0]), step=0.085).play(12)
    axes = path_figure(f, [("gradient descent", path)]).axes[0]
    assert axes.get_title() == "gradient descent"
    assert axes.lines[0].get_xydata() == pytest.approx(path.points)
    turns = np.arange(1, 101)
    power = Curve("squares", Rate("1/T²", -2.0), turns, 3.0 / turns**2, 4.0 / turns**2)
    linear = Curve("halves", Rate("linear", factor=0.5), turns[:30], 0.5 ** turns[:30], np.ones(30))
    figure = gap_figure([power, linear])
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[1].get_xscale() == "linear"
    assert figure.axes[0].lines[1].get_ydata() == pytest.approx(power.gap)
    with pytest.raises(InvalidInput, match="at least one curve"):
        gap_figure([])
    space = gradient_descent(HalfSquare(), np.zeros(3), step=0.1).play(3)
    with pytest.raises(InvalidInput, match="two entries"):
        path_figure(HalfSquare(), [("in space", space)])


def test_the_figure_shows_maps_to_one_scale_and_the_gap() -> None:
    X = roll_points(150, random_state=0)
    model = dualfold.MaximumVarianceUnfolding(n_neighbors=6, tol=1e-8).fit(X)
    plane = dualfold.PCA(2).fit_transform(X)
    problem = dualfold.unfolding.contraction_of(model.graph_).problem
    under = as_unfolding_in_words(problem, plane, model.certificate_)
    figure = unfolding_figure(
        [
            ("MVU", model.embedding_, bounds_in_words(model.certificate_)),
            ("PCA", plane, under),
        ],
        model.history_,
        X[:, 0],
    )
    unfolded, flat, gaps = figure.axes[:3]
    assert np.ptp(unfolded.get_xlim()) == np.ptp(flat.get_xlim())
    assert np.ptp(unfolded.get_xlim()) >= np.ptp(model.embedding_[:, 0])
    np.testing.assert_allclose(gaps.lines[0].get_ydata(), [r.gap for r in model.history_])
    i, j = problem.edges.T
    longest = np.max(np.sum((plane[i] - plane[j]) ** 2, axis=1) / problem.squared)
    value = np.sum((plane - plane.mean(axis=0)) ** 2) / longest
    assert f"variance {value:.6g}" in under
