"""Every experiment runs at its smallest size, agrees with the paper, and can be written."""

import inspect

import numpy as np
import pytest

import papers
from dualfold.errors import InvalidInput
from papers import (
    Done,
    Experiment,
    Finding,
    Row,
    Setting,
    chosen,
    experiments,
    html_report,
    markdown_report,
    run,
)
from papers.finding import agrees
from papers.report import number, summary

ALL = experiments()
BRIEF = Setting("brief")


@pytest.mark.parametrize("experiment", ALL, ids=lambda one: one.name)
def test_holds(experiment: Experiment) -> None:
    finding = experiment.run(BRIEF)
    assert not finding.failed, [(row.what, row.paper, row.ours) for row in finding.failed]
    assert finding.sentence.endswith(".")
    assert finding.rows
    numbers = [row.ours for row in finding.rows if not isinstance(row.ours, str)]
    assert np.isfinite(numbers).all()
    done = Done(experiment, finding, 1.0)
    assert experiment.name in markdown_report([done], BRIEF)
    assert html_report([done], BRIEF).count("<img") == len(finding.figures)


def test_names_differ_and_papers_are_known() -> None:
    assert len({one.name for one in ALL}) == len(ALL)
    for one in ALL:
        assert one in chosen([one.paper])
        assert chosen([one.name])[0].name.startswith(one.name)


def test_unknown_name_gets_a_hint() -> None:
    with pytest.raises(InvalidInput, match="tucker"):
        chosen(["tuker"])


def _done(*rows: Row) -> Done:
    experiment = Experiment("made-up", "T", "Figure 0", "A <b>", lambda setting: Finding("", ()))
    return Done(experiment, Finding("Says `so` & so.", rows), 0.5)


def test_a_row_that_does_not_hold_is_seen() -> None:
    found = [_done(Row("a|b", 1.0, 1.5, False, "≤ 0.1"), Row("c", None, 2.0))]
    assert "1 of them with an expected value; 1 did not" in summary(found)
    assert "(in made-up)" in summary(found)
    assert "| a\\|b | 1 | 1.5 | +0.5 | **no** | ≤ 0.1 |" in markdown_report(found, BRIEF)
    page = html_report(found, BRIEF)
    assert '<tr class="off">' in page
    assert "A &lt;b&gt;" in page
    assert "<code>so</code> &amp; so" in page


def test_a_comparison_of_arrays_is_seen_too() -> None:
    finding = Finding("", (Row("a", 0.0, 1.0, np.float64(1.0) < 0.5),))  # type: ignore[arg-type]
    assert len(finding.failed) == 1
    assert finding.failed[0].holds is False


def test_agreement_is_about_the_distance_on_either_side() -> None:
    assert agrees("a", 1.0005, 1e-3, paper=1.0).holds
    assert agrees("a", 0.9995, 1e-3, paper=1.0).holds
    assert not agrees("a", 1.01, 1e-3, paper=1.0).holds
    assert not agrees("a", np.nan, 1e-3).holds
    assert agrees("a", 0.0, 1e-3, about="why").note == "within 1e-3; why"


def test_one_that_breaks_takes_nothing_with_it() -> None:
    def broken(setting: Setting) -> Finding:
        raise ValueError("no such matrix")

    fine, bad = _done().experiment, Experiment("bad", "T", "§0", "Breaks", broken)
    found = list(run([bad, fine], BRIEF))
    assert found[0].finding.failed[0].note == "ValueError: no such matrix"
    assert not found[1].finding.failed


def test_numbers_in_words() -> None:
    assert number(-0.00012345) == "−0.0001234"
    assert number(None) == ""
    assert number("all") == "all"


def test_every_public_name_has_a_docstring() -> None:
    things = [getattr(papers, name) for name in papers.__all__]
    named = [thing for thing in things if inspect.isclass(thing) or inspect.isroutine(thing)]
    assert len(named) >= 10
    assert not [thing for thing in named if not inspect.getdoc(thing)]
