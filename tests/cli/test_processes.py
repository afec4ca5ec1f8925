"""The command line through real processes: pipes, exit codes, interrupts, full disks, terminals.

What the commands compute is tested in `test_commands`, without a process for each. Wrong
usage, a full standard output and completion start Python anew; the others fork (`forked.py`).
"""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from dualfold.data import swiss_roll
from tests.cli.command_line import exact_csv
from tests.tools import forked

COMMAND = [sys.executable, "-m", "dualfold"]
X = swiss_roll(150, random_state=0).points


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table, a map of it and a model, made once for all tests."""
    folder = tmp_path_factory.mktemp("made")
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    frame["name"] = [f"r{row}" for row in range(len(X))]
    frame.to_csv(folder / "roll.csv", index=False)
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        CliRunner().invoke(app, ["embed", "roll.csv", "-m", "isomap", "--save-model", "m.dualfold"])
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch, made):
    """An empty working directory with the table in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roll.csv").write_bytes((made / "roll.csv").read_bytes())
    return tmp_path


def run(*words, code=0, program=forked.MAIN, **more):
    done = forked.run(program, *words, **more)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_rows_flow_through_a_pipe_onto_a_map(made):
    text = (made / "roll.csv").read_text()
    piped = run("transform", made / "m.dualfold", "-", "-o", "-", "-q", text=text)
    assert piped.stdout.startswith("name,p_value,distance,isomap_1,isomap_2\n")
    assert piped.stderr == ""
    placed = np.loadtxt(piped.stdout.splitlines(), delimiter=",", skiprows=1, usecols=(3, 4))
    known = exact_csv(made / "roll.isomap.csv").drop(columns="name")
    np.testing.assert_allclose(placed, known, atol=1e-6)


def test_a_changed_map_is_told_by_the_exit_code(made, here):
    changed = exact_csv(made / "roll.isomap.csv")
    changed.loc[4, "isomap_1"] += 1.0
    changed.to_csv("roll.isomap.csv", index=False)
    (here / "roll.isomap.csv.json").write_bytes((made / "roll.isomap.csv.json").read_bytes())
    failed = run("certify", "roll.csv", "roll.isomap.csv", "--json", code=3)
    assert json.loads(failed.stdout)["certificate"]["level"] == "failed"


# ---- what goes wrong


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("a,b\n", "no row of data"),
        ("a,b\n1,2\n", "2 rows or more"),
        ("a,b\nred,big\nblue,small\n", "at least one column of numbers"),
        ("a,b\n1.5,\n2.5,3\n", "'b': the same value in every row, left out; --keep b uses it"),
        ("\0\1\2", "must be text"),
    ],
)
def test_files_that_cannot_be_mapped(here, content, said):
    (here / "bad.csv").write_text(content)
    before = names(here)
    failed = CliRunner().invoke(app, ["embed", "bad.csv", "-d", "2"])  # a process: the next test
    assert failed.exit_code == 1
    assert said in failed.stderr
    assert "Traceback" not in failed.stderr
    assert names(here) == before


def test_wrong_usage_is_exit_code_2():
    done = subprocess.run([*COMMAND, "embed", "a", "-m", "isomab"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "did you mean isomap?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_standard_output_is_an_error(here):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    # With a buffer, which Python tries to write once more when it ends.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "embed", "roll.csv", "-o", "-"],
            stdout=full, stderr=subprocess.PIPE, env=buffered, text=True,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.endswith("error: standard output: No space left on device.\n")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="limits as on Unix")
def test_a_full_disk_leaves_nothing(here):
    small_files = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    before = names(here)
    words = ["embed", "roll.csv", "-o", "m.csv", "--save-model", "m.dualfold"]
    failed = run(*words, code=1, program=small_files + forked.MAIN)
    # The settings or the coordinates, whichever are larger than their buffer.
    assert re.search(r"m\.csv(\.json)?: File too large", failed.stderr)
    assert names(here) == before


@pytest.mark.skipif(os.name != "posix", reason="folders as on Unix")
def test_a_folder_that_cannot_be_written_to_is_told_before_the_work(here):
    (here / "locked").mkdir()
    (here / "locked").chmod(0o555)
    program = forked.MAIN
    if os.access(here / "locked", os.W_OK):  # root may write everywhere: ask as if not root
        program = "import os; os.access = lambda *_: False\n" + program
    failed = run("embed", "roll.csv", "-o", "locked/m.csv", code=1, program=program)
    assert "cannot be written to" in failed.stderr


# ---- a terminal


def on_a_terminal(program, *words):
    """The exit code and what a terminal of 140 columns saw of standard error."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    command = forked.Forked(
        program, *words, stderr=theirs, environment=os.environ | {"TERM": "xterm"}
    )
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
    command.communicate()
    return command.returncode, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())


# A fill that takes longer than the bar waits for, on one core and on several: many of its steps do.
SLOW_FILL = """
import time
import dualfold.data.imputation_fit as room
fitted, rest = room._maximised_fit, iter(range(12))
def slow(*given):
    time.sleep(0.6 if next(rest, None) is not None else 0)
    return fitted(*given)
room._maximised_fit = slow
from dualfold.cli import main
main()
"""


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="terminals as on Unix")
def test_a_terminal_shows_reading_and_a_long_fill(here):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(200, 8))
    X[rng.random(X.shape) < 0.2] = np.nan
    pd.DataFrame(X).add_prefix("c").to_csv("gaps.csv", index=False)
    code, shown = on_a_terminal(SLOW_FILL, "embed", "gaps.csv")
    assert code == 0
    assert "reading gaps.csv" in shown
    assert "reading gaps.csv: filling in missing values" in shown


# Shortest paths that take three seconds, one chunk of sources after the other.
SLOW = """
import time
import dualfold.graph.geodesics as room
from dualfold.kernels import kernel
room.SOURCES_PER_CALL, room.thread_count = 10, lambda *_: 1
for key, fast in list(room._geodesics.items()):
    def slow(*words, fast=fast):
        time.sleep(3 / 15)
        return fast(*words)
    room._geodesics[key] = slow
from dualfold.cli import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_bar_with_the_time_left_on_a_terminal_only(here):
    words = ["embed", "roll.csv", "-m", "isomap"]
    piped = forked.Forked(SLOW, *words, "-o", "piped.csv")  # both wait most of the time
    code, shown = on_a_terminal(SLOW, *words)
    assert code == 0
    lines = re.findall(r"isomap: shortest paths [━╸╺]+ (\d) s, about (\d) s left", shown)
    assert lines, shown
    # 15 chunks of a fifth of a second each, on a machine that may be busy.
    assert all(2 <= int(taken) + int(left) <= 9 for taken, left in lines), lines
    assert "━" not in shown.split("rows ×")[1]  # the bar goes away
    _, said = piped.communicate()
    assert piped.returncode == 0
    for bar in ("shortest", "━", "\x1b", "\r"):
        assert bar not in said


@pytest.mark.skipif(not os.path.exists("/bin/bash"), reason="needs bash")
def test_bash_itself_completes(here):
    """The printed script in a real bash: methods are offered, files are left to bash."""
    bin_ = here / "bin"
    bin_.mkdir()
    (bin_ / "dualfold").write_text(f'#!/bin/sh\nexec {sys.executable} -m dualfold "$@"\n')
    (bin_ / "dualfold").chmod(0o755)
    asking = """
    eval "$(_DUALFOLD_COMPLETE=source_bash dualfold)"
    complete -p dualfold
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _dualfold_completion dualfold; echo "${#COMPREPLY[@]}:${COMPREPLY[*]}"; }
    ask dualfold embed roll.csv -m eig
    ask dualfold embed rol
    """
    path = f"{bin_}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", asking], capture_output=True, text=True,
        env=os.environ | {"PATH": path},
    )  # fmt: skip
    # `-o default`: where nothing is offered, bash completes to files
    assert done.stdout.splitlines() == [
        "complete -o default -F _dualfold_completion dualfold", "1:eigenmaps", "0:",
    ]  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="needs file descriptors of POSIX")
@pytest.mark.parametrize(
    ("closed", "words", "code", "said"),
    [
        (0, ("embed", "-"), 1, "standard input is empty"),
        (1, ("embed", "roll.csv", "-m", "pca", "-o", "-"), 1, "standard output: "),
        (1, ("methods",), 1, "standard output: "),
        (1, ("embed", "roll.csv", "-m", "pca"), 0, "Proved"),
        (2, ("embed", "roll.csv", "-m", "pca"), 0, ""),
        (2, ("embed", "none.csv"), 1, ""),
    ],
)
def test_streams_that_were_closed_before_the_start(here, closed, words, code, said):
    """As the shell's `>&-`: Python has no such stream then."""
    stream = ("stdin", "stdout", "stderr")[closed]
    program = f"import os, sys; os.close({closed}); sys.{stream} = None; {forked.MAIN}"
    assert said in run(*words, code=code, program=program).stderr


def test_a_folder_that_was_removed_is_named(here):
    # Not before the imports: a library that typer needs (pydantic) does not load without a folder.
    gone = "import os; os.mkdir('g'); os.chdir('g'); os.rmdir('../g')"
    first = "import contextlib\nwith contextlib.suppress(ImportError):\n import pydantic"
    program = f"{first}\nfrom dualfold.cli import main; {gone}; main()"
    done = run("embed", here / "roll.csv", "-o", "m.csv", "-m", "pca", code=1, program=program)
    assert "the current folder: No such file or directory" in done.stderr
