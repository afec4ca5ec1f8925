"""What runs of games may claim, and the dual of unfolding on graphs with known eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from tests.theory.games.door import RunBounds, RunTerms


def judged(upper, lower, **terms):
    return RunBounds(upper=np.array(upper), lower=np.array(lower), terms=RunTerms(**terms))


def test_gaps_keep_the_best_bound_so_far():
    run = judged([9.0, 5.0, 6.0], [1.0, 4.0, 2.0])
    np.testing.assert_allclose(run.gap, [8.0, 1.0, 2.0])
    assert (run.gap >= [8.0, 1.0, 2.0]).all()
    assert run.certificate.bound == 4.0
    assert run.certificate.value == 6.0
    assert run.certificate.gap == pytest.approx(0.5)
    assert run.certificate.absolute_gap == pytest.approx(2.0)
    none = judged([1.0, np.inf], [-np.inf, -np.inf], why_infinite="state a ball")
    assert np.isinf(none.gap).all()
    assert none.level == "failed"
    assert none.certificate.reasons == ("the gap is infinite: state a ball",)
    assert "state a ball" in none.sentence()
    above = judged([1.0], [1.0 + 1e-12])
    assert above.gap[0] == 0.0
    assert above.certificate.gap == 0.0


@pytest.mark.parametrize(
    ("value", "bound", "tolerance", "level"),
    [
        (1.00001, 1.0, 1e-4, "proved"),
        (1.00001, 1.0, 1e-6, "within"),
        (-1.0, -1.00001, 1e-4, "proved"),
        (3.0, 1.0, 1e-4, "failed"),
        (1e-9, -1e-9, 1e-4, "unresolved"),
        (1e-9, 0.0, 1e-4, "unresolved"),
        (-2.0, -3.0, 0.51, "proved"),
        (-2.0, -3.0, 0.49, "within"),
    ],
)
def test_levels_by_the_gap(value, bound, tolerance, level):
    run = judged([value], [bound], tolerance=tolerance)
    assert run.level == level
    assert (run.certificate.reasons == ()) == (level == "proved")
    free = judged([value], [bound], tolerance=tolerance, unbounded="f is your own")
    assert free.level == "unresolved"
    assert free.certificate.reasons == ("f is your own",)
    assert "but for rounding: f is your own" in free.sentence()


def test_what_terms_are_about():
    assert RunTerms().about == "f + ψ at the answer against its minimum"
    assert RunTerms(assumed="in a ball").about.endswith(", in a ball")
    assert "at most 0.2 outside" in RunTerms(outside=0.2).about
    assert "not known" in RunTerms(outside=np.inf).about
    run = judged([1.0], [1.0 - 1e-9], assumed="in a ball")
    assert run.sentence().endswith("in a ball")
    assert "of the minimum" in run.sentence()
    assert "may be 0" in judged([1e-9], [-1e-9]).sentence()
