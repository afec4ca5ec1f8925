"""Unfoldings whose answer is known by hand, the transformed dual, and the dual as a game."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import pdist, squareform

from dualfold import PCA, ClassicalMDS
from dualfold.arrays import Array
from dualfold.games import unfolding_bracket, unfolding_game
from dualfold.unfolding import (
    UnfoldingProblem,
    certify_unfolding,
    contraction_of,
    interior_point,
    lowest_bend,
    weights_of_budget,
)
from papers.cunha.roll import NEIGHBORS, neighbor_graph, small_roll
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, theorem


def chain(n: int) -> UnfoldingProblem:
    """n points in a row, each at most 1 from the next."""
    places = np.arange(n - 1)
    return UnfoldingProblem(n, np.stack([places, places + 1], axis=1), np.ones(n - 1))


def complete(points: Array) -> UnfoldingProblem:
    """Every pair of points is an edge."""
    pairs = np.stack(np.triu_indices(len(points), 1), axis=1)
    return UnfoldingProblem(len(points), pairs, pdist(points) ** 2)


def exact_cases(setting: Setting) -> Finding:
    """The unit chain straightens; a complete graph leaves nothing to unfold."""
    rows = []
    for n in setting.of((2, 5, 12), (2, 5, 20, 60), (2, 5, 20, 60, 200)):
        found = interior_point(chain(n), tol=1e-11)
        value = chain(n).value(found.factor)
        i = np.arange(1, n)
        w = i * (n - i) / 2
        off = float(np.abs(found.weights - w).max() / w.max())
        certificate = certify_unfolding(chain(n), found.factor, w)
        exact = n * (n**2 - 1) / 12
        rows += [
            theorem(f"chain of {n}: tr K*", value, within=1e-8 * exact, equals=exact),
            theorem(f"chain of {n}: weights off i(n − i)/2", off, at_most=1e-6),
            theorem(f"chain of {n}: gap with those weights", certificate.gap, at_most=1e-9),
            theorem(
                f"chain of {n}: λ₂ of those weights", certificate.ritz, within=1e-9, equals=1.0
            ),
        ]
    n = setting.of(12, 25, 40)
    X = setting.random().standard_normal((n, 4)) * [4.0, 3.0, 2.0, 1.0]
    rows += _complete_rows(X)
    sentence = (
        "The chain has the variance n(n² − 1)/12 with weights i(n − i)/2 and λ₂ = 1, and on a "
        f"complete graph of {n} points unfolding, classical MDS and PCA are one: the unfolded Gram "
        f"matrix is that of the data to {rows[-4].ours:.1e}."
    )
    return Finding(sentence, tuple(rows), notes=("The paper has no examples: values by hand.",))


def _complete_rows(X: Array) -> list[Row]:
    n, p = len(X), complete(X)
    G = (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T
    found = interior_point(p, tol=1e-11)
    Y = p.centred_points(found.factor)
    even = certify_unfolding(p, X, np.full(p.m, 1 / n))
    by_pca = PCA(n_components=2).fit_transform(X)
    # From the distances: from X, classical MDS would use the same algorithm as PCA.
    apart = squareform(pdist(X))
    by_mds = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(apart)
    leading = np.linalg.svd(Y, full_matrices=False)
    by_unfolding = leading[0][:, :2] * leading[1][:2]
    size = np.linalg.norm(G)
    return [
        theorem("complete graph: gap with all weights 1/n", even.gap, at_most=1e-9),
        theorem("complete graph: ‖K* − G‖/‖G‖", np.linalg.norm(Y @ Y.T - G) / size, at_most=1e-6),
        theorem(
            "complete graph: MDS's Gram matrix off PCA's",
            np.linalg.norm(by_mds @ by_mds.T - by_pca @ by_pca.T) / size,
            at_most=1e-10,
        ),
        theorem(
            "complete graph: unfolding's, two coordinates, off PCA's",
            np.linalg.norm(by_unfolding @ by_unfolding.T - by_pca @ by_pca.T) / size,
            at_most=1e-6,
        ),
        theorem(
            "complete graph: tr K* over Σ‖x − x̄‖²",
            float(np.sum(Y**2)) / np.trace(G),
            within=1e-8,
            equals=1.0,
        ),
    ]


def transformed_dual(setting: Setting) -> Finding:
    """max λ₂(L(w)) over Σ w d² = c is c/c*; the same as a game that brackets c*."""
    n, rounds, tries = setting.of((40, 300, 100), (60, 1_500, 1_000), (100, 6_000, 5_000))
    p = contraction_of(neighbor_graph(small_roll(n, setting.seed).points, NEIGHBORS)).problem
    found = interior_point(p, tol=1e-10)
    certificate = certify_unfolding(p, found.factor, found.weights)
    best = certificate.lower
    rows = _scaled_rows(p, found.weights, best)
    highest, count = _random_weights(p, found.weights, tries, setting.random())
    rows.append(
        theorem(f"largest λ₂·c*/c of {count} random weights", highest * best, at_most=1,
                within=1e-9, about="none is better; half of them lie near the optimum")
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        run = unfolding_game(p.n, p.edges, p.squared, rounds=rounds).play()
    low, high = unfolding_bracket(run)
    rows += [
        theorem("game: value reached, of our upper bound", low / certificate.upper, at_most=1),
        theorem("game: bound proved, of our value", high / best, at_least=1, within=1e-12),
    ]
    sentence = (
        f"With the budget c the best λ₂ is c/c*, c* = {best:.6g}, and none of {count} random "
        f"weights does better. Played as a game for {rounds} rounds, mirror descent on the weights "
        f"against the easiest bend brackets c* between {low / best:.4f} and {high / best:.4f} "
        "times itself."
    )
    when = np.arange(1, rounds + 1)
    lines = [
        Line("bound proved", when, -1 / np.asarray(run.upper)[-rounds:] / best),
        Line("value reached", when, -1 / np.maximum.accumulate(run.lower)[-rounds:] / best),
    ]
    chart = Chart(lines, "", "rounds", "variance, of c*", level=1.0, names="beside")
    caption = "The game brackets the best variance c*: bound and value against the rounds."
    notes = [f"{p.n} points, {p.m} edges."]
    if warned:
        notes.append("A bend was larger than the step was chosen for: no rate, but the bracket.")
    return Finding(sentence, tuple(rows), ((caption, chart_figure([chart])),), tuple(notes))


def _scaled_rows(p: UnfoldingProblem, weights: Array, best: float) -> list[Row]:
    """λ₂ of the best weights, scaled to a budget c."""
    rows = []
    for c in (1.0, 1_000.0):
        w = weights_of_budget(p, weights, c)
        rows.append(
            theorem(
                f"(43) λ₂*·c*/c at c = {c:g}",
                lowest_bend(p, w)[0] * best / c,
                within=1e-7,
                equals=1.0,
                about="λ₂* = c/c*, weights (c/c*)w*",
            )
        )
    return rows


def _random_weights(
    p: UnfoldingProblem, best: Array, tries: int, rng: np.random.Generator
) -> tuple[float, int]:
    """(largest λ₂ of random weights with Σ w d² = 1, their number).

    Shares of the budget from even to lopsided, and as many near the best ones.
    """
    near = best * p.squared / float(best @ p.squared)
    spreads = (0.3, 1.0, 10.0) * (tries // 6)
    shares = [rng.dirichlet(np.full(p.m, spread)) for spread in spreads]
    shares += [0.9 * near + 0.1 * rng.dirichlet(np.ones(p.m)) for _ in range(tries // 2)]
    return max(lowest_bend(p, share / p.squared)[0] for share in shares), len(shares)


EXPERIMENTS = (
    Experiment("cunha-exact", "C", "(28), (41), (12)", "Unfoldings known by hand", exact_cases),
    Experiment(
        "cunha-transformed-dual",
        "C",
        "(43)–(48)",
        "The transformed dual, and the dual as a game",
        transformed_dual,
    ),
)
