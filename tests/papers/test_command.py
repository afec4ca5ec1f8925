"""`python -m papers`: what it lists, refuses and writes; not what the experiments find."""

import base64
import json
import os

import pytest
from typer.testing import CliRunner

import dualfold.cli
from papers import experiments
from papers.__main__ import app
from papers.finding import STAND_IN, Finding, Setting
from tests.tools import forked

QUICK = "kokiopoulou-rank"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words, code=0):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.stderr
    return result


def test_the_list_is_aligned_and_complete():
    lines = run("list").stdout.splitlines()
    everything = experiments()
    assert [line.split()[0] for line in lines] == [one.name for one in everything]
    titles = [line.index(one.title) for line, one in zip(lines, everything, strict=True)]
    assert len(set(titles)) == 1
    listed = json.loads(run("list", "--json", "shin").stdout)["experiments"]
    assert {one["paper"] for one in listed} == {"Shin"}


@pytest.mark.full
def test_a_report_in_two_forms(tmp_path):
    said = run("run", "kokiopoulou-trace", "-o", "new/report").stderr
    folder = tmp_path / "new" / "report"
    drawn = (folder / "kokiopoulou-trace-1.png").read_bytes()
    assert base64.b64encode(drawn).decode() in (folder / "report.html").read_text()
    assert "(kokiopoulou-trace-1.png)" in (folder / "report.md").read_text()
    assert "1 experiment. The papers' numbers: 0 of 0 reproduced." in said
    # What it proposes next must not be refused for files that are there now.
    again = f"python -m papers run kokiopoulou-trace --full -o {os.path.join('new', 'report')}"
    assert again in said


def test_json_has_the_rows():
    printed = json.loads(run("run", QUICK, "--json").stdout)
    files = ("report.html", "report.md")
    assert printed["written"] == [os.path.join("dualfold-papers", name) for name in files]
    [finding] = printed["findings"]
    assert finding["name"] == QUICK
    assert all(row["holds"] in (True, None) for row in finding["rows"])
    whole = sum(row["kind"] == "theorem" for row in finding["rows"])
    assert printed["counts"]["theorem"] == [whole, whole]


def test_a_row_that_is_off_ends_in_code_3_with_the_report_written(monkeypatch, tmp_path):
    monkeypatch.setattr(Finding, "failed", property(lambda self: self.rows[:1]))
    assert "1 WRONG" in run("run", QUICK, code=3).stderr
    assert (tmp_path / "dualfold-papers" / "report.html").exists()


def test_what_is_there_is_kept_unless_forced(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "report.md").write_text("mine")
    said = run("run", QUICK, "-o", "papers", code=1).stderr
    assert "report.md exists already" in said
    assert "--force" in said
    assert os.listdir("papers") == ["report.md"]
    run("run", QUICK, "-o", "papers", "--force", "--quiet")
    assert QUICK in (tmp_path / "papers" / "report.md").read_text()


@pytest.mark.parametrize(("program", "command"), [(dualfold.cli.app, "demo"), (app, "all")])
def test_a_file_is_no_folder_and_that_is_said_before_the_work(tmp_path, program, command):
    (tmp_path / "taken").write_text("mine")
    result = CliRunner().invoke(program, [command, "-o", "taken"])
    assert result.exit_code == 1
    assert "taken is a file, and a folder is needed" in result.stderr
    assert result.stdout == ""
    assert (tmp_path / "taken").read_text() == "mine"


def test_unknown_names_are_refused_before_anything_is_made(tmp_path):
    assert "did you mean tucker" in run("run", "tuker", code=1).stderr
    assert os.listdir(tmp_path) == []


def test_a_stand_in_for_mnist_is_said(monkeypatch):
    from dualfold.data import digits

    monkeypatch.setattr(Setting, "images", property(lambda setting: digits()))
    assert STAND_IN in run("run", "kokiopoulou-mds").stderr


INTERRUPTED = """
import os, signal, time
import papers
def slow(*_):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)
papers.run = slow
from papers.__main__ import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_leaves_nothing(tmp_path):
    done = forked.run(INTERRUPTED, "run", QUICK)
    assert done.returncode == 130
    assert done.stderr.endswith("interrupted; no file was left half-written.\n")
    assert os.listdir(tmp_path) == []
