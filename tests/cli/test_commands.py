"""The commands around maps: their numbers are the library's, their words are plain."""

import functools
import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dualfold
from dualfold.cli import app
from dualfold.data import read_metadata, swiss_roll
from dualfold.descriptions import DESCRIPTIONS
from dualfold.saved import load_model

# pandas 2 rounds the last digit unless told not to; later ones never do.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
exact_csv = functools.partial(pd.read_csv, **EXACT)

X = swiss_roll(150, random_state=0).points


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    frame["name"] = [f"r{row}" for row in range(len(X))]
    frame["when"] = [f"2020-0{1 + row % 9}-11" for row in range(len(X))]
    frame.to_csv("roll.csv", index=False)
    return tmp_path


def run(*words, code=0, **more):
    result = CliRunner().invoke(app, [str(word) for word in words], **more)
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.stderr
    return result


ESTIMATORS = {
    "pca": lambda: dualfold.PCA(2),
    "isomap": lambda: dualfold.Isomap(n_neighbors=10),
    "eigenmaps": lambda: dualfold.LaplacianEigenmaps(coordinates="independent"),
    "lle": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, coordinates="independent"),
    "lpp": lambda: dualfold.LocalityPreservingProjection(2),
}


@pytest.mark.parametrize("method", ESTIMATORS)
def test_transform_places_rows_as_the_estimator_does(here, method):
    words = ("--save-model", "m.dualfold", "-q", "--exclude", "when")
    run("embed", "roll.csv", "-m", method, *words)
    # another order, another column, and whole numbers where they may look like identifiers
    new = pd.DataFrame({"z": X[:, 2], "extra": 1.5, "x": X[:, 0], "y": X[:, 1]})
    new.to_csv("new.csv", index=False)
    done = run("transform", "m.dualfold", "new.csv", "--json", "-q")
    found = exact_csv("new.placed.csv").drop(columns="p_value").to_numpy()
    expected = ESTIMATORS[method]().fit(X).transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-7 * np.abs(expected).max())
    assert json.loads(done.stdout)["rows"] == len(X)


def test_transform_keeps_the_scale_and_the_means_of_the_old_rows(here):
    frame = pd.DataFrame(X * [1, 50, 1], columns=["x", "y", "z"])
    frame.to_csv("t.csv", index=False)
    run("embed", "t.csv", "--standardize", "--save-model", "m.dualfold", "-q")
    gap = pd.DataFrame({"x": [np.nan, 3.0], "y": [40.0, 5.0], "z": [1.0, 2.0]})
    gap.to_csv("gap.csv", index=False)
    refused = run("transform", "m.dualfold", "gap.csv", "--missing", "raise", code=1)
    assert "--missing drop" in refused.stderr
    told = run("transform", "m.dualfold", "gap.csv").stderr
    assert "1 missing values were filled with the means of the model's own rows" in told
    filled = gap.fillna({"x": frame["x"].mean()}).to_numpy()
    scaled = (filled - frame.to_numpy().mean(axis=0)) / frame.to_numpy().std(axis=0)
    model = load_model("m.dualfold")
    expected = model.map.encode(scaled)
    placed = exact_csv("gap.placed.csv").drop(columns="p_value")
    np.testing.assert_allclose(placed.to_numpy(), expected, atol=1e-9)


def test_transform_of_rows_that_do_not_fit(here):
    words = ("--save-model", "m.dualfold", "-q", "--exclude", "when")
    run("embed", "roll.csv", "-m", "isomap", *words)
    pd.DataFrame(X, columns=["X", "y", "z"]).to_csv("other.csv", index=False)
    wrong = run("transform", "m.dualfold", "other.csv", code=1)
    assert "1 column is needed that the table has not: 'x'" in wrong.stderr
    assert "no readable model" in run("transform", "roll.csv", "other.csv", code=1).stderr
    far = pd.DataFrame(X[:3] + 1000, columns=["x", "y", "z"])
    far.to_csv("far.csv", index=False)
    assert "3 of 3 new rows are foreign" in run("transform", "m.dualfold", "far.csv").stderr


@pytest.mark.parametrize("method", ["pca", "isomap", "eigenmaps", "lle", "lpp", "npp"])
def test_certify_holds_for_what_was_written_and_not_for_a_changed_file(here, method):
    near = ["-k", 12] if DESCRIPTIONS[method].needs_graph else []
    run("embed", "roll.csv", "-m", method, *near, "-o", "m.csv", "--id", "name", "-q")
    assert "Proved" in run("certify", "roll.csv", "m.csv").stderr
    changed = exact_csv("m.csv")
    changed.loc[4, f"{method}_1"] += 0.01 * np.ptp(changed[f"{method}_1"])
    changed.to_csv("m.csv", index=False)
    failed = run("certify", "roll.csv", "m.csv", "--json", code=3)
    assert json.loads(failed.stdout)["certificate"]["level"] == "failed"
    changed.iloc[::-1].to_csv("m.csv", index=False)
    assert "different 'name'" in run("certify", "roll.csv", "m.csv", code=1).stderr


def test_certify_judges_both_sides_of_an_unfolding(here):
    exact_csv("roll.csv").head(60).to_csv("r.csv", index=False)
    run("embed", "r.csv", "-m", "mvu", "-k", 5, "--save-model", "m.dualfold", "-o", "m.parquet")
    assert "dual weights" in run("certify", "r.csv", "m.parquet", code=3).stderr
    proved = run("certify", "r.csv", "m.parquet", "--model", "m.dualfold", "--json")
    assert json.loads(proved.stdout)["certificate"]["level"] == "proved"


def test_report_is_the_librarys(here):
    run("embed", "roll.csv", "-m", "isomap", "-q", "--mixed", "numbers")
    done = run("report", "roll.csv", "roll.isomap.csv", "--json", "-p", "q.png", "-o", "q.csv")
    found = json.loads(done.stdout)
    points = exact_csv("roll.isomap.csv").to_numpy()
    expected = dualfold.quality.report(X, points)
    assert found["measures"]["trustworthiness"] == expected.measures["trustworthiness"]
    along = dualfold.residual_variance(dualfold.graph.knn(X, 10), points)
    assert found["measures"]["geodesic_residual_variance"] == pytest.approx(float(along))
    np.testing.assert_array_equal(
        exact_csv("q.csv")["trustworthiness"], expected.per_point["trustworthiness"]
    )
    assert (here / "q.png").stat().st_size > 5000
    pd.DataFrame(X[:5, :2], columns=["u", "v"]).to_csv("short.csv", index=False)
    assert "5 points" in run("report", "roll.csv", "short.csv", code=1).stderr


def test_compare_puts_methods_side_by_side(here):
    words = ["compare", "roll.csv", "--methods", "pca,isomap,eigenmaps", "--color", "when"]
    done = run(*words, "--json", "-p", "c.png", "-o", "all.csv")
    rows = json.loads(done.stdout)["results"]
    assert [row["method"] for row in rows] == ["pca", "isomap", "eigenmaps"]
    points = dualfold.embed(dualfold.methods.pca(X)).points
    assert rows[0]["t_similarity"] == pytest.approx(dualfold.t_similarity(X, points))
    assert all(row["certificate"]["level"] == "proved" for row in rows)
    assert list(exact_csv("all.csv"))[:2] == ["when", "pca_1"]
    best = max(rows, key=lambda row: row["t_similarity"])["method"]
    assert f"Try next:  dualfold embed roll.csv --method {best}" in done.stderr
    assert "proved optimal" in run(*words).stdout


def test_identical_rows_are_told(here):
    pd.DataFrame(np.ones((20, 2)), columns=["a", "b"]).to_csv("same.csv", index=False)
    assert "all 20 rows are the same" in run("embed", "same.csv").stderr
    assert any("same" in note for note in read_metadata("same.pca.csv")["notices"])
    pd.DataFrame(np.repeat(X[:4], 15, axis=0), columns=["a", "b", "c"]).to_csv(
        "four.csv", index=False
    )
    assert "15 rows are identical" in run("embed", "four.csv", "-m", "isomap").stderr


@pytest.mark.parametrize("command", ["embed", "transform", "compare", "report", "certify"])
def test_help_shows_examples_first(command):
    shown = run(command, "--help").stdout
    assert shown.index("Examples:") < shown.index("Options:")


def test_h5ad_in_and_out(here):
    anndata = pytest.importorskip("anndata", reason="h5ad files need anndata")
    run("embed", "roll.csv", "--color", "when", "-o", "roll.h5ad", "-q")
    first = anndata.read_h5ad("roll.h5ad")
    assert first.obsm["X_pca"].shape == (150, 2)
    assert "Proved" in run("certify", "roll.csv", "roll.h5ad").stderr
    run("embed", "roll.h5ad", "--array", "X_pca", "-m", "isomap", "-o", "again.h5ad", "-q")
    assert sorted(anndata.read_h5ad("again.h5ad").obsm) == ["X_isomap", "X_pca"]


# ---- shell completion, by the protocol that the printed scripts speak


def completed(shell, *words, **more):
    """What a shell would be offered after these words, the last of which may be half."""
    line = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    line["_TYPER_COMPLETE_ARGS"] = " ".join(words)
    environment = line | {"_DUALFOLD_COMPLETE": f"complete_{shell}"} | more
    result = CliRunner().invoke(app, [], prog_name="dualfold", env=environment)
    return result.stdout.split("\n") if shell == "bash" else result.stdout


def test_commands_methods_and_words_complete():
    def offered(*words):
        return [word for word in completed("bash", "dualfold", *words) if word]

    assert {"embed", "compare", "certify", "methods"} <= set(offered(""))
    assert offered("tr") == ["transform"]
    assert offered("embed", "t.csv", "--method", "") == [*DESCRIPTIONS, "auto"]
    assert offered("embed", "t.csv", "-m", "is") == ["isomap"]
    assert offered("compare", "t.csv", "--methods", "pca,isomap,l") == [
        f"pca,isomap,{name}" for name in ("lle", "ltsa", "lpp")
    ]
    assert offered("embed", "t.csv", "--missing", "") == ["auto", "raise", "drop", "mean", "impute"]
    assert offered("embed", "t.csv", "--save") == ["--save-model"]
    assert offered("embed", "t.csv", "--format", "np") == ["npy", "npz"]
    assert offered("embed", "t.csv", "-m", "isomap", "--la") == [
        "--labels",
        "--landmark-rows",
        "--landmarks",
    ]
    assert offered("embed", "t.csv", "-m", "eigenmaps", "--la") == ["--labels", "--landmark-rows"]
    assert offered("embed", "t.csv", "-m", "isomap", "--pieces", "s") == ["separate"]
    assert offered("compare", "t.csv", "--methods", "pca,mvu", "--an") == ["--angles"]


def test_files_complete_to_files():
    # bash and fish fall back to files where nothing is offered, zsh is told to
    assert not any(completed("bash", "dualfold", "embed", "ro"))
    assert completed("zsh", "dualfold embed ro").strip() == "_files"
    asked = {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}
    environment = {"_DUALFOLD_COMPLETE": "complete_fish", **asked}
    for line, code in (("dualfold embed ro", 1), ("dualfold embed -m is", 0)):
        more = environment | {"_TYPER_COMPLETE_ARGS": line}
        assert CliRunner().invoke(app, [], prog_name="dualfold", env=more).exit_code == code


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_the_shell_is_printed(shell):
    environment = {"_DUALFOLD_COMPLETE": f"source_{shell}"}
    script = CliRunner().invoke(app, [], prog_name="dualfold", env=environment).stdout
    assert f"_DUALFOLD_COMPLETE=complete_{shell}" in script
    closing = {"bash": "-F _dualfold_completion dualfold", "zsh": "compdef _dualfold_completion"}
    assert closing.get(shell, "complete --command dualfold") in script


def test_pictures_of_another_shape_are_refused_before_any_work(here):
    refused = run("embed", "roll.csv", "--html", "roll.html", "--images", "3x3", code=1)
    assert "give --images the shape of a row" in refused.stderr
    assert not list(here.glob("*.pca.*"))


def test_one_column_in_grams_does_not_buy_a_good_verdict(tmp_path, monkeypatch):
    """Neighbours are counted with equal columns, and a poor map says so before "Proved"."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)) * [1, 1, 1, 1000]
    pd.DataFrame(X, columns=[*"abcd"]).to_csv("grams.csv", index=False)
    told = run("embed", "grams.csv", "-d", "1", "--no-standardize")
    lines = [line for line in told.stderr.splitlines() if "?" in line]
    assert lines[0].startswith("A good picture? Poor: it keeps ")
    assert "with every column at the same weight" in lines[0]
    assert lines[1].startswith("Solved? Proved: ")
    stored = read_metadata("grams.pca.csv")
    points = pd.read_csv("grams.pca.csv").to_numpy()
    even = (X - X.mean(axis=0)) / X.std(axis=0)
    assert stored["t_similarity"] == pytest.approx(dualfold.t_similarity(even, points), abs=1e-3)
    assert dualfold.t_similarity(X, points) > 0.9 > 0.2 > stored["t_similarity"]
    assert stored["picture_quality"]["chance"] == 10 / 299


def test_certify_names_a_table_that_is_no_map(here):
    (here / "gaps.csv").write_text("a,b\n1,\n2,3\n4,5\n")
    refused = run("certify", "roll.csv", "gaps.csv", code=1).stderr
    assert "gaps.csv has no settings of dualfold beside it" in refused


def test_no_command_answers_in_python(here):
    """Options of other commands are named as theirs; no argument of a function is shown."""
    pd.DataFrame({"a": X[:, 0], "b": 1000 * X[:, 1], "y": X[:, 2]}).to_csv("t.csv", index=False)
    pd.DataFrame(X[:9], columns=["a", "b", "y"]).to_csv("few.csv", index=False)
    run("embed", "t.csv", "--id", "y", "--no-standardize", "-q", "-o", "map.csv")
    run("embed", "t.csv", "-q", "-o", "other.csv", "--save-model", "m.dualfold")
    told = run("certify", "t.csv", "other.csv").stderr
    assert "--color y (of `dualfold embed`) keeps it apart" in told
    assert "--exclude y (of `dualfold embed`) leaves it out" in told
    told += run("certify", "roll.csv", "map.csv", code=1).stderr
    told += run("certify", "few.csv", "map.csv", code=1).stderr
    told += run("embed", "t.csv", "--biplot", "b.png", "-d", 1, "-o", "one.csv", code=1).stderr
    told += run("transform", "t.csv", "few.csv", code=1).stderr
    told += run("embed", "t.csv", "-m", "auto", "--memory-limit", "1GB", code=1).stderr
    for word in ("Python", "save_model", "=[", "='", "=True"):
        assert word not in told


def test_certify_shows_the_neighbours_that_a_map_states_and_no_others(here):
    """t-SNE chooses its neighbours by the perplexity: the stored setting is null."""
    words = ("-m", "tsne", "--max-iter", 250, "--exclude", "when", "-q")
    run("embed", "roll.csv", *words, "-o", "map.csv")
    assert read_metadata("map.csv")["settings"]["n_neighbors"] is None
    told = run("certify", "roll.csv", "map.csv", code=3).stderr
    assert "Judged as tsne, 2 coordinates, --max-iter 250, of 3 columns" in told
    run("embed", "roll.csv", *words, "-k", 40, "-o", "forty.csv")
    told = run("certify", "roll.csv", "forty.csv", code=3).stderr
    assert "tsne, 2 coordinates, --n-neighbors 40 --max-iter 250, of" in told
    run("embed", "roll.csv", "-m", "isomap", "-k", 12, "--exclude", "when", "-q", "-o", "i.csv")
    told = run("certify", "roll.csv", "i.csv").stderr
    assert "Judged as isomap, 2 coordinates, 12 neighbours, of" in told


def test_the_help_of_certify_says_what_is_computed_again():
    """Independent coordinates are some of the vectors of a problem; the others are solved for."""
    told = " ".join(run("certify", "--help").stdout.split())
    assert "Nothing is solved" not in told
    assert "(float32 points, independent coordinates, Fisher discriminants) are computed" in told
