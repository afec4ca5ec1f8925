"""The command line through real processes: pipes, exit codes, interrupts, full disks."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import read_metadata, swiss_roll
from dualfold.saved import load_model

COMMAND = [sys.executable, "-c", "from dualfold.cli import main; main()"]
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
    done = subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=60, **more
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


ESTIMATORS = {
    "pca": lambda: dualfold.PCA(2),
    "isomap": lambda: dualfold.Isomap(n_neighbors=10),
    "eigenmaps": lambda: dualfold.LaplacianEigenmaps(n_neighbors=10),
    "lle": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10),
    "lpp": lambda: dualfold.LocalityPreservingProjection(2),
}


@pytest.mark.parametrize("method", ESTIMATORS)
def test_transform_places_rows_as_the_estimator_does(here, method):
    run("embed", "roll.csv", "-m", method, "--save-model", "m.dualfold", "-q")
    # another order, another column, and whole numbers where they may look like identifiers
    new = pd.DataFrame({"z": X[:, 2], "extra": 1.5, "x": X[:, 0], "y": X[:, 1]})
    new.to_csv("new.csv", index=False)
    done = run("transform", "m.dualfold", "new.csv", "--json", "-q")
    found = pd.read_csv("new.placed.csv").to_numpy()
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
    assert "--missing drop" in run("transform", "m.dualfold", "gap.csv", code=1).stderr
    run("transform", "m.dualfold", "gap.csv", "--missing", "mean")
    filled = gap.fillna({"x": frame["x"].mean()}).to_numpy()
    scaled = (filled - frame.to_numpy().mean(axis=0)) / frame.to_numpy().std(axis=0)
    model = load_model("m.dualfold")
    expected = model.map.encode(scaled)
    np.testing.assert_allclose(pd.read_csv("gap.placed.csv").to_numpy(), expected, atol=1e-9)


def test_transform_through_a_pipe_and_by_wrong_names(here):
    run("embed", "roll.csv", "-m", "isomap", "--save-model", "m.dualfold", "-q")
    text = (here / "roll.csv").read_text()
    piped = run("transform", "m.dualfold", "-", "-o", "-", "-q", input=text)
    assert piped.stdout.startswith("isomap_1,isomap_2\n")
    assert piped.stderr == ""
    pd.DataFrame(X, columns=["X", "y", "z"]).to_csv("other.csv", index=False)
    wrong = run("transform", "m.dualfold", "other.csv", code=1)
    assert "1 column is needed that the table has not: 'x'" in wrong.stderr
    assert "no readable model" in run("transform", "roll.csv", "other.csv", code=1).stderr
    far = pd.DataFrame(X[:3] + 1000, columns=["x", "y", "z"])
    far.to_csv("far.csv", index=False)
    assert "3 of 3 new rows are farther" in run("transform", "m.dualfold", "far.csv").stderr


@pytest.mark.parametrize("method", ["pca", "isomap", "eigenmaps", "lle", "lpp", "npp"])
def test_certify_holds_for_what_was_written_and_not_for_a_changed_file(here, method):
    run("embed", "roll.csv", "-m", method, "-k", 12, "-o", "m.csv", "--id", "name", "-q")
    assert "Proved" in run("certify", "roll.csv", "m.csv").stderr
    changed = pd.read_csv("m.csv")
    changed.loc[4, f"{method}_1"] += 0.01 * np.ptp(changed[f"{method}_1"])
    changed.to_csv("m.csv", index=False)
    failed = run("certify", "roll.csv", "m.csv", "--json", code=3)
    assert json.loads(failed.stdout)["certificate"]["level"] == "failed"
    changed.iloc[::-1].to_csv("m.csv", index=False)
    assert "different 'name'" in run("certify", "roll.csv", "m.csv", code=1).stderr


def test_certify_judges_both_sides_of_an_unfolding(here):
    pd.read_csv("roll.csv").head(60).to_csv("r.csv", index=False)
    run("embed", "r.csv", "-m", "mvu", "-k", 5, "--save-model", "m.dualfold", "-o", "m.parquet")
    assert "dual weights" in run("certify", "r.csv", "m.parquet", code=3).stderr
    proved = run("certify", "r.csv", "m.parquet", "--model", "m.dualfold", "--json")
    assert json.loads(proved.stdout)["certificate"]["level"] == "proved"


def test_report_is_the_librarys(here):
    run("embed", "roll.csv", "-m", "isomap", "-q")
    done = run("report", "roll.csv", "roll.isomap.csv", "--json", "-p", "q.png", "-o", "q.csv")
    found = json.loads(done.stdout)
    points = pd.read_csv("roll.isomap.csv").to_numpy()
    expected = dualfold.quality.report(X, points)
    assert found["measures"]["trustworthiness"] == expected.measures["trustworthiness"]
    along = dualfold.residual_variance(dualfold.graph.knn(X, 10), points)
    assert found["measures"]["geodesic_residual_variance"] == pytest.approx(float(along))
    np.testing.assert_array_equal(
        pd.read_csv("q.csv")["trustworthiness"], expected.per_point["trustworthiness"]
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
    assert list(pd.read_csv("all.csv"))[:2] == ["when", "pca_1"]
    best = max(rows, key=lambda row: row["t_similarity"])["method"]
    assert f"Try next:  dualfold embed roll.csv --method {best}" in done.stderr
    assert "proved optimal" in run(*words).stdout


# ---- what goes wrong


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "no row of data"),
        ("a,b\n1,2\n", "2 rows or more"),
        ("a,b\nred,big\nblue,small\n", "at least one column of numbers"),
        ("a,b\n1.5,\n2.5,3\n", "--missing drop"),
        ("\0\1\2", "must be text"),
    ],
)
def test_files_that_cannot_be_mapped(here, content, said):
    (here / "bad.csv").write_text(content)
    before = names(here)
    assert said in run("embed", "bad.csv", code=1).stderr
    assert names(here) == before


def test_identical_rows_are_told(here):
    pd.DataFrame(np.ones((20, 2)), columns=["a", "b"]).to_csv("same.csv", index=False)
    assert "all 20 rows are the same" in run("embed", "same.csv").stderr
    assert any("same" in note for note in read_metadata("same.pca.csv")["notices"])
    pd.DataFrame(np.repeat(X[:4], 15, axis=0), columns=["a", "b", "c"]).to_csv(
        "four.csv", index=False
    )
    assert "15 rows are identical" in run("embed", "four.csv", "-m", "isomap").stderr


def test_a_full_standard_output_is_an_error(here):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "embed", "roll.csv", "-o", "-"], stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert b"standard output: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="limits as on Unix")
def test_a_full_disk_leaves_nothing(here):
    import resource

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    before = names(here)
    words = ["embed", "roll.csv", "-o", "m.csv", "--save-model", "m.dualfold"]
    failed = run(*words, code=1, preexec_fn=small_files)
    assert "m.csv: File too large" in failed.stderr
    assert names(here) == before


@pytest.mark.skipif(os.name != "posix", reason="folders as on Unix")
def test_a_folder_that_cannot_be_written_to_is_told_before_the_work(here, monkeypatch):
    (here / "locked").mkdir()
    (here / "locked").chmod(0o555)
    if os.access(here / "locked", os.W_OK):  # root may write everywhere: ask as if not root
        code = "import os; os.access = lambda *_: False; from dualfold.cli import main; main()"
        monkeypatch.setitem(globals(), "COMMAND", [sys.executable, "-c", code])
    failed = run("embed", "roll.csv", "-o", "locked/m.csv", code=1)
    assert "cannot be written to" in failed.stderr


# A solver that never returns to Python, as a long factorisation in C: Ctrl-C must not wait.
DEAF = """
import ctypes
import dualfold.embedding as room
def deaf(*_, **__):
    print("deaf", flush=True)
    ctypes.CDLL(None).sleep(60)
room.embed = deaf
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_does_not_wait_for_compiled_code(here):
    command = subprocess.Popen(
        [sys.executable, "-c", DEAF, "embed", "roll.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert command.stdout.readline() == "deaf\n"
    begin = time.perf_counter()
    command.send_signal(signal.SIGINT)
    said = command.communicate(timeout=30)[1]
    assert time.perf_counter() - begin < 1
    assert command.returncode == 130
    assert said.endswith("interrupted; no file was left half-written.\n")
    assert names(here) == ["roll.csv"]


WRITING = """
import os, signal, time
import dualfold.data.writing as room
def slow(file, *_):
    file.write(b"half"); file.flush()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)
room._write = slow
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_while_writing_leaves_no_half_file(here):
    done = subprocess.run(
        [sys.executable, "-c", WRITING, "embed", "roll.csv"], capture_output=True, timeout=30
    )
    assert done.returncode == 130
    assert names(here) == ["roll.csv"]


SLOW = """
import time
import dualfold.cli.solving as room
answer = room.certified
def slow(*words, **more):
    time.sleep(3)
    return answer(*words, **more)
room.certified, room.expected_seconds = slow, lambda *_: 10.0
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_bar_with_the_time_left_on_a_terminal_only(here):
    import pty

    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-c", SLOW, "embed", "roll.csv"],
        stderr=theirs, stdout=subprocess.DEVNULL, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert command.wait(30) == 0
    assert re.search(rb"solving and certifying.*2 s, about \d s left", shown)
    piped = subprocess.run(
        [sys.executable, "-c", SLOW, "embed", "roll.csv", "--force"], capture_output=True
    )
    assert b"left" not in piped.stderr.replace(b"was left", b"")
    assert b"solving" not in piped.stderr


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
