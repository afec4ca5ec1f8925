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
