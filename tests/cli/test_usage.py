"""Wrong usage and tables without what is asked: one sentence and an exit code."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import DualfoldError
from tests.cli.command_line import CLOUD, run

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
    done = run(*USAGE[said], code=2)
    assert said in " ".join(done.stderr.split())


REFUSED = {
    "--labels species names no column; the columns are 'a', 'b', 'c'.": (
        "embed", "t.csv", "-m", "fisher", "--labels", "species",
    ),
    "one.csv has 1 point and t.csv has 40 rows": ("report", "t.csv", "one.csv"),
    "m.csv is the table itself": ("report", "m.csv", "m.csv"),
    "there is no map none.csv": ("certify", "t.csv", "none.csv"),
    "comparing needs more than 21 rows": ("compare", "few.csv", "--methods", "pca"),
    "is no JSON object": ("certify", "t.csv", "list.csv"),
    "none of the methods gave a map": ("compare", "t.csv", "--methods", "isomap", "-k", "40"),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSED)
def test_refusals(here, said):
    lines = (here / "t.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:10]))
    (here / "one.csv").write_text("x,y\n1.5,2.5\n")
    (here / "list.csv").write_text((here / "m.csv").read_text())
    (here / "list.csv.json").write_text("[1]")
    done = run(*REFUSED[said], code=1)
    assert said in done.stderr


def test_a_table_of_one_column_names_it(here):
    (here / "one.csv").write_text("a,who\n" + "".join(f"{k},x{k}\n" for k in range(30)))
    done = run("embed", "one.csv", "-m", "pca", "--keep", "a", "-d", 2, "-o", "o.csv", code=1)
    assert "'a' is the only column of numbers" in done.stderr


def test_debugging_shows_errors_as_they_are(here, monkeypatch):
    monkeypatch.setenv("DUALFOLD_DEBUG", "1")
    for words in (("embed", "none.csv"), ("certify", "t.csv", "none.csv")):
        done = run(*words, code=None)
        assert isinstance(done.exception, DualfoldError | OSError), done.output


def test_arrays_have_no_columns_to_name(here):
    pytest.importorskip("dask")
    np.save("x.npy", CLOUD)
    done = run("embed", "x.npy", "--memory-limit", "2GB", "--exclude", "a", code=1)
    assert "x.npy is an array without names" in done.stderr


NUMBERS = {
    "--n-neighbors: 'ten' is not a whole number ≥ 1": ("embed", "t.csv", "-k", "ten"),
    "--n-neighbors: '0' is not a whole number ≥ 1": ("compare", "t.csv", "-k", "0"),
    "--html-mb: 'nan' is not a number ≥ 0": ("embed", "t.csv", "--html-mb", "nan"),
    "--header-row: '-1' is not a whole number ≥ 0": ("embed", "t.csv", "--header-row", "-1"),
    "--sample: '3' is not a whole number ≥ 10": ("report", "t.csv", "m.csv", "--sample", "3"),
    "--seed: 'x' is not a whole number ≥ 0": ("data", "roll", "--seed", "x"),
    "--rows: '1,000' is not a whole number ≥ 1; write it as 1000": ("data", "roll", "-n", "1,000"),
    "--tolerance: '2' is not a number from 0 to 1": ("certify", "t.csv", "m.csv", "--tolerance", 2),
    "--tolerance: '0,5' is not a number from 0 to 1; write it as 0.5": (
        "certify", "t.csv", "m.csv", "--tolerance", "0,5",
    ),
    "--perplexity: '-1' is not a number > 0; the default is 30": (
        "embed", "t.csv", "-m", "tsne", "--perplexity", "-1",
    ),
}  # fmt: skip
WORDS = {
    "FILE is missing: a table": ("embed",),
    "'x y.csv' is more than": ("embed", "t.csv", "x y.csv"),
    "has no option --perplex; did you mean --perplexity?": (
        "embed", "t.csv", "-m", "tsne", "--perplex", "3",
    ),
    "has no option --seed (`dualfold data` has)": ("audit", "t.csv", "m.csv", "--seed", "1"),
    "has no option --landmarks (`dualfold embed` has)": ("--landmarks", "3", "embed", "t.csv"),
    "--perplexity is an option of tsne, not of isomap": (
        "embed", "t.csv", "-m", "isomap", "--perplexity", "5",
    ),
    "-k needs a value": ("embed", "t.csv", "-k"),
    "--json takes no value": ("embed", "t.csv", "--json=3"),
    "there is no command 'embd'; did you mean embed?": ("embd", "t.csv"),
    "`dualfold embed t.csv` makes a map of it": ("t.csv",),
    "'rol' is none of penguins-like, roll, s-curve, helix, customers-by-month; did you mean "
    "roll?": ("data", "rol"),
    "--n-neighbors is an option of isomap": ("embed", "t.csv", "-k", "5"),
    "--landmarks is an option of isomap, lle": ("embed", "t.csv", "-m", "pca", "--landmarks", "9"),
    "not of pca; `dualfold methods pca` lists": ("embed", "t.csv", "--landmarks", "9"),
    "there is no method 'nope'": ("embed", "t.csv", "-m", "nope", "--landmarks", "9"),
    "name it instead of --method auto": ("embed", "t.csv", "-m", "auto", "--landmarks", "9"),
}  # fmt: skip


@pytest.mark.parametrize("said", NUMBERS | WORDS)
def test_wrong_usage_is_the_commands_usage_line_and_one_sentence(here, said):
    words = (NUMBERS | WORDS)[said]
    before = sorted(here.iterdir())
    done = run(*words, code=2, prog_name="dualfold")
    usage, error, help = done.stderr.splitlines()
    command = f"dualfold {words[0]}" if words[0] in usage.split() else "dualfold"
    assert usage.startswith(f"Usage: {command} [OPTIONS]")
    assert error.startswith(f"error: {said}") or said in error
    assert help == f"Help:  {command} -h"
    assert "Input should" not in done.stderr
    assert done.stdout == ""
    assert sorted(here.iterdir()) == before
