"""`dualfold certify`: what was written holds, what was changed fails; words say what was judged."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.saved import load_model, save_model
from tests.cli.command_line import exact_csv, run
from tests.cli.door import read_metadata


@pytest.mark.parametrize("method", ["pca", "isomap", "eigenmaps", "lle", "lpp", "npp"])
def test_certify_holds_for_what_was_written_and_not_for_a_changed_file(here, method):
    near = ["-k", 12] if DESCRIPTIONS[method].needs_graph else []
    run("embed", "roll.csv", "-m", method, *near, "-o", "map.csv", "--id", "name", "-q")
    assert "Proved" in run("certify", "roll.csv", "map.csv").stderr
    changed = exact_csv("map.csv")
    changed.loc[4, f"{method}_1"] += 0.01 * np.ptp(changed[f"{method}_1"])
    changed.to_csv("map.csv", index=False)
    failed = run("certify", "roll.csv", "map.csv", "--json", code=3)
    assert json.loads(failed.stdout)["certificate"]["level"] == "failed"
    changed.iloc[::-1].to_csv("map.csv", index=False)
    assert "different 'name'" in run("certify", "roll.csv", "map.csv", code=1).stderr


def test_certify_judges_both_sides_of_an_unfolding(here):
    exact_csv("roll.csv").head(60).to_csv("r.csv", index=False)
    run("embed", "r.csv", "-m", "mvu", "-k", 5, "--save-model", "m.dualfold", "-o", "m.parquet")
    assert "dual weights" in run("certify", "r.csv", "m.parquet", code=3).stderr
    proved = run("certify", "r.csv", "m.parquet", "--model", "m.dualfold", "--json")
    assert json.loads(proved.stdout)["certificate"]["level"] == "proved"


def test_certify_names_a_table_that_is_no_map(here):
    (here / "gaps.csv").write_text("a,b\n1,\n2,3\n4,5\n")
    refused = run("certify", "roll.csv", "gaps.csv", code=1).stderr
    assert "gaps.csv has no settings of dualfold beside it" in refused


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


def test_a_model_of_another_method_or_table_is_doubted(here):
    run("embed", "t.csv", "-m", "pca", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    model = load_model("m.dualfold")
    renamed = replace(model, preparation=replace(model.preparation, columns=("a", "c", "b")))
    called = replace(model, method="mds")
    for wrong, said in ((renamed, "other columns, or in another order"), (called, "'mds'")):
        save_model("wrong.dualfold", wrong, overwrite=True)
        done = run("certify", "t.csv", "wrong.dualfold", code=None)
        assert done.exit_code != 0
        assert said in done.stdout + done.stderr


def test_an_unfolding_of_other_rows_judges_none(here):
    run("embed", "t.csv", "-m", "mvu", "-k", "5", "-o", "u.csv", "--save-model", "u.dualfold", "-q")
    run("embed", "t.csv", "-m", "pca", "-o", "p.csv", "--save-model", "p.dualfold", "-q")
    run("certify", "t.csv", "u.csv", "--model", "u.dualfold")
    wrong = run("certify", "t.csv", "u.csv", "--model", "p.dualfold", code=1)
    assert "p.dualfold holds no unfolding of 40 rows" in wrong.stderr
