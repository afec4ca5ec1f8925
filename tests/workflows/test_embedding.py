"""Embeddings: frozen, with a story, and a warning where the certificate fails."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import CertificateFailed
from dualfold.graph import knn
from dualfold.methods import eigenmaps, pca
from dualfold.trace.solvers import Dense
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


def test_embedding_warns_when_its_certificate_fails():
    from dataclasses import dataclass, replace

    from tests.workflows.door import Solver

    @dataclass(frozen=True)
    class Careless(Solver):
        def attempt(self, problem):
            solution = Dense().attempt(problem)
            return replace(solution, vectors=np.hstack([solution.vectors[:, :1], solution.guard]))

    with pytest.warns(CertificateFailed, match="missed"):
        embedding = dualfold.embed(pca(DATA["digits"], n_components=2), solver=Careless())
    assert embedding.certificate.level == "failed"


def test_embedding_is_frozen_and_tells_its_story():
    embedding = dualfold.embed(eigenmaps(knn(DATA["roll"], 10)))
    with pytest.raises(AttributeError):
        embedding.points = None  # type: ignore[misc]
    assert "proved" in repr(embedding)
    assert set(embedding.seconds) == {"solve", "certify", "lift"}
