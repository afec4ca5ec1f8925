"""Rare words on the command line: each is done, or refused in one sentence."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from dualfold import PCA
from dualfold.cli import app
from dualfold.cli.exit_codes import interruptible
from dualfold.cli.input_table import copies
from dualfold.cli.output_files import stem
from dualfold.cli.progress import duration
from dualfold.cli.verdict_words import both_parts, verdict
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import DualfoldError, PiecesJoined
from dualfold.saved import load_model, save_model

X = np.random.default_rng(0).normal(size=(40, 3)).round(4)


def run(*words, text=None):
    done = CliRunner().invoke(app, [str(word) for word in words], input=text)
    assert "mistake in dualfold" not in done.stderr, done.stderr
    return done


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, r)) for r in X) + "\n")
    assert run("embed", "t.csv", "-m", "pca", "-o", "m.csv", "-q").exit_code == 0
    return tmp_path


USAGE = {
    "the report goes to standard output": ("report", "t.csv", "m.csv", "-o", "-"),
    "the audit goes to standard output": ("audit", "t.csv", "m.csv", "-o", "-"),
    "the table of results goes to standard output": (
        "compare", "t.csv", "--methods", "pca", "-o", "-",
    ),
    "--landmark-rows is for tables in tiles": ("embed", "t.csv", "--landmark-rows", "9"),
    "'9' is no shape of a picture": ("embed", "t.csv", "--images", "9"),
    "'²x3' is no shape of a picture": ("embed", "t.csv", "--images", "²x3"),
    "'0x3' is no shape of a picture": ("embed", "t.csv", "--images", "0x3"),
    "name one method or more": ("compare", "t.csv", "--methods", ","),
    "'²' is not": ("embed", "t.csv", "--n-components", "²"),
    "--n-components": ("recommend", "t.csv", "--n-components", "²"),
}  # fmt: skip


@pytest.mark.parametrize("said", USAGE)
def test_wrong_usage(here, said):
    done = run(*USAGE[said])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.stderr.split())


REFUSED = {
    "m.csv is the table itself": ("report", "m.csv", "m.csv"),
    "there is no map none.csv": ("certify", "t.csv", "none.csv"),
    "comparing needs more than 21 rows": ("compare", "few.csv", "--methods", "pca"),
    "is no JSON object": ("certify", "t.csv", "list.csv"),
    "none of the methods gave a map": ("compare", "t.csv", "--methods", "isomap", "-k", "40"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_refusals(here, said):
    lines = (here / "t.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:10]))
    (here / "list.csv").write_text((here / "m.csv").read_text())
    (here / "list.csv.json").write_text("[1]")
    done = run(*REFUSED[said])
    assert done.exit_code == 1, done.output
    assert said in done.stderr


def test_an_example_on_standard_output_is_the_file_and_nothing_else(here):
    shown = run("data", "roll", "--rows", "20", "-o", "-")
    run("data", "roll", "--rows", "20", "-o", "roll.csv", "-q")
    assert shown.stdout == (here / "roll.csv").read_text()
    assert shown.stderr == ""


def test_advice_about_standard_input_names_no_file(here):
    done = run("recommend", "-", "--json", text=(here / "t.csv").read_text())
    assert done.exit_code == 0
    assert json.loads(done.stdout)["source"] == "-"
    assert "Try next" not in done.stderr


def test_coordinates_never_replace_a_column_of_the_table(here):
    text = (here / "t.csv").read_text().splitlines()
    named = ["pca_1," + text[0], *(f"r{place}," + row for place, row in enumerate(text[1:]))]
    (here / "n.csv").write_text("\n".join(named))
    assert run("embed", "n.csv", "-m", "pca", "--id", "pca_1", "-o", "o.csv").exit_code == 0
    head, first = (here / "o.csv").read_text().splitlines()[:2]
    assert head == "pca_1,pca_1_new,pca_2"
    assert first.startswith("r0,")


def test_two_different_rows_have_one_direction(here):
    (here / "two.csv").write_text("a,b\n" + "1,2\n" * 9 + "3,5\n" * 9)
    said = run("embed", "two.csv", "-m", "pca", "-o", "o.csv").stderr
    assert "only 2 of 18 rows are different, which span 1 direction: of 2 coordinates" in said


@pytest.mark.filterwarnings("ignore", category=PiecesJoined)
def test_a_method_without_a_map_has_its_row_and_strict_counts_it(here):
    words = ("compare", "t.csv", "--methods", "pca,isomap", "-k", "40", "--strict")
    done = run(*words)
    assert done.exit_code == 3
    assert "no map: " in done.stdout
    told = json.loads(run(*words, "--json").stdout)["results"]
    assert ["error" in row for row in told] == [False, True]


def test_rows_without_names_are_taken_in_the_models_order(here):
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    np.save("new.npy", X[:5])
    done = run("transform", "m.dualfold", "new.npy", "-o", "p.csv")
    assert "taken in the model's order" in done.stderr
    placed = np.loadtxt("p.csv", delimiter=",", skiprows=1)[:, -2:]
    known = np.loadtxt("m.csv", delimiter=",", skiprows=1)[:5, -2:]
    np.testing.assert_allclose(placed, known, atol=1e-12)
    assert "names no label" in run("transform", "m.dualfold", "t.csv", "--color", "z").stderr


# ---- small words of the command line


def test_times_and_names_in_words():
    assert [duration(s) for s in (12.4, 185, 7_800)] == ["12 s", "3 min 05 s", "2 h 10 min"]
    assert [stem(name) for name in ("-", "a/b.csv.gz", "b.parquet")] == ["table", "b", "b"]


def test_copies_are_counted_in_sparse_rows_too():
    rows = np.array([[1.0, 0, 2], [0, 3, 0], [1, 0, 2], [1, 0, 2], [0, 3, 0], [5, 5, 5]])
    assert copies(rows).tolist() == copies(sp.csr_array(rows)).tolist() == [3, 2, 1]


def test_a_search_by_chance_that_could_have_missed_much_is_not_proved():
    proved = PCA(n_components=2).fit(X).certificate_
    found = replace(proved, level="measured", gap=0.25, chance=1e-9)
    said = verdict(DESCRIPTIONS["pca"], found, 2)
    assert said.startswith("Not proved: a random search found nothing better")
    assert "up to 25 %" in said


def test_a_picture_that_was_not_asked_about_is_not_spoken_of():
    assert both_parts("Proved: x.", None) == "Solved? Proved: x."


def test_work_in_another_thread_is_done_there():
    """Signals are heard by the main thread alone; elsewhere there is nothing to wait for."""
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(interruptible, threading.current_thread).result()
        assert there is not threading.main_thread()
    assert interruptible(lambda: 3) == 3


def test_a_table_of_one_column_names_it(here):
    (here / "one.csv").write_text("a,who\n" + "".join(f"{k},x{k}\n" for k in range(30)))
    done = run("embed", "one.csv", "-m", "pca", "--keep", "a", "-o", "o.csv")
    assert done.exit_code == 1
    assert "'a' is the only column of numbers" in done.stderr


def test_maps_without_many_neighbours_are_called_so(here):
    rows = np.random.default_rng(1).normal(size=(400, 60))
    np.savetxt("noise.csv", rows, delimiter=",", header=",".join(f"c{k}" for k in range(60)))
    done = run("compare", "noise.csv", "--methods", "pca")
    assert "None of these maps keeps many neighbours; pca keeps most" in done.stdout + done.stderr


def test_debugging_shows_errors_as_they_are(here, monkeypatch):
    monkeypatch.setenv("DUALFOLD_DEBUG", "1")
    for words in (("embed", "none.csv"), ("certify", "t.csv", "none.csv")):
        done = run(*words)
        assert isinstance(done.exception, DualfoldError | OSError), done.output


def test_arrays_have_no_columns_to_name(here):
    pytest.importorskip("dask")
    np.save("x.npy", X)
    done = run("embed", "x.npy", "--memory-limit", "2GB", "--exclude", "a")
    assert done.exit_code == 1
    assert "x.npy is an array without names" in done.stderr


def test_a_model_of_another_method_or_table_is_doubted(here):
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    model = load_model("m.dualfold")
    renamed = replace(model, columns=("a", "c", "b"))
    called = replace(model, method="mds")
    for wrong, said in ((renamed, "other columns, or in another order"), (called, "'mds'")):
        save_model("wrong.dualfold", wrong, overwrite=True)
        done = run("certify", "t.csv", "wrong.dualfold")
        assert done.exit_code != 0
        assert said in done.stdout + done.stderr


def test_an_unfolding_of_other_rows_judges_none(here):
    run("embed", "t.csv", "-m", "mvu", "-k", "5", "-o", "u.csv", "--save-model", "u.dualfold", "-q")
    run("embed", "t.csv", "-m", "pca", "-o", "p.csv", "--save-model", "p.dualfold", "-q")
    right = run("certify", "t.csv", "u.csv", "--model", "u.dualfold")
    assert right.exit_code == 0, right.output
    wrong = run("certify", "t.csv", "u.csv", "--model", "p.dualfold")
    assert wrong.exit_code == 1
    assert "p.dualfold holds no unfolding of 40 rows" in wrong.stderr


def test_labels_of_new_rows_go_with_them(here):
    """Names and colours that were asked for, and the numbers of rows where some were left out."""
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    lines = [f"{row},w{place}" for place, row in enumerate((here / "t.csv").read_text().split())]
    (here / "new.csv").write_text("\n".join([lines[0].replace("w0", "who"), *lines[1:4]]) + "\n")
    done = run("transform", "m.dualfold", "new.csv", "--color", "who", "-o", "p.csv")
    assert done.exit_code == 0, done.output
    assert (here / "p.csv").read_text().splitlines()[0].startswith("who,")
    gap = "\n".join([lines[0].replace("w0", "who"), ",1,2,x", *lines[1:4]]) + "\n"
    (here / "gap.csv").write_text(gap)
    done = run("transform", "m.dualfold", "gap.csv", "--missing", "drop", "-o", "g.csv")
    head, first = (here / "g.csv").read_text().splitlines()[:2]
    assert head.startswith("row,")
    assert first.startswith("2,")


def test_tables_in_tiles_by_other_methods(here):
    """FAMD takes categories from a file in tiles; columns are standardised where that is asked."""
    pytest.importorskip("dask")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=["x", "y"] * 20)
    frame.to_parquet("t.parquet")
    words = ("--memory-limit", "2GB", "-q")
    done = run("embed", "t.parquet", "-m", "famd", "-o", "f.parquet", *words)
    assert done.exit_code == 0, done.output
    assert len(pd.read_parquet("f.parquet")) == 40
    done = run("embed", "t.parquet", "-m", "pca", "--standardize", "-o", "p.parquet", *words)
    assert done.exit_code == 0, done.output
    ours = pd.read_parquet("p.parquet").filter(like="pca").to_numpy()
    wanted = PCA(n_components=2).fit_transform((X - X.mean(axis=0)) / X.std(axis=0))
    np.testing.assert_allclose(np.abs(ours), np.abs(wanted), atol=1e-9)


def test_a_map_in_an_array_is_its_last_columns(here):
    assert run("embed", "t.csv", "-m", "pca", "-o", "m.npy", "-q").exit_code == 0
    by_array, by_table = (
        json.loads(run("report", "t.csv", name, "--json").stdout) for name in ("m.npy", "m.csv")
    )
    assert by_array["measures"] == by_table["measures"]


def test_a_table_of_few_rows_is_not_asked_about_its_picture(here):
    lines = (here / "t.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:9]))
    done = run("embed", "few.csv", "-m", "pca", "-o", "f.csv")
    assert done.exit_code == 0, done.output
    assert "A good picture?" not in done.stdout + done.stderr


def test_mixed_columns_are_compared_by_gowers_distance(here):
    text = (here / "t.csv").read_text().splitlines()
    rows = [text[0] + ",kind", *(f"{row},{'xy'[place % 2]}" for place, row in enumerate(text[1:]))]
    (here / "mixed.csv").write_text("\n".join(rows))
    done = run("compare", "mixed.csv", "--methods", "isomap,mds", "--mixed", "gower", "--json")
    assert done.exit_code == 0, done.output
    assert [row["method"] for row in json.loads(done.stdout)["results"]] == ["isomap", "mds"]


def test_many_rows_are_asked_in_part(here):
    rows = np.random.default_rng(2).normal(size=(6_000, 2))
    np.savetxt("many.csv", rows, delimiter=",", header="a,b", comments="", fmt="%.4f")
    done = run("embed", "many.csv", "-m", "pca", "-o", "o.csv")
    assert "Neighbours were counted on 1,000 of the rows" in done.stdout + done.stderr
