"""Figures: points where they belong, keys that say what they show, files whole or not at all."""

import io
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb
from scipy.stats import gaussian_kde

from dualfold.errors import InvalidInput
from dualfold.view import biplot_figure, map_figure, scree_figure
from tests.view.door import (
    FEW_COLORS,
    MANY_COLORS,
    MOST_CLASSES,
    Panel,
    coloring_of,
    draw_behind,
    figure_bytes,
    frames,
    gallery,
    name_axes,
    save_figure,
    strip_density,
)

X = np.random.default_rng(0).normal(size=(30, 4))


def pixels(figure):
    """The picture as rows of RGB, the first row at the top."""
    return image.imread(io.BytesIO(figure_bytes(figure, "x.png")))[:, :, :3]


def around(figure, picture, point, reach=3):
    """The pixels around where a point of the first axes must be drawn."""
    x, y = figure.axes[0].transData.transform(point)
    row, column = picture.shape[0] - round(y), round(x)
    return picture[row - reach : row + reach + 1, column - reach : column + reach + 1]


def legend_labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_pixels_are_drawn_where_the_points_are_and_nowhere_between():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    figure = map_figure(points)
    picture = pixels(figure)
    for point in points:
        assert around(figure, picture, point).mean() < 0.7
    assert around(figure, picture, (0.5, 0.5), reach=10).min() == 1.0


def test_classes_have_their_colours_in_the_picture_and_in_the_legend():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]])
    figure = map_figure(points, ["b", "a", None, "b"], color_name="kind")
    picture = pixels(figure)
    assert legend_labels(figure.axes[0]) == ["a", "b", "missing"]
    assert figure.axes[0].get_legend().get_title().get_text() == "kind"
    for point, color in zip(points, (FEW_COLORS[1], FEW_COLORS[0], "#d0d0d0"), strict=False):
        drawn = around(figure, picture, point, reach=1).reshape(-1, 3).mean(axis=0)
        # 0.9 of the colour over white
        np.testing.assert_allclose(drawn, 0.9 * np.array(to_rgb(color)) + 0.1, atol=0.02)


def test_numbers_give_a_colour_bar_with_their_range():
    figure = map_figure(np.zeros((3, 2)), [1.5, np.nan, 4.5], color_name="height")
    bar = figure.axes[1]
    assert bar.get_ylim() == (1.5, 4.5)
    assert bar.get_ylabel() == "height"
    colors = coloring_of(np.array([1.5, np.nan, 4.5]), 3)
    rgb = colors.palette[colors.codes]
    np.testing.assert_allclose(rgb[0], to_rgb("#440154"), atol=0.01)  # viridis' ends
    np.testing.assert_allclose(rgb[2], to_rgb("#fde725"), atol=0.01)
    np.testing.assert_allclose(rgb[1], to_rgb("#d0d0d0"))


def test_outliers_do_not_squeeze_the_scale():
    values = np.r_[np.linspace(0, 1, 500), 1e6]
    scale = coloring_of(values, 501).scale
    assert scale.norm.vmax < 1.1
    assert scale.extend == "both"


def test_many_classes_keep_the_largest_and_the_rest_is_others():
    labels = [f"c{place:02}" for place in range(30) for _ in range(30 - place)]
    found = coloring_of(labels, len(labels))
    assert len(found.classes) == MOST_CLASSES
    assert [name for name, *_ in found.classes[:-1]] == [f"c{place:02}" for place in range(19)]
    assert found.classes[-1][0] == "11 others"
    # ten colours times two shapes: no two classes look the same
    assert len({look for _, *look in map(tuple, found.classes) for look in [tuple(look)]}) == 20


def test_whole_numbers_are_classes_if_few_and_a_scale_if_many():
    few = coloring_of(np.array([10, 2, 10, 1]), 4)
    assert [name for name, *_ in few.classes] == ["1", "2", "10"]
    assert coloring_of(np.arange(50), 50).scale is not None
    ten = coloring_of(np.arange(10), 10)
    assert [color for _, color, _ in ten.classes] == list(MANY_COLORS)


# Machado, Oliveira and Fernandes (2009), severity 1: red, green or blue cones lacking.
SIGHT = {
    "ordinary": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                   [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                     [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                   [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def in_oklab(colors, sight):
    """Björn Ottosson's Oklab (2020), in which equal steps look about equal."""
    rgb = np.array([to_rgb(color) for color in colors])
    light = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = np.clip(light @ np.transpose(SIGHT[sight]), 0, 1)
    cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
             [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
    axes = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.808675766]]  # fmt: skip
    return np.cbrt(light @ np.transpose(cones)) @ np.transpose(axes)


@pytest.mark.parametrize(("colors", "least"), [(FEW_COLORS, 0.075), (MANY_COLORS, 0.1)])
@pytest.mark.parametrize("sight", list(SIGHT))
def test_colours_can_be_told_apart_by_the_colour_blind(colors, least, sight):
    """The ten of Petroff (2021), which were here before, are 0.061 apart for protanopia."""
    places = in_oklab(colors, sight)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert apart[np.triu_indices(len(colors), 1)].min() > least


def test_no_class_is_grey_as_what_is_missing():
    for colors in (FEW_COLORS, MANY_COLORS):
        assert np.linalg.norm(in_oklab(colors, "ordinary")[:, 1:], axis=1).min() > 0.05


def test_dates_give_a_scale_of_dates():
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    figure = map_figure(np.eye(2), days)
    assert figure_bytes(figure, "x.png")
    labels = [tick.get_text() for tick in figure.axes[1].get_yticklabels()]
    assert any("Jul" in text or "2020" in text for text in labels)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_every_number_of_coordinates_can_be_drawn(dimensions):
    points = np.random.default_rng(0).normal(size=(40, dimensions))
    figure = map_figure(points, points[:, 0], title="a", verdict="proved", axis_names=["u", "v"])
    picture = pixels(figure)
    assert (picture.min(axis=2) < 0.95).mean() > 0.005
    assert figure._suptitle.get_text() == "a"
    assert figure._supxlabel.get_text() == "proved"
    assert figure.axes[0].get_xlabel() == "u"
    assert hasattr(figure.axes[0], "get_zlim") == (dimensions == 3)


def test_equal_means_the_same_length_on_both_axes():
    points = np.array([[0.0, 0.0], [10.0, 1.0]])
    for equal, same in ((True, True), (False, False)):
        figure = map_figure(points, equal=equal)
        figure_bytes(figure, "x.png")
        to_pixels = figure.axes[0].transData.transform
        across = to_pixels((1, 0))[0] - to_pixels((0, 0))[0]
        upwards = to_pixels((0, 1))[1] - to_pixels((0, 0))[1]
        # matplotlib leaves alone what is within half a per cent of equal
        assert (abs(across / upwards - 1) < 0.005) == same


def test_many_points_are_rasterised_quickly_and_still_in_place():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.uniform(0, 1, (59_999, 2)), [[3.0, 3.0]]])
    figure = map_figure(points, points[:, 0])
    drawn = figure.axes[0].collections
    assert all(layer.get_rasterized() for layer in drawn)
    assert sum(len(layer.get_offsets()) for layer in drawn) == 60_000
    picture = pixels(figure)
    assert around(figure, picture, (0.5, 0.5), reach=20).mean() < 0.8
    assert around(figure, picture, (3.0, 3.0)).min() < 0.95
    assert around(figure, picture, (2.0, 2.0), reach=20).min() == 1.0


def test_a_gallery_has_a_panel_each_and_a_key_a_row():
    rng = np.random.default_rng(0)
    flat, space = rng.normal(size=(30, 2)), rng.normal(size=(30, 3))
    rows = [
        [Panel(space, space[:, 0], "data"), Panel(flat, space[:, 0], "pca", "proved")],
        [Panel(image=np.eye(8), title="data"), Panel(flat, ["x", "y"] * 15, "pca", "proved")],
    ]
    figure = gallery(rows, row_names=["roll", "digits"], color_names=["angle", "digit"])
    assert figure_bytes(figure, "x.png")
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["data", "pca", "data", "pca"]
    legends = [axes for axes in figure.axes if axes.get_legend()]
    assert [legend_labels(axes) for axes in legends] == [["x", "y"]]
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"roll", "digits", "proved"} <= set(words)
    with pytest.raises(InvalidInput, match="at least one panel"):
        gallery([])


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    figure = map_figure(np.eye(2))
    path = tmp_path / "map.png"
    save_figure(figure, path)
    first = path.read_bytes()
    with pytest.raises(InvalidInput, match="exists already"):
        save_figure(figure, path)
    monkeypatch.setattr(type(figure), "savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save_figure(figure, path, overwrite=True)
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == ["map.png"]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_equal_pictures_are_equal_files(ending):
    files = {figure_bytes(map_figure(np.eye(3)[:, :2], ["a", "b", "c"]), f"x.{ending}")}
    files.add(figure_bytes(map_figure(np.eye(3)[:, :2], ["a", "b", "c"]), f"x.{ending}"))
    assert len(files) == 1


def test_wrong_input_is_refused_with_a_reason():
    with pytest.raises(InvalidInput, match="one value for each point"):
        map_figure(np.eye(3), [1, 2])
    with pytest.raises(InvalidInput, match="shape is"):
        map_figure(np.zeros((0, 2)))
    with pytest.raises(InvalidInput, match="must end with one of"):
        figure_bytes(map_figure(np.eye(2)), "map.gif")


def test_pyplot_and_matplotlib_stay_out_until_a_figure_is_made():
    code = (
        "import sys, dualfold.view as v, numpy as np; assert 'matplotlib' not in sys.modules;"
        "v.map_figure(np.eye(2)); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_biplots_without_arrows_or_with_other_names():
    flat = biplot_figure(X[:, :2], np.zeros((2, 2)), ["a", "b"])
    assert not flat.axes[0].texts
    with pytest.raises(InvalidInput, match=r"one for each arrow \(2\); they are 1"):
        biplot_figure(X[:, :2], np.ones((2, 2)), ["a"])


def test_one_eigenvalue_has_no_gap():
    assert not scree_figure([2.0]).axes[0].texts
    assert "widest gap, after 1" in scree_figure([2.0, 0.1, 0.05]).axes[0].texts[0].get_text()


def test_points_behind_a_strip_keep_their_place_on_it():
    _, (axes,) = frames(1, (4.0, 3.0), title="", verdict="")
    draw_behind(axes, X[:, :1])
    drawn = np.asarray(axes.collections[0].get_offsets())
    np.testing.assert_allclose(drawn[:, 0], X[:, 0])
    name_axes(axes, 3, ("one", "two", "three"))  # a plane has no third axis to name
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("one", "two")


def test_the_density_over_a_strip_is_that_of_a_normal_kernel():
    rng = np.random.default_rng(3)
    for unit in (1.0, 1e-200, 1e200):
        values = unit * np.concatenate([rng.normal(-3, 1, 400), rng.normal(4, 0.5, 200)])
        places, heights = strip_density(values)
        known = values / unit
        spread = min(known.std(), np.subtract(*np.quantile(known, [0.75, 0.25])) / 1.34)
        peer = gaussian_kde(known, 0.9 * spread * 600**-0.2 / known.std(ddof=1))(places / unit)
        # Points are moved by half a cell at most, an eighth of the kernel's width.
        np.testing.assert_allclose(heights, peer / peer.max(), atol=0.03)
    (axes,) = map_figure(values[:, None]).axes
    assert axes.get_ylim()[1] > axes.lines[0].get_ydata().max() > 3


def test_a_gallery_may_end_in_a_panel_without_points():
    figure = gallery([[Panel(X[:, :2], title="a"), Panel(title="none", image=np.eye(3))]])
    assert [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes]
    assert len(figure.axes) == 2  # and no key, which would be of the last one
