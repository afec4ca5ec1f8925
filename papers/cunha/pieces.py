"""A graph in several pieces: each is a problem of its own (before (13))."""

from __future__ import annotations

import numpy as np

from dualfold import MaximumVarianceUnfolding
from dualfold.data import swiss_roll
from dualfold.errors import DisconnectedGraph
from dualfold.graph import knn, separate
from dualfold.unfolding import unfold
from dualfold.weights import weighted_laplacian
from papers.finding import Experiment, Finding, Row, Setting, identity, theorem


def pieces(setting: Setting) -> Finding:
    """Two rolls far apart: refused as one problem, answered piece by piece, side by side."""
    n = setting.of(30, 80, 200)
    parts = [
        swiss_roll(n, turns=0.75, height=8.0, random_state=setting.seed + at).points + 1_000 * at
        for at in range(2)
    ]
    X = np.vstack(parts)
    graph = knn(X, 6)
    values = [unfold(piece, tol=1e-7).certificate for _, piece in separate(graph)]
    model = MaximumVarianceUnfolding(n_neighbors=6, pieces="separate").fit(X)
    found = [one.certificate for one in model.unfoldings_]
    apart = max(
        abs(ours.lower / alone.lower - 1) for ours, alone in zip(found, values, strict=True)
    )
    refused = 0.0
    try:
        unfold(graph)
    except DisconnectedGraph:
        refused = 1.0
    spectrum = np.linalg.eigvalsh(weighted_laplacian(graph)[0].toarray())
    zeros = int((spectrum < 1e-12 * spectrum[-1]).sum())
    rows: tuple[Row, ...] = (
        theorem("two rolls as one problem: refused", refused, equals=1,
                about="the variance between pieces is unbounded"),
        identity("values of the pieces in one model over each alone, off 1", apart, 1e-6),
        theorem("largest gap of a piece", max(one.gap for one in found), at_most=1e-5),
        theorem("eigenvalues 0 of our Laplacian less the number of pieces", zeros - graph.n_pieces,
                equals=0, about="1 of each piece"),
    )  # fmt: skip
    sentence = (
        f"Two rolls of {n} points, not connected, are {graph.n_pieces} problems: together they "
        "have no largest variance, on their own each has the value that it has in one model."
    )
    return Finding(sentence, rows, notes=(f"{len(X)} points, 6 neighbours.",))


EXPERIMENTS = (Experiment("cunha-pieces", "C", "before (13)", "A graph in pieces", pieces),)
