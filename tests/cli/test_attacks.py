"""Commands on hostile names, places and files: one sentence and an exit code, nothing lost."""

from __future__ import annotations

import json
import os
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.errors import InvalidInput
from tests.cli.door import write_table

X = np.random.default_rng(0).normal(size=(30, 3)).round(4)
ROWS = [",".join(map(str, row)) for row in X]


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(ROWS) + "\n")
    return tmp_path


def in_words(result):
    """A refusal: an exit code, and one line that is no excuse."""
    assert result.exit_code == 1, result.output
    assert "mistake in dualfold" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr


def test_names_give_no_commands_to_a_terminal(here):
    head = "\x1b[31mred,b\x07\x9b2J,c\x1b]0;mine\u202e"
    (here / "n.csv").write_text(head + "\n" + "\n".join(ROWS) + "\n")
    for words in (
        ("embed", "n.csv", "-o", "m.csv"),
        ("embed", "n.csv", "-o", "m.csv", "--force", "--json"),
        ("report", "n.csv", "m.csv"),
        ("certify", "n.csv", "m.csv"),
        ("embed", "n.csv", "--color", "\x1b[31mno", "-o", "o.csv"),
        ("embed", "\x1b[31mno.csv"),
    ):
        said = run(*words)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said.output), words
        assert "mistake in dualfold" not in said.stderr
        if "--json" in words:  # and the names are still what they were
            assert json.loads(said.stdout)["columns"][0] == "\x1b[31mred"
    said = run("embed", "n.csv", "-o", "m.csv", "--force").stderr
    assert "\\x1b[31mred" in said
    assert "\\u202e" in said


def test_labels_are_written_as_they_are_or_for_a_spreadsheet(here):
    names = ["=1+1", "+2", "-3", "@x", "\tt", "plain", "'q"] * 5
    rows = [f'"{name}",{row}' for name, row in zip(names, ROWS, strict=False)]
    (here / "l.csv").write_text("name,a,b,c\n" + "\n".join(rows) + "\n")
    assert run("embed", "l.csv", "--id", "name", "-o", "plain.csv").exit_code == 0
    assert list(pd.read_csv("plain.csv")["name"][:4]) == ["=1+1", "+2", "-3", "@x"]
    run("embed", "l.csv", "--id", "name", "-o", "safe.csv", "--spreadsheet")
    safe = pd.read_csv("safe.csv")
    assert list(safe["name"][:7]) == ["'=1+1", "'+2", "'-3", "'@x", "'\tt", "plain", "'q"]
    same = pd.read_csv("plain.csv")
    np.testing.assert_array_equal(safe[["pca_1", "pca_2"]], same[["pca_1", "pca_2"]])
    write_table("n.csv", {"=cmd": ["a"], "x": [-1.5]}, spreadsheet=True)
    assert (here / "n.csv").read_text() == "'=cmd,x\na,-1.5\n"


@pytest.mark.parametrize("mark", ["12", "", "a", "7", "-"])
def test_marks_that_would_change_numbers_are_refused(here, mark):
    assert "--thousands must be one mark" in in_words(run("embed", "t.csv", "--thousands", mark))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with a name")
def test_a_pipe_is_read_once_and_never_replaced(here):
    os.mkfifo("pipe")
    feed = threading.Thread(target=(here / "pipe").write_text, args=[(here / "t.csv").read_text()])
    feed.start()
    done = run("embed", "pipe", "-o", "m.csv", "-q")
    feed.join()
    assert done.exit_code == 0, done.output
    run("embed", "t.csv", "-o", "same.csv", "-q")
    assert (here / "m.csv").read_text() == (here / "same.csv").read_text()
    os.mkfifo("pipe.csv")
    for option in ("-o", "--save-model"):
        said = in_words(run("embed", "t.csv", option, "pipe.csv", "--force"))
        assert "pipe or a device" in said
    assert (here / "pipe.csv").is_fifo()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"settings": {"method": []}}',
        '{"settings": {"method": {"a": 1}}}',
        '{"settings": {"method": "isomap", "n_neighbors": true}}',
        '{"settings": {"method": "isomap", "graph": 3}}',
        '{"reading": 3}',
        "\x00",
    ],
)
def test_settings_that_are_none(here, text):
    run("embed", "t.csv", "-m", "isomap", "-k", "8", "-o", "m.csv", "-q")
    (here / "m.csv.json").write_text(text)
    in_words(run("certify", "t.csv", "m.csv"))
    if "settings" not in text:
        in_words(run("report", "t.csv", "m.csv"))


def test_damaged_models_are_named_by_every_command(here):
    run("embed", "t.csv", "-o", "m.csv", "--save-model", "m.dualfold", "-q")
    content = (here / "m.dualfold").read_bytes()
    for cut in (10, len(content) // 2, len(content) - 5):
        (here / "m.dualfold").write_bytes(content[:cut])
        assert "damaged" in in_words(run("transform", "m.dualfold", "t.csv", "-o", "p.csv"))
        in_words(run("certify", "t.csv", "m.dualfold"))


def test_years_beyond_the_calendar_are_text_or_refused(here):
    rows = [f"{300000 + place}-01-01,{row}" for place, row in enumerate(ROWS)]
    (here / "y.csv").write_text("when,a,b,c\n" + "\n".join(rows) + "\n")
    assert run("embed", "y.csv", "-o", "m.csv", "-q").exit_code == 0
    assert "dates" in in_words(run("embed", "y.csv", "--season", "when", "-o", "n.csv"))


def test_a_graph_that_is_none_is_refused():
    from dualfold import Isomap

    for graph in (3, "x", [1, 2], np.eye(30)):
        with pytest.raises(InvalidInput, match="graph"):
            Isomap(graph=graph).fit(X)


def test_whole_numbers_that_doubles_do_not_hold_are_refused(here):
    """As the estimators do; rounded, all rows of these were the same."""
    small = np.arange(60).reshape(20, 3)
    for rows in (small + 2**62, small - 2**62, small.astype(np.uint64) + np.uint64(2**63)):
        np.save("long.npy", rows)
        assert "long.npy holds integers beyond 2^53" in in_words(run("embed", "long.npy"))
    sp.save_npz("long.npz", sp.csr_array(small + 2**62))
    assert "holds integers beyond 2^53" in in_words(run("embed", "long.npz"))
    np.save("long.npy", small + 2**40)
    assert run("embed", "long.npy", "-m", "pca").exit_code == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_text_that_says_how_it_is_written_is_read_so(here, encoding):
    (here / "u.csv").write_bytes((here / "t.csv").read_text().encode(encoding))
    assert run("embed", "u.csv", "-m", "pca", "-q", "-o", "u.map.csv").exit_code == 0
    assert run("embed", "t.csv", "-m", "pca", "-q", "-o", "t.map.csv").exit_code == 0
    assert (here / "u.map.csv").read_text() == (here / "t.map.csv").read_text()


def test_a_link_to_nothing_is_not_what_was_meant(here):
    (here / "gone.csv").symlink_to("gone.csv")
    assert "gone.csv is a link to a file that is not there" in in_words(run("embed", "gone.csv"))


def test_a_header_that_is_a_program_is_damaged_and_not_run(here):
    text = "{'descr': open('made', 'w'), 'fortran_order': False, 'shape': (3, 2), }".ljust(117)
    (here / "p.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + text.encode() + b"\n" + bytes(80))
    assert "p.npy is not a readable NPY file: its header is damaged" in in_words(
        run("embed", "p.npy")
    )
    assert not (here / "made").exists()


def test_halves_of_characters_that_json_can_spell_are_damage(here):
    (here / "h.jsonl").write_text('{"a\\ud800": 1, "b": 2}\n{"a\\ud800": 3, "b": 1}\n')
    assert "line 1 of h.jsonl is not a readable JSON lines file: it holds half of a character" in (
        in_words(run("embed", "h.jsonl"))
    )
    (here / "w.jsonl").write_text('{"a\\ud83d\\ude00": 1, "b": 2}\n' * 9)  # two halves are a whole
    assert run("embed", "w.jsonl", "-m", "pca").exit_code == 0
    run("embed", "t.csv", "-m", "pca", "-o", "m.csv")
    told = json.loads((here / "m.csv.json").read_text())
    told["reading"]["separator"] = "\ud800"
    (here / "m.csv.json").write_text(json.dumps(told))
    in_words(run("certify", "t.csv", "m.csv"))
