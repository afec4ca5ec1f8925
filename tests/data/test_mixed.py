"""Ordinary tables: categories, gaps, different units, columns that say nothing."""

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import Reading, digits, prepare, swiss_roll
from dualfold.errors import InvalidInput
from tests.cli.command_line import run
from tests.data.door import different_units
from tests.graph.door import present_nearest
from tests.tools.tables import animals


@pytest.fixture
def frame():
    return animals()


def test_orders_dates_and_seasons(frame):
    frame["size class"] = pd.Categorical(
        np.where(frame["size"] > 1, "big", "small"), ["small", "big"], ordered=True
    )
    found = prepare(frame, Reading(exclude=("kind", "tame")))
    assert found.names == ("size", "weight", "born", "size class")
    np.testing.assert_array_equal(found.table.X[:, 2] - found.table.X[0, 2], np.arange(120))
    np.testing.assert_array_equal(found.table.X[:, 3], frame["size"] > 1)
    asked = Reading(exclude=("kind", "size class"), season="born", ordered="tame=no,yes")
    found = prepare(frame, asked)
    season = found.table.X[:, found.names.index("born (winter)") :][:, :2]
    np.testing.assert_allclose(np.sum(season**2, axis=1), 1)
    later = frame.assign(born=pd.to_datetime(frame["born"]) + pd.DateOffset(years=1))
    year = found.preparation.apply(later).table.X[:, found.names.index("born (winter)") :][:, :2]
    assert np.abs(year - season).max() < 0.02  # the same day, a year later
    np.testing.assert_array_equal(found.table.X[:, found.names.index("tame")], frame.tame == "yes")


# ---- what an analyst would do with numbers


def test_columns_in_different_units_get_the_same_weight(frame):
    numbers = frame[["size", "weight"]]
    found = prepare(numbers)
    np.testing.assert_allclose(found.X.std(axis=0), 1)
    assert any("'weight' spreads" in notice for notice in found.notices)
    np.testing.assert_array_equal(prepare(numbers, Reading(standardize=False)).X, numbers)
    one_unit = numbers.assign(weight=numbers["weight"] / 1000)
    np.testing.assert_array_equal(prepare(one_unit).X, one_unit)


def test_pixels_spectra_and_coordinates_stay_as_they_are():
    images = digits()
    assert prepare(images.points).preparation.standard is None
    named = pd.DataFrame(images.points, columns=images.names)
    assert prepare(named).X.shape == (1797, 64)  # pixels that are always empty, too
    roll = swiss_roll(300, random_state=0).points
    assert prepare(roll * [1, 1, 3]).preparation.standard is None
    waves = np.arange(900, 1000, 5)
    rng = np.random.default_rng(0)
    peak = 1 + rng.random((50, 1)) * np.exp(-(((waves - 940) / 8) ** 2))
    spectra = pd.DataFrame(peak + 1e-3 * rng.random(peak.shape), columns=[f"{w} nm" for w in waves])
    assert prepare(spectra).preparation.standard is None
    # The same numbers under other names are not known to be of one kind.
    assert different_units(spectra.to_numpy(), [f"v{w}" for w in waves]) is not None


def test_columns_that_say_nothing_are_left_out_by_name(frame):
    table = frame[["size", "weight"]].assign(same=3.0, again=frame["weight"], row=range(120))
    table["zip"] = [f"{row % 70:05d}" for row in range(120)]
    found = prepare(table)
    assert found.names == ("size", "weight")
    said = "\n".join(found.notices)
    assert "'same': the same value in every row, left out; keep=['same'] uses it" in said
    assert "'again' (as 'weight'): equal to another column in every row" in said
    assert "'row': named like identifiers, left out" in said
    assert "'zip': codes (digits with a zero before them)" in said
    kept = prepare(table, Reading(keep=("same", "again", "row", "zip")))
    assert kept.names[:5] == ("size", "weight", "same", "again", "row")
    assert sum(name.startswith("zip=") for name in kept.names) == 70


def test_constant_coordinates_are_left_out_and_constant_pixels_stay():
    rng = np.random.default_rng(0)
    plane = pd.DataFrame(rng.uniform(size=(50, 3)), columns=["x", "y", "z"]).assign(z=0.5)
    found = prepare(plane)
    assert found.names == ("x", "y")
    assert "'z': the same value in every row, left out; keep=['z'] uses it" in found.notices
    pixels = rng.integers(0, 256, (50, 16)).astype(float)
    pixels[:, 3] = 0
    assert len(prepare(pd.DataFrame(pixels).add_prefix("p")).names) == 16


def test_logarithms_that_are_asked_for(frame):
    spent = np.exp(3 + 1.5 * np.random.default_rng(1).normal(size=120))
    table = frame[["size"]].assign(spent=spent)
    for reading in (Reading(auto=True), Reading(log="spent")):
        found = prepare(table, reading)
        assert found.names == ("size", "log spent")
        np.testing.assert_array_equal(found.table.X[:, 1], np.log(spent))
    with pytest.raises(InvalidInput, match="'size' has no logarithm everywhere") as caught:
        prepare(table, Reading(log="size"))
    assert caught.value.argument == "log"


# ---- gaps


def test_a_gap_in_a_category_becomes_shares_that_add_up_to_1(frame):
    frame = frame.drop(columns="born").astype({"kind": object})
    frame.loc[:9, "kind"] = None
    found = prepare(frame)
    assert found.X.shape[0] == 120
    kind = [place for place, name in enumerate(found.names) if name.startswith("kind=")]
    shares = found.table.X[:10, kind]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.ptp(shares, axis=0).max() > 0.05  # by the row, not by the column alone
    assert any("missing values in 'kind' (10); filled in" in notice for notice in found.notices)
    assert len(prepare(frame, Reading(missing="drop")).rows) == 110


# ---- Gower's distance


def gower(a, b):
    """The mean over the columns that both rows have: share of the range, or same and different."""
    ranges = {name: a[name].max() - a[name].min() for name in a if a[name].dtype.kind == "f"}
    D = np.empty((len(a), len(b)))
    for i, x in enumerate(a.to_dict("records")):
        for j, y in enumerate(b.to_dict("records")):
            parts = [
                abs(x[name] - y[name]) / ranges[name] if name in ranges else x[name] != y[name]
                for name in x
                if not (pd.isna(x[name]) or pd.isna(y[name]))
            ]
            D[i, j] = np.mean(parts) if parts else np.inf
    return D


def test_manhattan_distances_of_a_table_scaled_for_it_are_gowers(frame):
    table = frame[["size", "weight", "kind", "tame"]]
    X = prepare(table, Reading(mixed="gower")).X
    expected = gower(table, table)
    np.testing.assert_allclose(np.abs(X[:, None] - X[None]).sum(axis=2), expected, atol=1e-12)
    found = dualfold.graph.nearest(X, 5, metric="manhattan")
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(found.distances, np.sort(expected, axis=1)[:, :5], atol=1e-12)


def test_distances_over_what_is_present(frame):
    table = frame[["size", "weight", "kind", "tame"]].astype({"kind": object, "tame": object})
    whole = prepare(table, Reading(mixed="gower"))
    gap = np.random.default_rng(0).random(table.shape) < 0.15
    X, sources = whole.X.copy(), [whole.sources.index(n.split("=")[0]) for n in whole.names]
    X[gap[:, sources]] = np.nan
    weights = 1 / np.bincount(sources)[sources]
    rare = table.mask(gap)
    # The ranges are those of the whole table.
    expected = np.array(gower(pd.concat([table, rare]), rare)[len(table) :])
    np.fill_diagonal(expected, np.inf)
    found = present_nearest(X, 6, weights=weights)
    order = np.sort(expected, axis=1)[:, :6]
    np.testing.assert_allclose(found.distances, order, atol=1e-12)
    chosen = np.take_along_axis(expected, found.indices, axis=1)
    np.testing.assert_allclose(chosen, found.distances, atol=1e-12)
    other = present_nearest(X, 1, queries=X[3:4], weights=weights)
    assert (other.indices[0, 0], other.distances[0, 0]) == (3, 0.0)


def test_maps_by_gowers_distance(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "--mixed", "gower", "-o", "m.csv")
    X = prepare("t.csv", Reading(mixed="gower")).X
    points = dualfold.ClassicalMDS(2, metric="manhattan").fit_transform(X)
    np.testing.assert_array_equal(pd.read_csv("m.csv", float_precision="round_trip"), points)
    run("certify", "t.csv", "m.csv")
    refused = run("embed", "t.csv", "--mixed", "gower", "-m", "lle", code=1).stderr
    assert "--mixed gower gives distances, and lle needs columns; take one of mds" in refused


# ---- files


def test_points_between_thousands_leave_dates_alone_and_zeros_stay(tmp_path):
    text = "zip;when;amount\n01234;01.02.2024;1.234,5\n99999;13.02.2024;7\n10001;14.02.2024;1.000\n"
    (tmp_path / "t.csv").write_text(text)
    found = prepare(tmp_path / "t.csv", Reading(thousands="."))
    assert found.names == ("amount", "when")
    np.testing.assert_array_equal(found.table.X[:, 0], [1234.5, 7, 1000])
    np.testing.assert_array_equal(np.diff(found.table.X[:, 1]), [12, 1])
    assert list(found.labels["zip"]) == ["01234", "99999", "10001"]


def test_lines_of_more_than_131072_characters(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 8_000))
    lines = [",".join(f"g{place}" for place in range(8_000))]
    lines += [",".join(map(str, row)) for row in X.tolist()]
    assert max(map(len, lines)) > 131_072
    (tmp_path / "t.csv").write_text("\n".join(lines))
    np.testing.assert_array_equal(prepare(tmp_path / "t.csv").X, X)  # all of one unit


def test_a_separator_of_ones_own(tmp_path):
    (tmp_path / "t.csv").write_text("a~b\n1,5~2\n2,5~4\n3,5~7\n")
    found = prepare(tmp_path / "t.csv", Reading(separator="~"))
    np.testing.assert_array_equal(found.X, [[1.5, 2], [2.5, 4], [3.5, 7]])


def test_json_lines(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True, double_precision=15)
    text = prepare(tmp_path / "t.csv")
    found = prepare(tmp_path / "t.jsonl")
    assert (found.names, found.sources) == (text.names, text.sources)
    np.testing.assert_allclose(found.X, text.X, atol=1e-9)
    (tmp_path / "t.jsonl").write_text('{"a": 1.5, "b": 2}\n\n{"b": 3}\n{"a": 2.5, "b": 7}\n')
    np.testing.assert_array_equal(
        prepare(tmp_path / "t.jsonl", Reading(missing="drop")).rows, [0, 2]
    )
    for broken, words in (
        ('{"a": 1}\n{"a"', "line 2 of .* is not a readable JSON lines file: "),
        ("3\n", "no JSON object"),
    ):
        (tmp_path / "t.jsonl").write_text(broken)
        with pytest.raises(InvalidInput, match=words):
            prepare(tmp_path / "t.jsonl")


def test_a_word_among_the_numbers_of_new_rows_is_refused_by_name():
    rows = pd.DataFrame({"power": [88.0, 3.0, 90.0, 7.0] * 5, "kind": ["p", "q"] * 10})
    new = rows.assign(power=np.array([88.0, "abc", None, 1.0] * 5, dtype=object))
    for reading in (Reading(), Reading(log="power")):
        with pytest.raises(InvalidInput, match="'abc'"):
            prepare(rows, reading).preparation.apply(new)


def test_text_cells_of_spreadsheets(tmp_path):
    """A postcode keeps its zero, as in CSV; a number stored as text is a number all the same."""
    pytest.importorskip("openpyxl")
    rows = np.arange(30)
    cells = pd.DataFrame({
        "zip": [f"{7 * row:05d}" for row in rows],
        "typed": [f"{row**2}.5" for row in rows],
        "some": [str(row % 7) if row % 3 else row % 7 for row in rows],
        "gap": [None if row == 4 else row % 5 for row in rows],
        "flag": [None if row == 2 else row % 2 == 0 for row in rows],
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rows**2, unit="D"),
    })  # fmt: skip
    cells.to_excel(tmp_path / "t.xlsx", index=False)
    cells.to_csv(tmp_path / "t.csv", index=False)
    found, plain = (prepare(tmp_path / name) for name in ("t.xlsx", "t.csv"))
    assert found.sources == plain.sources == ["typed", "some", "gap", "flag", "day"]
    np.testing.assert_allclose(found.X, plain.X)
    np.testing.assert_array_equal(found.label("zip"), cells["zip"])
    assert any("'zip': codes" in notice for notice in found.notices)


def test_spreadsheets(frame, tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "t.xlsx") as writer:
        frame.to_excel(writer, sheet_name="animals", index=False)
        frame[["size"]].to_excel(writer, sheet_name="sizes", index=False)
    found = prepare(tmp_path / "t.xlsx")
    np.testing.assert_allclose(found.X, prepare(frame).X)
    assert any("further sheets, 'sizes'" in notice for notice in found.notices)
    sizes = prepare(tmp_path / "t.xlsx", Reading(array="sizes"))
    np.testing.assert_allclose(sizes.X, frame[["size"]])
    with pytest.raises(InvalidInput, match=r"names no sheet of .*'animals', 'sizes'") as caught:
        prepare(tmp_path / "t.xlsx", Reading(array="plants"))
    assert caught.value.argument == "array"
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(InvalidInput, match=r"not a readable .xlsx file"):
        prepare(tmp_path / "t.xlsx")


def test_an_order_names_every_level(tmp_path):
    table = pd.DataFrame({"x": np.arange(40.0) ** 2, "size": ["small", "big", "huge", "big"] * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InvalidInput, match=r"leaves out 'huge', which the column holds too"):
        prepare(tmp_path / "t.csv", Reading(ordered="size=small,big"))
    whole = prepare(tmp_path / "t.csv", Reading(ordered="size=small,big,huge"))
    assert not np.isnan(whole.X).any()


def test_populations_are_no_identifiers(tmp_path):
    """Whole numbers, all different: those of many sizes are quantities."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "years": rng.normal(60, 9, 400),
            "people": rng.choice(
                np.unique(np.exp(rng.normal(12, 3, 4000)).astype(int)), 400, False
            ),
            "customer": rng.choice(10**8, 400, replace=False),
        }
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    assert prepare(tmp_path / "t.csv").names == ("years", "log people")
