"""The command line, as a person or a script would use it."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dualfold
from dualfold.cli import app
from tests.cli.command_line import exact_csv, run
from tests.cli.door import certificates, console, read_metadata
from tests.tools import forked

COMMAND = [sys.executable, "-c", "from dualfold.cli import main; main()"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working directory with a small table in it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "y", "z"])
    frame["kind"] = rng.choice(["cat", "dog"], 60)
    frame["name"] = [f"n{row}" for row in range(60)]
    frame.to_csv("table.csv", index=False)
    return tmp_path


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


# ---- embed (the numbers of each method: test_methods.py)


def test_standardize_is_a_mean_of_0_and_a_deviation_of_1(here):
    frame = exact_csv("table.csv")
    frame["x"] *= 1e4
    frame["same"] = 0.1
    frame.to_csv("wide.csv", index=False)
    numbers = ("--mixed", "numbers")
    warned = run("embed", "wide.csv", "-o", "raw.csv", "--no-standardize", *numbers)
    assert re.search(r"'x' spreads [\d,]+ times as much as '[yz]'", warned.stderr)
    assert "--standardize" in warned.stderr.splitlines()[-1]
    quiet = run("embed", "wide.csv", "--standardize", *numbers)
    assert "differ in scale" not in quiet.stderr
    usual = run("embed", "wide.csv", "-o", "usual.csv", *numbers)
    assert "--no-standardize leaves them as they are" in usual.stderr
    assert "'same': the same value in every row, left out; --keep same uses it" in usual.stderr
    assert "Columns used: 'x', 'y', 'z'\n" in usual.stderr
    assert (here / "usual.csv").read_bytes() == (here / "wide.pca.csv").read_bytes()
    X = frame[["x", "y", "z"]].to_numpy()
    expected = dualfold.embed(dualfold.methods.pca((X - X.mean(axis=0)) / X.std(axis=0))).points
    found = exact_csv("wide.pca.csv").drop(columns="name").to_numpy()
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-9)


def test_rows_left_out_are_named(here):
    frame = exact_csv("table.csv")
    frame.loc[[0, 5], "y"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    refused = run("embed", "gaps.csv", "--missing", "raise", code=1)
    assert "--missing drop" in refused.stderr
    assert "missing='" not in refused.stderr
    filled = run("embed", "gaps.csv", "-o", "filled.csv")
    assert "2 of 60 rows are not complete: missing values in 'y' (2); filled in" in filled.stderr
    assert len(exact_csv("filled.csv")) == 60
    run("embed", "gaps.csv", "--missing", "drop", "-m", "pca")
    written = exact_csv("gaps.pca.csv")
    assert list(written["name"]) == [frame["name"][row] for row in range(60) if row not in (0, 5)]
    run("embed", "gaps.csv", "--missing", "drop", "-m", "pca", "--exclude", "name", "--force")
    written = exact_csv("gaps.pca.csv")
    assert list(written["row"]) == [row + 1 for row in range(60) if row not in (0, 5)]


def test_the_picture_and_the_table_can_go_anywhere(here):
    run("embed", "table.csv", "-o", "out.parquet", "-p", "map.svg", "--color", "kind", "-d", 3)
    assert "<svg" in (here / "map.svg").read_text()
    assert read_metadata("out.parquet")["settings"]["n_components"] == 3
    assert names(here) == ["map.svg", "out.parquet", "table.csv"]


def test_pieces_are_joined_with_a_plain_sentence_or_refused(here):
    rng = np.random.default_rng(1)
    far = np.vstack([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 100])
    pd.DataFrame(far, columns=["a", "b", "c"]).to_csv("two.csv", index=False)
    joined = run("embed", "two.csv", "-m", "eigenmaps", "-k", 5)
    assert "note: the graph of --n-neighbors 5 has 2 pieces" in joined.stderr
    assert "Warning" not in joined.stderr
    assert "pieces='" not in joined.stderr
    assert any("2 pieces" in note for note in read_metadata("two.eigenmaps.csv")["notices"])
    refused = run("embed", "two.csv", "-m", "eigenmaps", "--pieces", "raise", "-o", "b.csv", code=1)
    assert "--pieces join" in refused.stderr
    assert "dualfold.graph" not in refused.stderr


# ---- standard input and output


def test_json_is_one_object_and_talk_stays_off_standard_output(here):
    result = run("embed", "table.csv", "--json")
    found = json.loads(result.stdout)
    assert found["output"] == "table.famd.csv"
    assert found["columns"] == ["x", "y", "z", "kind"]
    assert found["certificate"]["schema"] == "dualfold.certificate/1"
    assert found["rows"] == 60
    assert run("embed", "table.csv", "--json", "--quiet", "--force").stderr == ""
    assert "both want standard output" in run("embed", "-", "--json", input="a\n1\n", code=2).stderr


def test_a_table_flows_through_a_pipe(here):
    words = ["embed", "-", "-o", "-", "-q"]
    piped = forked.run(forked.MAIN, *words, text=(here / "table.csv").read_text("utf-8"))
    run("embed", "table.csv")
    assert piped.returncode == 0
    assert piped.stdout == (here / "table.famd.csv").read_text("utf-8")
    assert piped.stderr == ""
    assert names(here) == ["table.csv", "table.famd.csv", "table.famd.csv.json"]


@pytest.mark.full
def test_a_reader_that_has_seen_enough_is_no_error(here):
    big = pd.DataFrame(np.random.default_rng(0).normal(size=(5_000, 2)))
    big.to_csv("big.csv", index=False)
    command = subprocess.Popen(
        [*COMMAND, "embed", "big.csv", "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    command.stdout.readline()
    command.stdout.close()
    assert b"Traceback" not in command.stderr.read()
    command.stderr.close()
    command.wait(30)


# ---- what goes wrong


def test_strict_says_so_by_its_exit_code(here, monkeypatch):
    true = certificates.certify

    def doubting(problem, vectors, values=None, *, tolerance=1e-4):
        return true(problem, vectors, np.asarray(values) * 1.5, tolerance=tolerance)

    monkeypatch.setattr("dualfold.embedding.certify", doubting)
    result = run("embed", "table.csv", "--strict", code=3)
    assert "Not certified: the values do not belong to the vectors" in result.stderr
    assert read_metadata("table.famd.csv")["certificate"]["level"] == "failed"
    # not strict: told even if asked to be quiet, but no failure
    assert "Not certified" in run("embed", "table.csv", "--force", "--quiet").stderr
    monkeypatch.undo()
    os.chdir(here)
    run("embed", "table.csv", "--force", "--strict")


def test_nothing_is_overwritten_unless_forced(here):
    run("embed", "table.csv", "-m", "pca", "-p", "map.png")
    before = {name: (here / name).read_bytes() for name in names(here)}
    again = run("embed", "table.csv", "-m", "mds", "-o", "table.pca.csv", code=1)
    assert "table.pca.csv exists already and was left as it is; --force replaces it" in again.stderr
    run("embed", "table.csv", "-o", "new.csv", "-p", "map.png", code=1)
    assert before == {name: (here / name).read_bytes() for name in names(here)}
    run("embed", "table.csv", "-m", "mds", "-o", "table.pca.csv", "--force")
    assert read_metadata("table.pca.csv")["settings"]["method"] == "mds"
    itself = run("embed", "table.csv", "-o", "table.csv", "--force", code=1)
    assert "is the table itself" in itself.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["report", "table.csv", "map.csv", "-o", "map.csv"],
        ["report", "table.csv", "map.csv", "-o", "table.csv"],
        ["report", "table.csv", "map.csv", "-p", "map.csv.json"],
        ["transform", "kept.csv.json", "table.csv", "-o", "kept.csv"],
        ["transform", "map.dualfold", "table.csv", "-o", "./table.csv"],
        ["transform", "map.dualfold", "table.csv", "-p", "map.dualfold"],
        ["embed", "table.csv", "-o", "b.csv", "--save-model", "b.csv.json"],
    ],
)
def test_no_command_replaces_what_it_reads_or_what_it_wrote_itself(here, words):
    run("embed", "table.csv", "-o", "map.csv", "--save-model", "map.dualfold")
    (here / "kept.csv.json").write_bytes((here / "map.dualfold").read_bytes())
    before = {name: (here / name).read_bytes() for name in names(here)}
    refused = run(*words, "--force", code=1)
    assert "would be replaced" in refused.stderr or "two outputs have" in refused.stderr
    assert before == {name: (here / name).read_bytes() for name in names(here)}


@pytest.mark.parametrize("where", ["matplotlib.figure.Figure.savefig", "json.dumps"])
def test_a_failure_leaves_nothing_behind(here, monkeypatch, where):
    def broken(*_, **__):
        raise OSError(28, "No space left on device", "map.png")

    monkeypatch.setattr(where, broken)
    failed = run("embed", "table.csv", "-p", "map.png", code=1)
    assert "No space left on device" in failed.stderr
    assert names(here) == ["table.csv"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["tabel.csv"], 1, "there is no file tabel.csv; did you mean 'table.csv'?"),
        (["table.csv", "--color", "kin"], 1, "--color kin names no column; did you mean 'kind'"),
        (["table.csv", "--id", "nam"], 1, "--id nam names no column; did you mean 'name'"),
        (["table.csv", "--exclude", "q"], 1, "--exclude q names no column"),
        (["table.csv", "-m", "pcaa"], 2, "did you mean pca?"),
        (["table.csv", "-m", "quux"], 2, "there are pca, mds, isomap, eigenmaps"),
        (["table.csv", "-m", "eigenmaps", "-k", "60"], 1, "the largest usable number here is 59"),
        (["xyz.csv", "-d", "4"], 1, "only 3 columns of numbers ('x', 'y', 'z')"),
        (["xyz.csv", "-d", "4"], 1, "--n-components 3 is the most"),
        (["xyz.csv", "--log", "x"], 1, "'x' has no logarithm everywhere"),
        (["table.csv", "--ordered", "kind"], 1, "--ordered kind names no order"),
        (["table.csv", "-m", "UMAP"], 2, "UMAP is not among the methods"),
        (["table.csv", "-o", "table.csv"], 1, "table.csv is the table itself"),
        (["table.csv", "-o", "/dev/stdout"], 1, "standard output is called -"),
        (["table.csv", "--html", "page"], 1, "page must end with .html"),
        (["https://example.com/t.csv"], 1, "is an address, and only files are read"),
        (["t.xls"], 1, "save another spreadsheet as .xlsx or CSV"),
        (["huge.csv", "--no-standardize"], 1, "spreads 2e+300 times as much"),
        (["huge.csv", "--standardize"], 1, "the largest value is 1.0e+300"),
        (
            ["table.csv", "--missing", "dorp"],
            2,
            "'dorp' is none of auto, raise, drop",
        ),
        (["table.csv", "-o", "x.xls"], 1, "must end with one of .csv"),
        (["table.csv", "-p", "x.gif"], 1, "must end with one of .png"),
        (["table.csv", "-o", "no/x.csv"], 1, "there is no folder"),
        (["table.csv", "--colour", "kind"], 2, "--color"),
        (["words.csv"], 1, "at least one column of numbers is needed"),
    ],
)
def test_mistakes_are_told_in_one_sentence(here, words, code, said):
    exact_csv("table.csv")[["x", "y", "z"]].to_csv("xyz.csv", index=False)
    (here / "words.csv").write_text("a,b\nred,big\nblue,small\n")
    (here / "huge.csv").write_text("a,b\n1e300,0.5\n-1e300,1.5\n0.5,0.5\n")
    (here / "t.xls").write_bytes(b"PK")
    before = names(here)
    result = run("embed", *words, code=code)
    assert said in re.sub(r"\s+", " ", result.stderr)
    assert "Traceback" not in result.stderr
    assert not re.search(r"\w+=(True|'|\[)", result.stderr), "an argument of Python, not an option"
    assert result.stdout == ""
    assert names(here) == before


def test_a_mistake_of_ours_is_called_one(here, monkeypatch):
    def broken(*_, **__):
        raise KeyError("a")

    monkeypatch.setattr("dualfold.cli.map_files.output_columns", broken)
    failed = CliRunner().invoke(app, ["embed", "table.csv"])
    assert failed.exit_code == 1
    assert "this is a mistake in dualfold. DUALFOLD_DEBUG=1 shows where" in failed.stderr
    assert names(here) == ["table.csv"]


def test_what_is_coloured_by_may_be_excluded_too(here):
    run("embed", "table.csv", "--color", "x", "--exclude", "x", "--exclude", "kind")
    written = exact_csv("table.pca.csv")
    assert list(written) == ["name", "x", "pca_1", "pca_2"]
    assert read_metadata("table.pca.csv")["features"] == ["y", "z"]


def test_columns_that_no_map_can_use_are_told(here):
    frame = exact_csv("table.csv")[["x", "y"]]
    frame["boxes"] = [[1, 2]] * 60
    frame["code"] = [str(10**24 + row) for row in range(60)]
    frame["Identifier"] = np.arange(60) // 2
    frame.to_parquet("odd.parquet")
    told = run("embed", "odd.parquet").stderr
    assert "'boxes': lists or records in each cell, left out" in told
    assert "'code': whole numbers of 19 digits or more" in told
    assert "'Identifier': named like identifiers, left out" in told
    assert read_metadata("odd.pca.csv")["features"] == ["x", "y"]


def test_dates_to_colour_by_have_an_order_or_a_remark(here):
    frame = exact_csv("table.csv")[["x", "y"]]
    frame["month"] = [f"2020-{1 + row % 12:02d}" for row in range(60)]
    frame["unclear"] = [f"{1 + row % 9:02d}/{1 + row % 11:02d}/2020" for row in range(60)]
    frame.to_csv("dated.csv", index=False)
    told = run("embed", "dated.csv", "--color", "unclear").stderr
    assert "which are days and which are months" in told
    from dualfold.data import Reading
    from tests.cli.door import coloring_of, read_input

    data = read_input("dated.csv", Reading(color="month"), console.Console(quiet=True))
    found = coloring_of(data.colors, 60)
    assert found.scale is not None
    assert found.scale.dates
    assert np.ptp(found.codes[:12]) > 100  # January to December use all of the scale
    assert (np.diff(found.codes[:12]) > 0).all()


# ---- help, version, colours


def test_help_comes_at_once_and_without_numerics():
    times = []
    for _ in range(3):  # in processor time: the machine may be busy with others
        before = os.times()
        shown = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
        after = os.times()
        times.append(sum(after[2:4]) - sum(before[2:4]))
    assert min(times) < 0.5
    assert shown.stdout.index("Examples:") < shown.stdout.index("Options:")
    code = (
        "import sys; from dualfold.cli import app;"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'pandas', 'sklearn'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_version():
    assert run("--version").stdout == f"dualfold {dualfold.__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("no_color", [True, False])
def test_colours_only_where_they_are_welcome(here, no_color):
    import pty

    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color"} | ({"NO_COLOR": "1"} if no_color else {})
    command = [*COMMAND, "embed", "nothing.csv"]
    subprocess.run(command, stderr=theirs, stdout=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "there is no file nothing.csv" in said
    assert bool(re.search(r"\x1b\[[0-9;]*3\dm", said)) != no_color
