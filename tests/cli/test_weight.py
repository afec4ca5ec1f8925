"""`--weight COLUMN`: a table with counts is the table with its rows repeated."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import prepare
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli.command_line import run

# Those that need no classes, and take other numbers than counts.
WEIGHTED = [
    name
    for name, one in DESCRIPTIONS.items()
    if one.weighted and not one.counts and "labels" not in one.needs
]
# Aboard the Titanic, by class, sex and survival (British Board of Trade, 1912).
TITANIC = """Class,Sex,Survived,Freq
1st,Male,No,118
2nd,Male,No,154
3rd,Male,No,422
Crew,Male,No,670
1st,Female,No,4
2nd,Female,No,13
3rd,Female,No,106
Crew,Female,No,3
1st,Male,Yes,62
2nd,Male,Yes,25
3rd,Male,Yes,88
Crew,Male,Yes,192
1st,Female,Yes,141
2nd,Female,Yes,93
3rd,Female,Yes,90
Crew,Female,Yes,20
"""


def with_long_ones_full(names: list[str]) -> list:
    """All methods, one of each kind in the fast tests."""
    fast = ("famd", "eigenmaps")
    return [name if name in fast else pytest.param(name, marks=pytest.mark.full) for name in names]


def counted_table(n: int = 40, least: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size = rng.normal(50, 30, n)
    return pd.DataFrame(
        {
            "size": size,
            "price": size / 40 + rng.normal(size=n),
            "kind": rng.choice(["x", "y", "z"], n),
            "times": rng.integers(least, 5, n),
        }
    )


def summary(path: str) -> dict:
    return json.loads(open(f"{path}.json").read())


@pytest.mark.parametrize("method", with_long_ones_full(WEIGHTED))
def test_counts_are_repeated_rows(here, method):
    """Standardised columns and shares of levels too: the whole way from the file."""
    frame = counted_table()
    frame.to_csv("t.csv", index=False)
    frame.loc[frame.index.repeat(frame["times"])].drop(columns="times").to_csv("r.csv", index=False)
    run("embed", "t.csv", "-m", method, "--weight", "times", "-o", "o.csv", "-q")
    run("embed", "r.csv", "-m", method, "-o", "p.csv", "-q")
    one, other = summary("o.csv"), summary("p.csv")
    assert one["reading"]["weight"] == "times"
    assert one["columns"] == other["columns"]
    np.testing.assert_allclose(one["eigenvalues"], other["eigenvalues"], rtol=1e-10)
    points = pd.read_csv("o.csv").iloc[:, -2:].to_numpy()
    repeated = pd.read_csv("p.csv").iloc[:, -2:].to_numpy()
    wanted = points[frame.index.repeat(frame["times"])]
    signs = np.sign((wanted * repeated).sum(axis=0))
    np.testing.assert_allclose(wanted * signs, repeated, atol=1e-8)


@pytest.mark.parametrize("method", with_long_ones_full([*WEIGHTED, "eigenmaps", "lpp"]))
def test_maps_and_models_are_judged_with_their_weights(here, method):
    counted_table(least=0 if method in WEIGHTED else 1).to_csv("t.csv", index=False)
    words = ("--weight", "times", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    run("embed", "t.csv", "-m", method, *words)
    for stored in ("o.csv", "m.dualfold"):
        judged = json.loads(run("certify", "t.csv", stored, "--json").stdout)
        assert judged["certificate"]["level"] == "proved"
    text = (here / "o.csv.json").read_text().replace('"weight": "times"', '"weight": null')
    (here / "o.csv.json").write_text(text)
    judged = run("certify", "t.csv", "o.csv", "--json", code=None)
    assert not json.loads(judged.stdout)["certificate"]["holds"]  # another problem
    frame = counted_table()[["size", "price", "kind"]]
    frame.to_csv("new.csv", index=False)  # new rows need no weights
    run("transform", "m.dualfold", "new.csv", "-o", "n.csv", "-q")
    assert len(pd.read_csv("n.csv")) == 40


def test_a_row_of_weight_0_must_be_where_it_belongs(here):
    frame = counted_table()
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "-m", "pca", "--weight", "times", "-o", "o.csv", "-q")
    points = pd.read_csv("o.csv")
    absent = int(np.flatnonzero(frame["times"] == 0)[0])
    points.loc[absent, "pca_1"] += 1
    points.to_csv("o.csv", index=False)
    judged = run("certify", "t.csv", "o.csv", "--json", code=None)
    assert not json.loads(judged.stdout)["certificate"]["holds"]


def test_a_column_that_plainly_holds_counts_is_offered(here):
    (here / "t.csv").write_text(TITANIC)
    said = run("embed", "t.csv", "-o", "o.csv").stderr
    assert "'Freq' looks like a number of rows" in said
    assert "--weight Freq counts each row that often instead" in said
    said = run("embed", "t.csv", "--weight", "Freq", "-o", "o.csv", "-f").stderr
    assert "'Freq' looks like" not in said


@pytest.mark.parametrize(
    ("name", "values", "offered"),
    [
        ("survey_weight", lambda rng: rng.uniform(200, 9000, 50), True),
        ("wt", lambda rng: (w := rng.uniform(0.2, 3, 50)) / w.mean(), True),
        ("wt", lambda rng: rng.normal(3.2, 0.9, 50), False),  # tons
        ("weight", lambda rng: rng.normal(75, 12, 50), False),  # kilograms
        ("count", lambda rng: rng.integers(1, 900, 50), False),  # beside other numbers
    ],
)
def test_other_columns_of_such_names_are_not(name, values, offered):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50), name: values(rng)})
    said = " ".join(map(str, prepare(frame).notices))
    assert ("weights of a survey" in said) == offered
    assert "a number of rows" not in said


def test_methods_without_weights_say_so(here):
    counted_table(least=1).to_csv("t.csv", index=False)
    for method in ("tsne", "isomap", "diffusion_maps"):
        done = run("embed", "t.csv", "-m", method, "--weight", "times", "-o", "o.csv", code=2)
        assert f"--weight times has no use for {method}" in done.stderr
    done = run("compare", "t.csv", "--methods", "pca,tsne", "--weight", "times", code=2)
    assert "has no use for tsne" in done.stderr
    run("compare", "t.csv", "--methods", "pca,lpp", "--weight", "times")


def test_columns_that_are_no_weights_are_refused(here):
    frame = counted_table().assign(below=-1.0, none=0, lacking=[None, *range(39)])
    frame.to_csv("t.csv", index=False)
    for name, words in {
        "below": "--weight is -1.0 in row 1",
        "none": "--weight is zero for every row",
        "lacking": "--weight is nan in row 1",
        "kind": "--weight must hold numbers",
        "nothing": "--weight nothing names no column",
    }.items():
        done = run("embed", "t.csv", "--weight", name, "-o", "o.csv", code=1)
        assert words in done.stderr
    done = run("embed", "t.csv", "-m", "lle", "--weight", "times", "-o", "o.csv", code=1)
    assert "a point without mass is not determined" in done.stderr


def test_tables_in_tiles_have_weights(here):
    pytest.importorskip("dask")
    pytest.importorskip("pyarrow")
    frame = counted_table()
    frame.to_parquet("t.parquet")
    words = ("--weight", "times", "-q")
    run("embed", "t.parquet", "-m", "famd", "-o", "m.parquet", "--memory-limit", "1GB", *words)
    run("embed", "t.parquet", "-m", "famd", "-o", "o.parquet", *words)
    one, other = (
        pd.read_parquet(name).iloc[:, -2:].to_numpy() for name in ("m.parquet", "o.parquet")
    )
    np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-9)


def test_explore_takes_a_column_of_weights():
    frame = counted_table()
    found = dualfold.explore(frame, weight="times")
    rows = frame.loc[frame.index.repeat(frame["times"])].drop(columns="times")
    other = dualfold.explore(rows, "famd")
    values = found.estimator.eigenvalues_, other.estimator.eigenvalues_
    np.testing.assert_allclose(*values, rtol=1e-10)
    assert found.transform(frame).shape == (40, 2)


def weighted_map(here) -> tuple[np.ndarray, np.ndarray]:
    """A table with weights and its map in files; neighbours kept of each row, and the weights."""
    frame = counted_table(110)
    frame.to_csv("t.csv", index=False)
    words = ("--weight", "times", "-o", "o.csv", "--json", "-q")
    said = json.loads(run("embed", "t.csv", "-m", "famd", *words).stdout)
    data = prepare(frame, dualfold.data.Reading(weight="times"))
    points = pd.read_csv("o.csv").iloc[:, -2:].to_numpy()
    kept = dualfold.quality.t_similarity(data.X, points, 10, per_point=True)
    assert said["picture_quality"]["kept"] == pytest.approx(np.average(kept, weights=data.weights))
    return kept, data.weights


def test_maps_are_measured_and_audited_with_the_weights_that_made_them(here):
    kept, weights = weighted_map(here)
    mean = np.average(kept, weights=weights)
    measured = json.loads(run("report", "t.csv", "o.csv", "--json").stdout)
    assert measured["measures"]["t_similarity"] == pytest.approx(mean)
    assert measured["effective_rows"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    audited = json.loads(run("audit", "t.csv", "o.csv", "--json").stdout)
    assert audited["picture_quality"]["kept"] == pytest.approx(mean)
    pd.read_csv("o.csv").iloc[:, -2:].to_csv("other.csv", index=False)  # of another program
    measured = json.loads(run("report", "t.csv", "other.csv", "--weight", "times", "--json").stdout)
    assert measured["measures"]["t_similarity"] == pytest.approx(mean)


def test_a_recommendation_with_weights_says_which_methods_are_tried(here):
    counted_table(50).to_csv("t.csv", index=False)
    done = run("recommend", "t.csv", "--weight", "times", code=1)
    assert "needs 40 rows or more with a weight above 0" in done.stderr
    counted_table(60).to_csv("t.csv", index=False)
    done = run("recommend", "t.csv", "--weight", "times")
    assert "only methods that take weights, also those of 0, are tried" in done.stderr
    assert "--weight times" in done.stderr  # in the next command
