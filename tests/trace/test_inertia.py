"""Counts of eigenvalues below a height pay for the rounding of the shift and the factor."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace import TraceProblem
from dualfold.trace.proof import completeness
from dualfold.trace.proof.completeness import factor_with_room, pivot_floor
from dualfold.trace.proof.dense_inertia import _negative_blocks, dense_inertia
from dualfold.trace.proof.trial_directions import trial
from dualfold.trace.sparse.shifted_matrices import shifted_matrices
from tests.proofs.coarse import U, coarse


def test_room_for_rounding_is_twice_what_was_lost(monkeypatch):
    A = sp.csr_array(4 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    problem = TraceProblem(A, count=2)
    pencil = shifted_matrices(problem)
    matrix = pencil.at(1.0)
    factor = completeness.factorise(matrix, pencil.ordering)
    lost = np.array([0.01, 0.02, 0.0, 0.03, 0.01])
    monkeypatch.setattr(completeness, "_shift_rounding", lambda *_: lost)
    seen = []
    plain = completeness.factorise
    monkeypatch.setattr(
        completeness, "factorise", lambda m, o: seen.append(m.diagonal()) or plain(m, o)
    )
    assert factor_with_room(problem, factor, matrix, 1.0) is not None
    room = matrix.diagonal() - seen[-1]
    assert (room >= 2 * lost).all()
    assert (room <= 2 * lost + 1e-12).all()


def test_blocks_of_pivots_by_hand():
    """2×2: one of each sign where the determinant is negative, else two of the trace's."""
    for D, negative in (
        (np.diag([1.0, -2.0, 3.0]), 1),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), 1),
        (np.array([[-2.0, 1.0], [1.0, -2.0]]), 2),
        (np.array([[2.0, 1.0], [1.0, 2.0]]), 0),
        (np.diag([1.0, 0.0]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), None),
        (np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]), None),
    ):
        assert _negative_blocks(D) == negative


def test_a_count_is_lowered_by_the_worst_row(monkeypatch):
    A = sp.csr_array(np.diag([1.0, 2.0, 3.0]) + 0.1)
    lost = np.array([1e-3, 5e-3, 2e-3])
    monkeypatch.setattr(completeness, "_shift_rounding", lambda *_: lost)
    for B, fall in ((None, 5e-3), (np.array([1.0, 10.0, 0.5]), 4e-3)):
        problem = TraceProblem(A, B, 1)
        pencil = shifted_matrices(problem)
        matrix = pencil.at(0.5)
        factor = completeness.factorise(matrix, pencil.ordering)
        found = completeness.counted_height(problem, factor, matrix, 0.5)
        assert 0.5 - fall * (1 + 1e-5) - 1e-13 <= found <= 0.5 - fall


@pytest.mark.parametrize("height", [-2.5, 1.5])
def test_filled_counts_pay_for_a_shift_of_either_sign(monkeypatch, height):
    coarse(monkeypatch)
    A, B = np.diag([-3.0, -2.0, 1.0, 2.0]) / 64, np.diag([1.0, 2.0, 1.0, 4.0]) + 0.25
    problem = TraceProblem(A, B, count=1)
    answer = trial(problem, np.eye(4)[:, :1] / np.sqrt(1.25))
    found = pivot_floor(problem, answer, 1, height, 0.0)
    entries = U * (np.abs(A - height * B) + abs(height) * np.abs(B))
    moved = scipy.linalg.eigh(entries, B, eigvals_only=True)[-1]
    assert moved <= height - found.height


def test_counts_of_what_is_no_number_are_none():
    assert dense_inertia(np.diag([1.0, -2.0, 3.0]))[0] == 1
    assert dense_inertia(np.full((2, 2), np.nan)) is None
    assert dense_inertia(np.array([[0.0, 2.0], [2.0, 0.0]]))[0] == 1  # a block of two
