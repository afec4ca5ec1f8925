"""Every route of proof: what it proves of right and of rough answers is true, and close.

Families with known spectra times routes (`tests/proofs/fuzz_trace.py` forces one). That no route
says anything false of any answer is for the judge (`test_judge.py`).
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem, certify
from tests.proofs.families import FAMILIES
from tests.proofs.fuzz_trace import routes
from tests.workflows.test_contract import dense_reference


def gap_of(family):
    """The distance from the last wanted eigenvalue to the next."""
    d = family.problem.count
    return abs(family.spectrum[d] - family.spectrum[d - 1])


WIDE = [family for family in FAMILIES if gap_of(family) > 1e-3 * np.abs(family.spectrum).max()]
RESOLVED = [family for family in WIDE if family.name != "path, max"]  # against its optimum, too


def cases(families):
    more = {"csr_array": ["inertia"], "Gramian": ["augmented", "turned"]}
    return [
        pytest.param(family, route, id=f"{family.name}-{route}")
        for family in families
        for route in ("natural", "Cholesky", *more.get(type(family.problem.A).__name__, []))
    ]


def turned(V, first, other, sine):
    """The columns `first` and `other` turned into one another."""
    W = V.copy()
    W[:, first] = np.sqrt(1 - sine**2) * V[:, first] + sine * V[:, other]
    W[:, other] = np.sqrt(1 - sine**2) * V[:, other] - sine * V[:, first]
    return W


@pytest.mark.parametrize("guards", [0, 1, 3])
@pytest.mark.parametrize(("family", "route"), cases(WIDE))
def test_a_third_of_the_gap_behind_the_answer_is_proved(family, route, guards):
    problem = family.problem
    if isinstance(problem.A, Gramian) and not guards:
        return  # nothing tells where the next of its values lies
    _, V = dense_reference(problem)
    with routes(route):
        found = certify(problem, V[:, : problem.count + guards])
    assert found.level == "proved"
    assert 0.3 * gap_of(family) <= found.eigengap <= gap_of(family)
    last = family.spectrum[problem.count - 1]
    assert abs(found.floor - last) == pytest.approx(found.eigengap, rel=0.25)


@pytest.mark.parametrize(("family", "route"), cases(RESOLVED))
def test_a_rough_answer_is_proved_to_be_no_worse_than_it_is(family, route):
    """A little of the far end, or of the next direction, is in it: it loses the square of that."""
    problem, spectrum, d = family.problem, family.spectrum, family.problem.count
    _, V = dense_reference(problem)
    optimum = abs(spectrum[:d].sum())
    for other, sine, most in ((len(V.T) - 1, 1e-2, 2.0), (d, 0.02, 1.3)):
        first = 0 if other > d else d - 1
        over = sine**2 * abs(spectrum[-1 if other > d else d] - spectrum[first]) / optimum
        with routes(route):
            found = certify(problem, turned(V, first, other, sine)[:, : d + 1], tolerance=1e-9)
        assert found.level == "within"
        assert over * (1 - 1e-9) <= found.gap <= most * over


@pytest.mark.parametrize("family", WIDE, ids=lambda family: family.name)
def test_guards_are_hints_whatever_their_length_and_whatever_else_is_among_them(family):
    problem, d = family.problem, family.problem.count
    _, V = dense_reference(problem)
    wanted = certify(problem, V[:, : d + 2])
    useless = np.column_stack([V[:, 0], V[:, d] + V[:, 1], np.full(problem.n, np.nan)])
    for size in (1e-150, 1e-5, 1e7, 1e150):
        guards = np.hstack([useless, size * V[:, d : d + 2]])
        found = certify(problem, np.hstack([V[:, :d], guards]))
        assert (found.level, found.proof) == (wanted.level, wanted.proof)
        assert found.eigengap == pytest.approx(wanted.eigengap, rel=1e-3)


def test_better_directions_beyond_the_answer_prove_it_where_its_own_gap_is_rounding():
    """Two values differ in the 12th digit; a guard vector shows the gap behind both."""
    values = np.r_[1.0, 1 + 1e-12, 3.0, np.linspace(4, 1e6, 397)]
    problem = TraceProblem(sp.csr_array(sp.diags_array(values)), count=1)
    found = certify(problem, np.eye(400)[:, :3], tolerance=1e-11)
    assert found.level == "proved"
    assert found.bound <= 1


def test_a_tolerance_is_met_by_a_gap_that_is_just_as_large():
    problem, V = TraceProblem(np.diag([1.0, 2.0, 4.0, 8.0]), count=1), np.eye(4)
    rough = turned(V, 0, 3, 0.1)[:, :1]
    gap = certify(problem, rough).gap
    assert certify(problem, rough, tolerance=gap).level == "proved"
    assert certify(problem, rough, tolerance=gap * (1 - 1e-12)).level == "within"


def test_a_narrow_gap_is_resolved_without_guards_where_a_direction_is_excluded():
    """The next value of a small dense problem is computed, with what is excluded far above it."""
    problem = TraceProblem(np.diag([0.0, 1.0, 1.001, 2.0, 5.0]), count=1, excluded=np.eye(5)[:, :1])
    found = certify(problem, np.eye(5)[:, 1:2])
    assert found.level == "proved"
    assert 0.3e-3 <= found.eigengap <= 1e-3
