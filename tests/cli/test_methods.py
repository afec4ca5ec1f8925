"""The command line fits the estimators: same table, same options, the same bits."""

import json
from numbers import Integral

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import Reading, prepare, swiss_roll
from dualfold.errors import DualfoldError
from dualfold.judging import Judgement
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.cli import command_line
from tests.cli.command_line import exact_csv
from tests.cli.door import as_word, chi_square_rows, method_options, read_metadata
from tests.cli.door import coordinates_option as coordinates

# About as far apart as numbers of constraints are: a radius of 1 is a neighbourhood.
ROLL = np.abs(swiss_roll(60, random_state=0).points / 4)  # counts have no signs
KINDS = np.array(["low", "middle", "high"])[np.digitize(ROLL[:, 1], [1.6, 3.4])]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROLL, columns=["x", "y", "z"])
    frame["name"] = [f"n{row}" for row in range(len(ROLL))]
    frame["kind"] = KINDS
    frame.to_csv("roll.csv", index=False)
    return tmp_path


def run(*words, code=0):
    # These are about methods; what becomes of categories is in test_mixed.py.
    numbers = ["--mixed", "numbers"] if words[0] in ("embed", "compare") else []
    return command_line.run(*words, *(numbers if words[-1] != "--help" else []), code=code)


def fitted(method, **options):
    """The estimator with the options, and the defaults of the command line."""
    row = DESCRIPTIONS[method]
    estimator = row.estimator_class()(**({"n_components": 2} | row.estimator_parameters(options)))
    given = {"standardize": True} if row.scaled else {}
    given |= {"mixed": "counts"} if row.counts else {}
    table = prepare("roll.csv", Reading(identifier="name", labels="kind", **given))
    return estimator, estimator.fit_transform(table.X, table.classes)


def labels(method, **options):
    """The words that name the classes, for methods that use them."""
    row = DESCRIPTIONS[method]
    if row.counts:  # these refuse further columns of text
        return ["--exclude", "kind"]
    return ["--labels", "kind"] if "labels" in row.needs or options.get("supervised") else []


@pytest.mark.filterwarnings("ignore::dualfold.errors.DualfoldWarning")
@pytest.mark.parametrize("method", DESCRIPTIONS)
def test_the_file_holds_the_estimators_numbers_and_its_certificate(here, method):
    result = run("embed", "roll.csv", "-m", method, "--id", "name", *labels(method))
    estimator, points = fitted(method)
    written = exact_csv(f"roll.{method}.csv")
    assert list(written) == ["name", f"{method}_1", f"{method}_2"]
    np.testing.assert_array_equal(written.iloc[:, 1:].to_numpy().astype(points.dtype), points)
    assert list(written["name"]) == list(exact_csv("roll.csv")["name"])
    metadata = read_metadata(f"roll.{method}.csv")
    assert metadata["certificate"] == estimator.certificate_.to_dict()
    assert metadata["eigenvalues"] == list(getattr(estimator, "eigenvalues_", []))
    assert metadata["settings"].items() >= {"method": method, "n_components": 2}.items()
    assert metadata["features"] == ["x", "y", "z"]
    even = (ROLL - ROLL.mean(axis=0)) / ROLL.std(axis=0)
    seen = even if DESCRIPTIONS[method].scaled else ROLL
    seen = chi_square_rows(ROLL) if DESCRIPTIONS[method].counts else seen
    assert metadata["t_similarity"] == dualfold.t_similarity(seen, points)
    assert result.stdout == ""
    # No plane has the distances of a roll, and bounds of the least stress are low where none fits.
    provable = DESCRIPTIONS[method].nothing_better and method != "mds_stress"
    assert ("Proved: no other " in result.stderr) == bool(provable)
    assert "Try next:  dualfold report roll.csv" in result.stderr


def another(option):
    """A value that is not the default, from the constraints alone."""
    if option.is_switch:
        return not option.default
    for rule in option.rules:
        if hasattr(rule, "options"):
            words = sorted(rule.options - {option.default})
            return next(word for word in words if not word.startswith("precomputed"))
        if hasattr(rule, "left"):
            return number_in(rule, option.default)
    return {str: "manhattan", "random_state": 7}[option.rules[0]]


def number_in(rule, default):
    whole = rule.type is Integral
    near = default if isinstance(default, int | float) and default else max(rule.left or 0, 1)
    tries = [near + 1, near - 1, 12] if whole else [near * 2, near / 2, 0.5]
    return next(value for value in tries if value != default and value in rule)


OPTIONS = [(row.name, name) for row in DESCRIPTIONS.values() for name in row.options]


def of_few_methods(method, name):
    """The pair; an option that three methods before have is tried of this one under full."""
    methods = [one for one, option in OPTIONS if option == name]
    common = methods.index(method) >= 3
    return pytest.param(method, name, marks=pytest.mark.full if common else ())


# Whether two faces take the same steps shows after few of them.
FEWER_ROUNDS = {"tsne": 250, "neighbor_map": 20}


@pytest.fixture
def without_verdict(monkeypatch):
    """The map alone: what is said of maps does not depend on options, and takes longer."""
    monkeypatch.setattr(
        "dualfold.exploration.map_judgement.judged_map", lambda *given, **more: Judgement()
    )


@pytest.mark.usefixtures("without_verdict")
@pytest.mark.filterwarnings("ignore::dualfold.errors.DualfoldWarning")
@pytest.mark.parametrize(("method", "name"), [of_few_methods(*pair) for pair in OPTIONS])
def test_options_are_the_estimators_too(here, method, name):
    option = next(one for one in method_options(method) if one.name == name)
    value = another(option)
    assert value != option.default
    given = {name: value}
    more = []
    if method == "mvu" and name in ("constraints", "angles"):  # equal lengths take a while exactly
        given["relaxation"], more = 1e-4, ["--relaxation", 1e-4]
    if method in FEWER_ROUNDS and name != "max_iter":
        given["max_iter"], more = FEWER_ROUNDS[method], ["--max-iter", FEWER_ROUNDS[method]]
    words = [option.flag if value else option.off] if option.is_switch else []
    words = words or [option.flag, as_word(value)]
    if DESCRIPTIONS[method].needs_graph and name not in ("n_neighbors", "radius"):
        given["n_neighbors"] = 6
        words += ["-k", 6]
    words += labels(method, **given)
    start = ["embed", "roll.csv", "-m", method, "-o", "m.npy", "-q", *words, *more]
    try:
        estimator, points = fitted(method, **given)
    except DualfoldError:
        run(*start, code=1)
        return
    run(*start)
    np.testing.assert_array_equal(np.load("m.npy"), points)
    assert read_metadata("m.npy")["certificate"] == estimator.certificate_.to_dict()
    assert read_metadata("m.npy")["settings"][name] == value


@pytest.mark.parametrize("method", DESCRIPTIONS)
def test_help_and_list_show_every_option_of_a_method(method):
    shown = run("embed", "-m", method, "--help").stdout
    listed = run("methods", method).stdout
    told = json.loads(run("methods", method, "--json").stdout)
    assert (f"Options of {method}:" in shown) == bool(method_options(method))
    for option in method_options(method):
        assert option.help, option.name
        assert option.flag in shown
        row = next(one for one in told["options"] if one["option"].split("/")[0] == option.flag)
        assert all(words in listed for words in row.values())
        assert row["values"] == option.values
    assert coordinates(method).help
    assert "Options of" not in run("embed", "--help").stdout


def test_what_a_paper_does_is_one_command(here):
    for words in (
        ["-m", "pca", "--svd-solver", "gradient"],
        ["-m", "pca", "--svd-solver", "gradient-paper", "--gradient-rounds", 50],
        ["-m", "eigenmaps", "--weights", "density", "-k", 20],
        ["-m", "eigenmaps", "--neighborhood", "variable", "-k", 18],
        ["-m", "eigenmaps", "--neighborhood", "variable", "--weights", "density", "-k", 18],
        ["-m", "isomap", "--radius", 2.5],
        ["-m", "mvu", "-k", 4, "--constraints", "equal", "--angles", "--relaxation", 1e-4],
        ["-m", "isomap", "-k", 4, "--pieces", "separate"],
    ):
        strict = ["--strict"] if "gradient-paper" not in words else []  # it ends where it ends
        run("embed", "roll.csv", *words, "-o", "m.csv", "-f", "-q", *strict)
        stored = read_metadata("m.csv")
        assert stored["settings"].items() >= {"method": words[1], "n_components": 2}.items()
        assert not strict or stored["certificate"]["level"] in ("proved", "measured")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--landmarks", "20"],
            "--landmarks is an option of isomap, lle, ltsa, kernel_pca and",
        ),
        (["-m", "lle", "--angles"], "--angles is an option of mvu, not of lle"),
        (["-k", "5"], "--n-neighbors is an option of isomap, eigenmaps, lle, ltsa and"),
        (["-m", "isomap", "--landmarks", "1"], "'1' is not a whole number ≥ 2, auto or none"),
        (["-m", "isomap", "--landmarks=many"], "'many' is not a whole number ≥ 2, auto or none"),
        (["-misomap", "--landmark", "9"], "--landmarks"),
        (["-m", "isomap", "--pieces", "apart"], "'apart' is not join, raise or separate"),
        (["-m", "lpp", "--variance-kept", "1.5"], "'1.5' is not a number > 0 and ≤ 1"),
        (["-m", "neighbor_map", "-d", "auto"], "'auto' is not a whole number ≥ 1"),
        (["-m", "isomap", "-d", "0"], "'0'"),
        (
            ["-m", "eigenmaps", "--weights", "precomputed"],
            "is not adaptive, binary, density or heat",
        ),
        (["-m", "pcaa", "--landmarks", "20"], "did you mean pca?"),
        (["-m", "fisher"], "fisher learns from classes; --labels COLUMN"),
        (["-m", "pca", "--labels", "kind"], "--labels has no use for pca"),
        (["-m", "lpp", "--labels", "kind"], "give --supervised, too"),
    ],
)
def test_wrong_options_are_wrong_usage(here, words, said):
    told = " ".join(run("embed", "roll.csv", *words, code=2).stderr.split())
    assert said in told, told


def test_compare_gives_each_method_the_options_that_it_has(here):
    words = [
        "--methods",
        "pca,isomap,eigenmaps",
        "--landmarks",
        20,
        "--pieces",
        "separate",
        "-k",
        7,
    ]
    done = run("compare", "roll.csv", *words, "--json", "-o", "all.csv")
    rows = {row["method"]: row["settings"] for row in json.loads(done.stdout)["results"]}
    assert rows["isomap"]["landmarks"] == 20
    assert rows["isomap"]["pieces"] == rows["eigenmaps"]["pieces"] == "separate"
    assert rows["isomap"]["n_neighbors"] == rows["eigenmaps"]["n_neighbors"] == 7
    assert "landmarks" not in rows["eigenmaps"]
    table = exact_csv("all.csv")
    for method in ("isomap", "eigenmaps"):
        own = {name: value for name, value in rows[method].items() if name in ("landmarks",)}
        _, points = fitted(method, n_neighbors=7, pieces="separate", **own)
        np.testing.assert_array_equal(table[[f"{method}_1", f"{method}_2"]].to_numpy(), points)
    wrong = run("compare", "roll.csv", "--methods", "pca,lle", "--angles", code=2)
    assert "--angles is an option of mvu, not of pca and lle" in " ".join(wrong.stderr.split())
    wrong = run("compare", "roll.csv", "--methods", "isomap,lpp", "--pieces", "separate", code=2)
    said = "--pieces separate is not for lpp, which takes join or raise"
    assert said in " ".join(wrong.stderr.split())


def test_distances_of_a_file(here):
    distances = np.linalg.norm(ROLL[:, None] - ROLL[None], axis=2)
    np.save("distances.npy", distances)
    for method in ("isomap", "mds", "eigenmaps"):
        near = ["-k", 8] if DESCRIPTIONS[method].needs_graph else []
        of_distances = ["distances.npy", "--metric", "precomputed", "-o", "d.npy"]
        run("embed", *of_distances, "-m", method, *near, "-q", "-f")
        run("embed", "roll.csv", "-m", method, *near, "-o", "f.npy", "-q", "-f")
        found, expected = np.load("d.npy"), np.load("f.npy")
        signs = np.sign(np.sum(found * expected, axis=0))
        np.testing.assert_allclose(found * signs, expected, atol=1e-6 * np.abs(expected).max())
        kept = [read_metadata(name)["t_similarity"] for name in ("d.npy", "f.npy")]
        assert kept[0] == pytest.approx(kept[1], abs=0.02)
        assert "Proved" in run("certify", "distances.npy", "d.npy").stderr
    scaled = run("embed", "distances.npy", "-m", "mds", "--metric", "precomputed", "--standardize",
                 code=1)  # fmt: skip
    assert "leave out --standardize" in scaled.stderr
    mixed = ["compare", "distances.npy", "--methods", "pca,mds", "--metric", "precomputed"]
    assert "pca needs columns of numbers" in run(*mixed, code=1).stderr


@pytest.mark.parametrize(
    "words",
    [
        ["-m", "pca", "--whiten", "--standardize", "-d", 3],
        ["-m", "pca", "--svd-solver", "gradient", "-d", 1],
        ["-m", "pca", "-d", 0.9],
        ["-m", "lpp", "-d", "auto"],
        ["-m", "lpp", "--supervised", "--labels", "kind"],
        ["-m", "fisher", "--labels", "kind"],
        ["-m", "eigenmaps", "--diffusion-time", 2.5, "--constraint", "identity"],
        ["-m", "isomap", "--landmarks", 20, "--metric", "manhattan"],
        ["-m", "isomap", "--radius", 2.5],
        ["-m", "mvu", "-k", 4, "--constraints", "equal"],
        ["-m", "isomap", "-k", 4, "--pieces", "separate", "--landmarks", 12],
        ["-m", "lle", "-k", 4, "--pieces", "separate"],
        ["-m", "eigenmaps", "-k", 4, "--pieces", "separate", "--diffusion-time", 1.5],
        ["-m", "mvu", "-k", 4, "--pieces", "separate"],
    ],
    ids=lambda words: " ".join(map(str, words[1:])),
)
def test_files_made_with_options_are_judged_by_them(here, words):
    far = exact_csv("roll.csv")
    if "separate" in words:
        far.loc[40:, ["x", "y", "z"]] += 100
    far.to_csv("t.csv", index=False)
    run("embed", "t.csv", *words, "-o", "m.csv", "--save-model", "m.dualfold", "-q")
    sides = ["--model", "m.dualfold"] if "mvu" in words else []
    for name in ("m.csv", "m.dualfold"):
        done = run("certify", "t.csv", name, *sides[: 2 * (name == "m.csv")])
        assert f"Judged as {words[1]}, " in done.stderr
    changed = exact_csv("m.csv")
    last = changed.columns[-1]
    changed.loc[7, last] += 0.1 * np.ptp(changed[last])
    changed.to_csv("m.csv", index=False)
    run("certify", "t.csv", "m.csv", *sides, code=3)
    told = read_metadata("m.csv")
    for place, word in enumerate(words):  # the file's settings choose the problem: they are shown
        if str(word).startswith("--") and word not in ("--labels", "--standardize"):
            assert word[2:].replace("-", "_") in told["settings"], words[place]
