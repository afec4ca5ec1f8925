"""Parts that cliques make rigid, and the K that keep them: against points and ranks by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dualfold.data import swiss_roll
from dualfold.graph import join_pieces, knn
from dualfold.unfolding import UnfoldingProblem, contraction_of
from dualfold.unfolding.solvers.face_path import FacePath, _precise_schur, face_of
from dualfold.unfolding.solvers.rigid import dependencies, rigid_parts


def problem_of(X, cliques, digits=None):
    edges = np.array(sorted({(i, j) for c in cliques for i in c for j in c if i < j}))
    d2 = ((X[edges[:, 0]] - X[edges[:, 1]]) ** 2).sum(axis=1)
    return UnfoldingProblem(len(X), edges, d2 if digits is None else d2.round(digits), "equal")


def rank(A):
    return np.linalg.matrix_rank(A.toarray(), tol=1e-9) if A.shape[0] else 0


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_a_clique_has_a_dependency_for_each_point_too_many(dimension):
    X = np.random.default_rng(dimension).standard_normal((8, dimension))
    A = dependencies(problem_of(X, [range(8)]))
    assert A.shape[0] == rank(A) == 8 - dimension - 1
    assert np.abs(A @ np.c_[X, np.ones(8)]).max() < 1e-12


@pytest.mark.parametrize(("shared", "parts"), [(3, 2), (4, 1)])
def test_two_cliques_are_one_where_they_share_points_that_span_them(shared, parts):
    """In space: with three common points there is a hinge, with four there is none."""
    X = np.random.default_rng(5).standard_normal((12 - shared, 3))
    problem = problem_of(X, [range(6), range(6 - shared, 12 - shared)])
    found = rigid_parts(problem)
    assert len(found) == parts
    together = len(X) - 4 if parts == 1 else 2 + 2
    assert dependencies(problem).shape[0] == together
    for part in found:  # places are those of the points, up to a move
        own = X[list(part.points)]
        for of in (own, part.places):
            of -= of.mean(axis=0)
        assert np.allclose(own @ own.T, part.places @ part.places.T, atol=1e-12)


def test_a_flat_clique_inside_a_part_of_space_joins_it():
    """Four points of a plane share three with a part of space: the fourth has its place."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((7, 3))
    X[6] = X[0] + 0.3 * (X[1] - X[0]) + 0.4 * (X[2] - X[0])
    found = rigid_parts(problem_of(X, [range(6), (0, 1, 2, 6)]))
    assert [part.points for part in found] == [tuple(range(7))]


def test_a_grid_is_one_part():
    """Eight neighbours each: joining pair by pair, cliques on the way were too many to list."""
    side = 12
    X = np.array([(i, j) for i in range(side) for j in range(side)], dtype=float)
    (part,) = rigid_parts(contraction_of(join_pieces(knn(X, 8)), constraints="equal").problem)
    assert part.points == tuple(range(side**2))
    own = X - X.mean(axis=0)
    places = part.places - part.places.mean(axis=0)
    assert np.allclose(own @ own.T, places @ places.T, atol=1e-9)


def test_lengths_of_seven_digits_and_trees_have_none():
    X = np.random.default_rng(3).standard_normal((6, 3))
    assert dependencies(problem_of(X, [range(6)], digits=7)).shape[0] == 0
    assert dependencies(problem_of(X, [(i, i + 1) for i in range(5)])).shape[0] == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_kept_lengths_of_a_roll_say_all(seed):
    """Ranks by hand; X and a folded X have all dependencies, other points do not."""
    X = swiss_roll(80, random_state=seed).points
    problem = contraction_of(join_pieces(knn(X, 6)), constraints="equal").problem
    A = dependencies(problem)
    assert A.shape[0] == rank(A) > 10
    assert np.abs(A @ X).max() < 1e-10
    assert np.abs(A @ X[np.random.default_rng(0).permutation(80)]).max() > 0.1
    face = face_of(problem, A)
    U = face.basis
    assert U.shape[1] == 80 - A.shape[0] - 1
    assert np.abs(A @ U).max() < 1e-10
    assert np.abs(U.sum(axis=0)).max() < 1e-10
    i, j = problem.edges.T
    C = U[i] - U[j]
    pairs = np.triu_indices(C.shape[1])
    lengths = (C[:, :, None] * C[:, None, :])[:, pairs[0], pairs[1]]
    assert len(face.edges) == np.linalg.matrix_rank(lengths, tol=1e-6)
    assert np.linalg.matrix_rank(lengths[face.edges], tol=1e-6) == len(face.edges)


def test_the_path_bounds_the_points_of_the_data_and_keeps_every_length():
    """Z and S are factors of what they stand for; edges that were left out follow."""
    X = swiss_roll(80, random_state=1).points
    problem = contraction_of(join_pieces(knn(X, 6)), constraints="equal").problem
    face = face_of(problem, dependencies(problem))
    squared = problem.squared[face.edges]
    path = FacePath(face, squared)
    here = path.first
    while here.gap > 4e-4:
        here = path.step(here, 0.0)
    S = (face.rows.T * here.weights) @ face.rows - np.eye(face.rows.shape[1])
    assert np.allclose(here.E @ here.E.T, S, atol=1e-8 * np.abs(S).max())
    Y = face.basis @ here.F
    assert np.abs(problem.squared_lengths(Y) / problem.squared - 1).max() < 1e-4
    variance = float(((X - X.mean(axis=0)) ** 2).sum())
    upper = float(here.weights @ squared)  # for K that keep all lengths, as X does
    assert variance < problem.value(Y) < upper * (1 + 1e-3)


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_steps_at_a_held_gap_get_onto_the_lengths(seed, precise):
    """Every length by hand, those left out too; the gap stays where it is held."""
    X = swiss_roll(60, random_state=seed).points
    problem = contraction_of(join_pieces(knn(X, 6)), constraints="equal").problem
    face = face_of(problem, dependencies(problem))
    path = FacePath(face, problem.squared[face.edges])
    here = replace(path.first, precise=precise)
    for _ in range(40):
        here = path.step(here, 1e-3)
    assert here.precise or not precise
    Y = face.basis @ here.F
    apart = Y[problem.edges[:, 0]] - Y[problem.edges[:, 1]]
    assert np.abs((apart**2).sum(axis=1) / problem.squared - 1).max() < 1e-9
    assert here.gap == pytest.approx(1e-3, rel=0.1)


def test_nearly_dependent_lengths_are_solved_for_in_double_doubles():
    """Against fractions: three rows of V nearly on a line, as three points nearly are."""
    V = np.random.default_rng(2).standard_normal((5, 3))
    V[2] = V[0] + 2.0**-30 * V[1]
    V[3] = V[0] - 2.0**-30 * V[4]
    exact = [[Fraction(float(x)) for x in row] for row in V]
    H = [[sum(x * y for x, y in zip(a, b, strict=True)) ** 2 for b in exact] for a in exact]
    rhs = np.arange(1.0, 6.0)
    found, weighted = _precise_schur(V, np.zeros(5))(rhs)
    x = _solved([Fraction(float(y)) for y in rhs], H)
    assert found == pytest.approx([float(y) for y in x], rel=1e-9)
    for i in range(3):
        for j in range(3):
            total = sum(y * row[i] * row[j] for y, row in zip(x, exact, strict=True))
            assert weighted[i, j] == pytest.approx(float(total), rel=1e-9)


def _solved(rhs, H):
    """H⁻¹rhs by Gauss's elimination, exactly."""
    rows = [[*row, right] for row, right in zip(H, rhs, strict=True)]
    for k in range(len(rows)):
        for other in rows[:k] + rows[k + 1 :]:
            share = other[k] / rows[k][k]
            other[:] = [x - share * y for x, y in zip(other, rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]
