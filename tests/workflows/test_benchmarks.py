"""The benchmark suite's own arithmetic: verdicts, exponents, what is run again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import running, small
from benchmarks.__main__ import missing
from benchmarks.case import Side
from benchmarks.cases import CASES
from benchmarks.growth import exponent
from benchmarks.ladders import LADDERS, rung
from benchmarks.running import Limits, current, enough, keep, kept, run_once, usual
from benchmarks.scale import marginal
from benchmarks.similarity import sampled_t_similarity
from benchmarks.tables import plain, run_table, verdict_table
from benchmarks.verdicts import (
    AsMuch,
    Certified,
    Fact,
    Faster,
    LessMemory,
    Memory,
    NoCopy,
    NoMoreThan,
    NoWiderGap,
    SameQuality,
    Seconds,
    TimesStage,
)
from dualfold.data import swiss_roll
from dualfold.quality import t_similarity


def run(seconds: float, **more: Any) -> dict[str, Any]:
    plain_run = {"status": "done", "seconds": seconds, "peak": 2**30, "before": 2**29}
    return plain_run | {"stages": {}, "facts": {}, "given bytes": 2**30, "quality": None} | more


RUNS = {
    "dualfold": run(
        2.0,
        stages={"neighbours": 1.6, "certify": 0.2},
        facts={"certificate": "proved", "gap": 1e-9, "about": "the 5 landmarks", "recall": 0.96},
        quality=0.50,
    ),
    "quick": run(4.0, quality=0.52, peak=10 * 2**30, facts={"gap": 1e-8, "recall": 0.95}),
    "slow": {"status": "limit", "seconds": 100.0, "why": "time limit"},
    "broken": {"status": "failed", "why": "no memory"},
}


@pytest.mark.parametrize(
    ("wish", "met"),
    [
        (Faster(2, ("quick",)), True),
        (Faster(2.1, ("quick",)), False),
        (Faster(2.1, ("quick", "slow")), False),  # the fastest peer decides
        (Faster(50, ("slow",)), True),  # it took longer than its limit, which is enough
        (Faster(51, ("slow",)), None),  # nobody knows
        (Faster(2, ("broken",)), None),
        (Faster(2, ("quick",), side="broken"), False),
        (NoMoreThan(0.5, ("quick",)), True),
        (NoMoreThan(0.49, ("quick",)), False),
        (Memory(1.0), True),
        (Memory(0.9), False),
        (LessMemory(0.1, "quick"), True),
        (LessMemory(0.09, "quick"), False),
        (LessMemory(0.1, "broken"), None),
        (AsMuch("recall", "quick", within=0.011), True),
        (AsMuch("recall", "quick", within=0.009), False),
        (AsMuch("recall", "nobody", within=1), None),
        (NoWiderGap(("quick", "slow")), True),  # who did not arrive has no gap
        (NoWiderGap(("dualfold",), side="quick"), False),
        (NoWiderGap(("quick", "nobody")), None),
        (NoWiderGap(("slow",)), None),
        (NoWiderGap(("quick",), side="broken"), False),
        (NoCopy(), False),  # exactly half of the data more
        (Seconds(2), True),
        (Seconds(1.9), False),
        (Certified(), True),
        (Certified(about="landmarks"), True),
        (Certified("quick"), False),
        (Fact("recall", least=0.95), True),
        (Fact("recall", most=0.95), False),
        (Fact("unheard of", least=1), None),
        (SameQuality("quick"), False),
        (SameQuality("quick", within=0.03), True),
        (SameQuality("dualfold", side="quick"), True),  # better is no harm
        (TimesStage(1.25, "neighbours"), True),
        (TimesStage(1.2, "neighbours"), False),
    ],
)
def test_the_numbers_decide(wish: Any, met: bool | None) -> None:
    assert wish.finding(RUNS).met is met


def test_a_power_is_found_on_the_larger_half() -> None:
    # Constant at first, then n^1.5: the small half must not be seen.
    ladder = {n: max(1.0, 1e-3 * n**1.5) for n in (1, 3, 10, 100, 1_000, 10_000, 100_000)}
    assert exponent(ladder, 0.0) == pytest.approx(1.5)
    assert exponent({10: 1.0}, 0.0) is None
    assert exponent(ladder, 1e9) is None


def test_a_sample_of_all_is_the_t_similarity() -> None:
    X = swiss_roll(600, random_state=0).points
    Y = X[:, :2]
    assert sampled_t_similarity(X, Y) == pytest.approx(t_similarity(X, Y, 10))
    assert sampled_t_similarity(X, np.full_like(Y, np.nan)) is None


def test_runs_are_kept_and_only_the_missing_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "RESULTS", tmp_path)
    assert kept("case", "a side", 1.0) == []
    keep("case", "a side", 1.0, [run(3.0, quality=0.7), run(2.0)])
    runs = kept("case", "a side", 1.0)
    assert usual(runs)["seconds"] == 2.0
    assert usual(runs)["quality"] == 0.7
    assert kept("case", "a side", 0.1) == []
    assert enough(runs, "peer", 2)
    assert not enough(runs, "peer", 3)
    assert enough([run(31.0)], "peer", 3)
    assert not enough([run(31.0)], "ours", 3)
    assert enough([RUNS["broken"]], "ours", 3)
    assert current([RUNS["slow"]], Limits(100)) == [RUNS["slow"]]
    assert current([RUNS["slow"]], Limits(200)) == []  # it may arrive now


def test_a_side_whose_package_is_not_installed_is_left_out() -> None:
    assert missing({"status": "failed", "why": "ModuleNotFoundError: No module named 'openTSNE'"})
    assert not missing(RUNS["broken"])
    assert not missing(RUNS["slow"])


@pytest.mark.full
def test_a_side_runs_in_its_own_process_and_is_stopped() -> None:
    side = CASES["lle-roll"].sides["dualfold"]
    done = run_once("lle-roll", "dualfold", side, 0.01, Limits(60), check=True)
    assert done["status"] == "done", done
    assert done["facts"]["certificate"] == "proved"
    assert 0 < done["stages"]["certify"] < done["seconds"]
    assert 0.3 < done["quality"] <= 1
    late = run_once("lle-roll", "dualfold", side, 0.5, Limits(0.01), check=False)
    assert late["status"] == "limit"
    wrong = Side("ours:lle", "ours")
    assert run_once("lle-roll", "nobody", wrong, 0.01, Limits(60), check=False)["why"]


def test_unfolding_of_another_side_is_judged_by_our_certificate() -> None:
    case = CASES["unfolding-100"]
    data = case.data(1.0)
    answer = case.sides["dualfold"].function()(data.given)
    assert case.check is not None
    facts = case.check(answer, data)
    assert facts["certificate"] == "proved"
    assert facts["gap"] < 1e-8
    worse = replace(answer, points=0.9 * answer.points + 0.1 * answer.points[::-1])
    assert case.check(worse, data)["gap"] > 1e-3


def test_ranks_of_a_map_are_counted_as_by_scikit_learn() -> None:
    data = rung("trustworthiness", 1_000).data(1.0)
    sides = rung("trustworthiness", 1_000).sides.values()
    ours, theirs = (side.function()(data.given).facts["trustworthiness"] for side in sides)
    # Pixels are whole numbers: where distances tie, scikit-learn counts by index, ours excuses it.
    assert -1e-9 < ours - theirs < 1e-5
    assert 0.5 < ours < 0.99


def test_tables_have_a_line_for_every_side_and_wish() -> None:
    results = {"lle-mnist": {"dualfold": RUNS["dualfold"], "scikit-learn": run(17.0)}}
    assert "8.5× scikit-learn | yes" in verdict_table(results)
    assert "10 %" in run_table(results)  # the certificate's share
    json.dumps(plain(results))


def test_every_case_names_functions_of_ours_that_exist() -> None:
    rungs = {method: rung(method, 1_000) for method in LADDERS}
    for case in (*CASES.values(), *rungs.values()):
        for name, side in case.sides.items():
            assert not name.startswith("dualfold") or side.role == "ours"
            if side.role == "ours":
                assert callable(side.function())


def test_what_is_fixed_and_what_a_further_row_costs() -> None:
    line = marginal([(rows, 2.0 + 1e-3 * rows) for rows in (1_000, 10_000, 100_000)])
    assert line["fixed_s"] == pytest.approx(2.0)
    assert line["further_row_us"] == pytest.approx([1_000.0, 1_000.0])
    assert marginal([(10, 1.0)]) == {"fixed_s": None, "further_row_us": []}


def test_small_tables_have_the_same_methods_on_both_sides() -> None:
    ours, theirs = (set(small.methods_of(side)) for side in small.SIDES)
    assert theirs <= ours
    assert len(ours) == 7
    assert all(len(X) <= 600 for X in small.tables().values())


def test_small_fits_are_timed_beside_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "MIN_FITS", 1)
    monkeypatch.setattr(small, "FIT_SECONDS", 0.0)
    found = small.fit_times("dualfold", "iris")
    assert set(found) == set(small.methods_of("dualfold"))
    assert all(ms > 0 for ms in found.values())
