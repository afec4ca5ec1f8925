"""Rows that tie: audit, page and command line say that a rotation keeps all neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold import PCA, audit
from tests.cli.command_line import run
from tests.view.door import Map, measured_map


def test_audit_page_and_command_line_say_that_a_rotation_keeps_all(tmp_path):
    X = np.random.default_rng(11).integers(1, 6, (200, 3)).astype(float)
    Y = PCA(3).fit_transform(X)
    assert audit(X, Y).picture.kept == pytest.approx(1)
    page = measured_map(Map("turned", Y), X)
    assert page.ranks.t_similarity(7) == pytest.approx(1)
    for row in range(0, 200, 7):
        near = np.lexsort((np.arange(200), cdist(Y[[row]], Y)[0]))
        tied = page.tied[1][page.tied[0] == row]
        assert set(near[near != row][:10]) <= {*page.neighbors[row], *tied}
    table = tmp_path / "answers.csv"
    np.savetxt(table, X, delimiter=",", header="a,b,c", comments="")
    assert "100 %" in run("compare", table, "--methods", "pca", "--n-components", "3").output
