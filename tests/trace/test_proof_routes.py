"""Routes of proof: which is tried, and what a bracket says of rounding."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from dualfold.trace import TraceProblem
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof.routes import evidence
from dualfold.trace.proof.trial_directions import Trial


def test_norms_are_tried_at_any_size(monkeypatch):
    dense = TraceProblem(np.diag([8.0, 1.0, 0.0, 0.0]), count=1, sense="max")
    answer = Trial(np.eye(4)[:, :1], np.array([-8.0]), *np.zeros((2, 1)), 0.0, 0.0)
    case = SimpleNamespace(problem=dense, answer=answer, tolerance=1e-4, extra=0.0)
    found, floor, missed = proofs._norm_route(case)
    assert (floor.proof, floor.seen, missed) == ("norm", 1, False)
    assert found.gap <= 1e-4


def test_what_rounding_may_add_is_said_to_be_rounding(monkeypatch):
    monkeypatch.setattr(proofs, "span_error", lambda *_: 0.125)
    monkeypatch.setattr(proofs, "exact_proof", lambda *_: None)
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, -6.0]), count=1, sense="max")
    found = evidence(problem, np.eye(4)[:, 2:3], 8.0, 1e-4, False).bracket
    assert found.blurred >= 0.9 * found.apart > 0.5
