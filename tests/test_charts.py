"""Charts draw the numbers they were given, in colours and with names that tell them apart."""

import pytest

from dualfold.errors import InvalidInput
from dualfold.view.charts import Chart, Line, chart_figure
from dualfold.view.colors import FEW_COLORS


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
    assert drawn[3, 4].get_color() == names["short"].get_color() == FEW_COLORS[0]
    assert drawn[3, 1].get_color() == names["long"].get_color() == FEW_COLORS[4]
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
