"""Tucker's section 5: double centring as printed and as it is, and what Isomap minimises.

The section has no figure or table. Its statements are measured here, the misprinted ones
beside their corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dualfold import ClassicalMDS, Isomap
from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.graph import from_lengths, geodesic_distances, knn
from dualfold.methods.points.stress.majorization import guttman_transform
from dualfold.weights import centred_gram
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROUNDING = 1e-10


def equal(off: float) -> bool:
    """Two matrices are equal when no entry is off by more than rounding, of the largest."""
    return off <= ROUNDING


NEIGHBORS = 8


def spectral_map(K: Array, count: int, *, by: str = "eigenvalues") -> Array:
    """Y = UΣ^½ of the largest eigenvalues or, as printed, the largest singular values."""
    values, vectors = np.linalg.eigh(K)
    order = np.argsort(values if by == "eigenvalues" else np.abs(values))[::-1][:count]
    return np.asarray(vectors[:, order] * np.sqrt(np.abs(values[order])))


def distances(Y: Array) -> Array:
    squares = np.square(Y).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * Y @ Y.T, 0.0))


def stress(Y: Array, D: Array) -> float:
    """Σ (‖y_i − y_j‖ − D_ij)²: what Algorithm 2 says is minimised."""
    return float(np.square(distances(Y) - D).sum())


def strain(Y: Array, K: Array) -> float:
    """‖K − YYᵀ‖²: what is."""
    return float(np.square(K - (Y - Y.mean(axis=0)) @ (Y - Y.mean(axis=0)).T).sum())


def ring(n: int) -> Array:
    """Geodesic distances of a closed chain of n points, one apart."""
    step = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tolil()
    step[0, n - 1] = step[n - 1, 0] = 1.0
    return geodesic_distances(from_lengths(sp.csr_array(step)))


def isomap(setting: Setting) -> Finding:
    """Lemmas 5.7 to 5.9, Theorem 5.10, Algorithm 2."""
    rng = setting.random()
    X = rng.standard_normal((40, 3)) + 5
    n, steps = setting.of((150, 20), (500, 60), (1_000, 200))
    points = swiss_roll(n, random_state=setting.seed).points
    D = geodesic_distances(knn(points, NEIGHBORS))
    K = centred_gram(D)
    Y = Isomap(n_neighbors=NEIGHBORS, landmarks=None).fit(points).embedding_
    history = [Y]
    for _ in range(steps):
        history.append(guttman_transform(history[-1], D))
    stresses = np.array([stress(at, D) for at in history])
    strains = np.array([strain(at, K) for at in history])
    rows = (*_centring_rows(X), *_ring_rows(setting), *_stress_rows(stresses, strains, K))
    sentence = (
        "Centring is right once Lemma 5.7 gets its minus and Theorem 5.10 loses its 1/m. Isomap's "
        "spectral answer minimises strain and not, as Algorithm 2 has it, stress: "
        f"{steps} steps of majorisation from it take {1 - stresses[-1] / stresses[0]:.0%} of the "
        f"stress away and make the strain {strains[-1] / strains[0]:.2f} times as large."
    )
    caption = "From Isomap's answer downhill in stress: strain rises."
    note = f"A roll of {n:,} points, {NEIGHBORS} neighbours; a ring; 40 random points in space."
    return Finding(sentence, rows, ((caption, _figure(stresses, strains)),), (note,))


def _centring_rows(X: Array) -> list[Row]:
    m, K, D = len(X), X @ X.T, distances(X)
    ours = centred_gram(D)  # −½HΔH of this package, Δ = D²
    centred = X - X.mean(axis=0)
    star, ones, means = centred @ centred.T, np.ones((m, m)) / m, (D**2).mean(axis=0)
    diagonal = np.diag(ours)[:, None] + np.diag(ours)
    size = float(np.abs(ours).max())

    def off(left: Array, right: Array = ours) -> float:
        return float(np.abs(left - right).max()) / size

    return [
        claim("Lemma 5.7: ½(K_ii + K_jj + D²) off our K", 0.0, off((diagonal + D**2) / 2), equal,
              "misprinted: its proof has the minus"),
        identity("Lemma 5.7 with its minus, off our K", off((diagonal - D**2) / 2), ROUNDING),
        identity("Lemma 5.8 off our K", off(K - K @ ones - ones @ K + ones @ K @ ones), ROUNDING),
        identity("Lemma 5.9 off our K",
                 off(-(D**2 - means[:, None] - means + (D**2).mean()) / 2), ROUNDING),
        claim("Theorem 5.10: X*ᵀX*/m off our K", 0.0, off(star / m), equal,
              "misprinted: its proof has no 1/m"),
        identity("Theorem 5.10 without 1/m, off our K", off(star), ROUNDING),
        claim("Definition 5.6, Δ = D unsquared: our K of √D off X*ᵀX*", 0.0,
              off(centred_gram(np.sqrt(D)), star), equal, "Remark 5.2 has Δ squared"),
    ]  # fmt: skip


def _ring_rows(setting: Setting) -> list[Row]:
    """On a ring the eigenvalues are ±1/j² in pairs: the second largest in size is negative."""
    D = ring(setting.of(40, 100, 400))
    K = centred_gram(D)
    values = np.sort(np.linalg.eigvalsh(K))
    worst = float(values[0] / values[-1])
    by_eigen, by_singular = (
        strain(spectral_map(K, 4, by=by), K) for by in ("eigenvalues", "singular values")
    )
    model = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(D)
    ours, exact = strain(model, K), strain(spectral_map(K, 2), K)
    limit = 3 / len(D)  # of a circle; the sum over n points is off by O(1/n)
    return [
        theorem("a ring: least eigenvalue of our K over the largest", worst, equals=-0.25,
                within=limit, about="eigenvalues ±1/j² in pairs in the limit of a circle"),
        theorem("a ring in 2 dimensions: our strain over the least", ours / exact, equals=1,
                within=1e-6),
        claim("a ring in 4 dimensions: strain by singular values over that by eigenvalues",
              "≤ 1", by_singular / by_eigen, lambda x: x <= 1 + 1e-9,
              "Proposition 5.4 and Algorithm 2 take singular values; K is not ⪰ 0"),
    ]  # fmt: skip


def _stress_rows(stresses: Array, strains: Array, K: Array) -> list[Row]:
    values = np.linalg.eigvalsh(K)
    least = float(np.square(values[:-2]).sum())
    return [
        theorem("a roll: strain of our map over the least", float(strains[0]) / least, equals=1,
                within=1e-6, about="the least is Σλ² of the other eigenvalues"),
        claim("stress after majorisation, over that of our map", "≥ 1",
              float(stresses[-1] / stresses[0]), lambda x: x >= 1,
              "Algorithm 2: the spectral map minimises Σ(‖y_i − y_j‖ − D_ij)²"),
        theorem("strain after majorisation, over that of our map", float(strains[-1] / strains[0]),
                at_least=1, about="ours is the minimum"),
    ]  # fmt: skip


def _figure(stresses: Array, strains: Array) -> Figure:
    x = np.arange(len(stresses))
    lines = [
        Line("stress", x, stresses / stresses[0], hue=4),
        Line("strain", x, strains / strains[0], hue=0),
    ]
    chart = Chart(
        lines, "", "steps of majorisation", "over Isomap's own", level=1.0, names="beside"
    )
    return chart_figure([chart])


EXPERIMENTS = (
    Experiment(
        "tucker-isomap",
        "T",
        "§5, Algorithm 2",
        "Double centring, and whether Isomap minimises stress",
        isomap,
    ),
)
