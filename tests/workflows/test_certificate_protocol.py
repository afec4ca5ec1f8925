"""One protocol for every certificate: fields, words, JSON, and a level that fits the gap."""

from __future__ import annotations

import functools
import json
import pickle
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import dualfold
from dualfold import NeighborMap
from dualfold.certificate import Level
from dualfold.errors import InvalidInput
from dualfold.games import LeastSquares, nesterov
from dualfold.point_pca import certify_points
from dualfold.programs import (
    LinearProgram,
    certify_infeasible,
    certify_program,
    solve_program,
)
from dualfold.unfolding import certify_unfolding, unfold
from tests.tools.tables import roll_points
from tests.workflows.door import PiecewiseCertificate, short_verdict, verdict

FIELDS = {
    "level", "gap", "value", "bound", "tolerance", "reasons", "about", "chance", "complete",
    "holds", "verdict", "schema",
}  # fmt: skip
ROLL = roll_points(80, random_state=0)
TABLE = np.random.default_rng(0).standard_normal((60, 5)) * [9.0, 5.0, 1.0, 1.0, 1.0]
APART = np.vstack([ROLL, ROLL + 1e3])
PROBLEM = dualfold.TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)
TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
DIET = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
TORN = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])
LINE = LeastSquares(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
PLANE = LeastSquares(np.eye(2), np.ones(2))


def searched() -> dualfold.Certificate:
    spectrum = np.r_[-9.0, -8.0, np.linspace(0, 1, 5_998)]
    operator = aslinearoperator(sp.diags_array(spectrum))
    return dualfold.certify(dualfold.TraceProblem(operator, count=2), np.eye(6_000, 2))


@functools.cache
def unfolding() -> Any:
    return unfold(dualfold.graph.knn(ROLL, 6))


def judged(factor: Any = 1.0, weights: Any = 1.0) -> dualfold.Certificate:
    """The unfolding with its two sides scaled."""
    made = unfolding()
    Y, w = made.solution.factor, made.solution.weights
    return certify_unfolding(made.problem, factor * Y, weights * w)


def fitted(name: str, X: Any, *arguments: Any, **settings: Any) -> dualfold.Certificate:
    return getattr(dualfold, name)(*arguments, **settings).fit(X).certificate_


MVU = "MaximumVarianceUnfolding"
# Certificates of small fits, of every class and of good and bad answers, made when first asked for.
EXAMPLES: dict[str, Callable[[], dualfold.Certificate]] = {
    # By estimators
    "PCA": lambda: fitted("PCA", TABLE, 2),
    "PointPCA": lambda: fitted("PointPCA", TABLE, 2),
    "RandomProjection": lambda: fitted("RandomProjection", TABLE, 3, random_state=0),
    "Isomap": lambda: fitted("Isomap", ROLL, n_neighbors=8),
    "LPP": lambda: fitted("LocalityPreservingProjection", TABLE),
    "pieces of Isomap": lambda: fitted("Isomap", APART, n_neighbors=8, pieces="separate"),
    "pieces of MVU": lambda: fitted(MVU, APART, n_neighbors=8, pieces="separate"),
    "MVU": lambda: fitted(MVU, ROLL, n_neighbors=6),
    "MVU by landmarks": lambda: fitted(MVU, ROLL, n_neighbors=6, solver="landmark"),
    "TSNE": lambda: fitted("TSNE", TABLE, perplexity=10.0, max_iter=300),
    "points that t-SNE would move": lambda: dualfold.TSNE(perplexity=10.0).judged_points(
        TABLE, TABLE[:, :2]
    ),
    # Trace problems
    "eigenvectors": lambda: dualfold.certify(PROBLEM, np.eye(4)[:, :2]),
    "turned eigenvectors": lambda: dualfold.certify(PROBLEM, np.eye(4)[:, :2] @ TURN),
    "a missed direction": lambda: dualfold.certify(PROBLEM, np.eye(4)[:, [0, 2]]),
    "an operator that was searched": searched,
    "no orthonormal columns": lambda: dualfold.certify(PROBLEM, np.ones((4, 2))),
    "not a number": lambda: dualfold.certify(PROBLEM, np.full((4, 2), np.nan)),
    # Points
    "wrong points": lambda: certify_points(TABLE, TABLE[:, 2:4]),
    "least stress": lambda: dualfold.MDS().fit(TABLE).certificate_,
    "least stress, on a line": lambda: dualfold.MDS(1).fit(TABLE[:, :1]).certificate_,
    "order of distances": lambda: dualfold.MDS(metric_mds=False).fit(TABLE).certificate_,
    "points that are no numbers": lambda: certify_points(TABLE, np.full((60, 2), np.nan)),
    # Maps that grew
    "frozen PCA": lambda: (
        dualfold.PCA(2).fit(TABLE[:50]).extend(TABLE[50:], old=TABLE[:50]).staleness_
    ),
    "frozen eigenmaps": lambda: (
        dualfold.LaplacianEigenmaps().fit(ROLL[:70]).extend(ROLL[70:]).staleness_
    ),
    "frozen t-SNE": lambda: (
        dualfold.TSNE(perplexity=8.0).fit(ROLL[:70]).extend(ROLL[70:]).staleness_
    ),
    # Aligned maps
    "aligned maps": lambda: dualfold.AlignedMaps(mu=0.1).fit([ROLL, ROLL + 0.1]).certificate_,
    "aligned t-SNE": lambda: (
        dualfold.AlignedMaps(method="tsne", mu=0.1, perplexity=8.0)
        .fit([ROLL, ROLL + 0.1])
        .certificate_
    ),
    # Programs
    "program": lambda: certify_program(DIET, [4.0, 0.0], [2.0]),
    "program, wrong multiplier": lambda: certify_program(DIET, [4.0, 0.0], [2.1]),
    "program, broken constraint": lambda: certify_program(DIET, [1.0, 0.0], [2.0]),
    "program, not optimal": lambda: certify_program(DIET, [4.2, 0.0], [2.0]),
    "infeasible": lambda: certify_infeasible(TORN, [1.0, 1.0]),
    "no ray": lambda: certify_infeasible(TORN, [1.0, 0.0]),
    "unbounded": lambda: solve_program(LinearProgram([-1.0], [[-1.0]], [0.0])).certificate,
    # Unfoldings
    "unfolding": lambda: unfolding().certificate,
    "unfolding, bad weights": lambda: judged(weights=-1.0),
    "unfolding, no numbers": lambda: judged(factor=np.nan),
    "unfolding, equal": lambda: (
        unfold(dualfold.graph.knn(ROLL[:30], 4), constraints="equal").certificate
    ),
    # Neighbour maps
    "neighbour map": lambda: NeighborMap(spread=0.01).fit(ROLL[:40]).certificate_,
    "neighbour map, strict": lambda: (
        NeighborMap(spread=0.3, tolerance=0.0).fit(ROLL[:40]).certificate_
    ),
    "neighbour map, wide": lambda: NeighborMap(spread=30.0).fit(ROLL[:40]).certificate_,
    # Games
    "game": lambda: nesterov(LINE, np.zeros(1)).play(200).certificate,
    "game, too short": lambda: nesterov(LINE, np.zeros(1)).play(1).certificate,
    "game, minimum 0": lambda: nesterov(PLANE, np.zeros(2)).play(50).certificate,
}


@functools.cache
def example(name: str) -> dualfold.Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EXAMPLES[name]()


every = pytest.mark.parametrize("name", EXAMPLES)


def kinds(base: type = dualfold.Certificate) -> set[type]:
    """All classes of certificates, as Python knows them."""
    return {kind for child in base.__subclasses__() for kind in {child, *kinds(child)}}


def test_every_class_of_certificate_is_an_example() -> None:
    examples = {type(certificate) for certificate in map(example, EXAMPLES)}
    assert kinds() == examples
    assert len(kinds()) >= 12


def test_the_examples_have_good_and_bad_levels() -> None:
    seen = {certificate.level for certificate in map(example, EXAMPLES)}
    assert seen >= {"proved", "within", "measured", "unresolved", "failed", "not stationary"}


@every
def test_fields_have_their_types(name: str) -> None:
    found = example(name)
    assert found.level in get_args(Level)
    for number in (found.gap, found.value, found.bound, found.tolerance, found.chance):
        assert isinstance(number, float)
    assert found.gap >= 0
    assert 0 <= found.tolerance <= 1
    assert 0 <= found.chance <= 1
    assert isinstance(found.reasons, tuple)
    assert all(isinstance(reason, str) and reason for reason in found.reasons)
    assert isinstance(found.about, str)
    assert found.complete in (None, True, False)


@every
def test_the_level_fits_gap_and_tolerance(name: str) -> None:
    found = example(name)
    if found.level == "proved":
        assert found.gap <= found.tolerance
        assert found.chance == 0
        assert not found.reasons
    if found.level == "within":
        assert found.tolerance < found.gap < 1
        assert found.reasons
    if found.level in ("failed", "unresolved"):
        assert found.reasons
    assert found.holds == (found.level in ("proved", "measured") and found.gap <= found.tolerance)


@every
def test_the_gap_covers_the_distance_from_value_to_bound(name: str) -> None:
    found = example(name)
    # Of points the gap is a share of another number; rays have an infinite optimum.
    if type(found).__name__ in ("PointCertificate", "RayCertificate") or not found.gap < 1:
        return
    if getattr(found, "measure", "") == "angles":
        return
    largest = max(abs(found.value), abs(found.bound))
    # The distance is known to second order in rounding, the two numbers to first.
    assert abs(found.value - found.bound) <= (found.gap + 1e-11) * largest


@every
def test_it_is_json_and_says_the_same(name: str) -> None:
    found = example(name)
    told = found.to_dict()
    again = json.loads(json.dumps(told, allow_nan=False))
    assert again == told
    assert set(told) >= FIELDS
    assert told["level"] == found.level
    assert told["gap"] == (found.gap if np.isfinite(found.gap) else None)
    assert told["reasons"] == list(found.reasons)
    assert told["verdict"] == str(found)
    assert told["schema"].startswith("dualfold.")


@every
def test_it_prints_as_a_short_verdict(name: str) -> None:
    found = example(name)
    said = str(found)
    assert said.startswith(found.level)
    assert "\n" not in said
    assert len(said) < 600
    if found.level in ("failed", "unresolved"):
        assert all(reason in said for reason in found.reasons)


@every
def test_the_command_line_has_words_for_it(name: str) -> None:
    found = example(name)
    method: Any = SimpleNamespace(nothing_better="no other {d} coordinate{s} are better")
    said = verdict(method, found, 2)
    assert said.endswith(".")
    assert said.startswith("Proved") == (found.level == "proved")
    assert short_verdict(found)


@every
def test_doubts_make_it_fail(name: str) -> None:
    found = example(name)
    assert found.with_doubts() is found
    worse = found.with_doubts("the table is another one")
    assert type(worse) is type(found)
    assert worse.level == "failed"
    assert not worse.holds
    assert worse.reasons == ("the table is another one", *found.reasons)
    assert str(worse).startswith("failed: the table is another one")


@every
def test_it_can_be_pickled(name: str) -> None:
    found = example(name)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()


def test_pieces_are_as_good_as_the_worst_of_them() -> None:
    good, bad = example("eigenvectors"), example("a missed direction")
    assert PiecewiseCertificate.of([good, good]).level == "proved"
    both = PiecewiseCertificate.of([good, bad])
    assert both.level == "failed"
    assert both.gap == max(good.gap, bad.gap)
    assert both.reasons == tuple(f"piece 2: {reason}" for reason in bad.reasons)
    assert both.value == good.value + bad.value
    rough = example("MVU by landmarks")
    assert PiecewiseCertificate.of([good, rough]).level == "within"
    assert rough.about in PiecewiseCertificate.of([good, rough]).about
    searched = example("an operator that was searched")
    assert PiecewiseCertificate.of([good, searched]).level == "measured"
    assert PiecewiseCertificate.of([good, searched]).chance == searched.chance > 0


@pytest.mark.parametrize("certify", [
    lambda X: dualfold.certify(X, X),
    lambda X: dualfold.certify(pd.DataFrame(X), X),
    lambda X: dualfold.certify(dualfold.PCA(2).fit(X), X),
    lambda X: dualfold.certify("table.csv", X),
    lambda X: dualfold.embed(X),
    lambda X: dualfold.methods.points.tsne.certify_tsne(X, X),
    lambda X: dualfold.unfolding.certify_unfolding(X, X, X[:, 0]),
    lambda X: dualfold.methods.points.neighbor_map.certify_neighbors(X, X),
    lambda X: dualfold.programs.certify_program(X, X[0], X[0]),
    lambda X: dualfold.programs.certify_infeasible(X, X[0]),
    lambda X: dualfold.programs.certify_unbounded(X, X[0], X[0]),
])  # fmt: skip
def test_what_is_no_problem_is_refused_in_a_sentence(certify):
    with pytest.raises(InvalidInput, match=r"is of type \w+, not .*; .*state") as caught:
        certify(np.eye(6)[:, :3])
    assert caught.value.argument in ("problem", "program")
