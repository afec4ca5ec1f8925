"""Tucker's section 5: double centring as printed and as it is, and what Isomap minimises.

The section has no figure or table. Its statements are measured here, the misprinted ones
beside their corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.estimators import Isomap
from dualfold.graph import from_lengths, geodesic_distances, knn
from papers.figures.charts import Chart, Line, chart_figure
from papers.finding import Experiment, Finding, Row, Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ROUNDING = 1e-10
NEIGHBORS = 8


def double_centred(squares: Array) -> Array:
    """−½HΔH."""
    rows = squares - squares.mean(axis=0)
    return np.asarray(-(rows - rows.mean(axis=1, keepdims=True)) / 2)


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


def majorised(Y: Array, D: Array) -> Array:
    """One step of SMACOF (Guttman's transform); stress never grows."""
    now = distances(Y)
    ratio = np.divide(D, now, out=np.zeros_like(D), where=now > 0)
    B = np.diag(ratio.sum(axis=1)) - ratio
    return np.asarray(B @ Y / len(Y))


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
    K = double_centred(D**2)
    Y = Isomap(n_neighbors=NEIGHBORS, landmarks=None).fit(points).embedding_
    history = [Y]
    for _ in range(steps):
        history.append(majorised(history[-1], D))
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
    m, K, D2 = len(X), X @ X.T, distances(X) ** 2
    centred = X - X.mean(axis=0)
    star = centred @ centred.T
    diagonal = np.diag(K)[:, None] + np.diag(K)
    ones = np.ones((m, m)) / m
    means = D2.mean(axis=0)
    flat = double_centred(D2)
    checks = (
        ("Lemma 5.7 as printed, ½(K_ii + K_jj + D²)", (diagonal + D2) / 2, K, False),
        ("Lemma 5.7 with its minus", (diagonal - D2) / 2, K, True),
        ("Lemma 5.8", K - K @ ones - ones @ K + ones @ K @ ones, star, True),
        ("Lemma 5.9", -(D2 - means[:, None] - means + D2.mean()) / 2, star, True),
        ("Theorem 5.10 as printed, X*ᵀX*/m", flat, star / m, False),
        ("Theorem 5.10 without 1/m", flat, star, True),
        ("Algorithm 2 with Δ unsquared", double_centred(np.sqrt(D2)), star, False),
    )
    rows = []
    for name, left, right, true in checks:
        off = float(np.abs(left - right).max() / np.abs(right).max())
        note = f"relative; ≤ {ROUNDING:g}" if true else "relative; misprinted, so it is not 0"
        rows.append(Row(name, 0.0, off, (off <= ROUNDING) == true, note))
    return rows


def _ring_rows(setting: Setting) -> list[Row]:
    """On a ring the eigenvalues are ±1/j² in pairs: the second largest in size is negative."""
    D = ring(setting.of(40, 100, 400))
    K = double_centred(D**2)
    values = np.sort(np.linalg.eigvalsh(K))
    worst = float(values[0] / values[-1])
    by_eigen, by_singular = (
        strain(spectral_map(K, 4, by=by), K) / float(np.square(K).sum())
        for by in ("eigenvalues", "singular values")
    )
    return [
        Row("a ring: least eigenvalue over the largest", None, worst, abs(worst + 0.25) < 0.01,
            "−1/4 in the limit; K is not positive semidefinite"),
        Row("a ring in 4 dimensions: strain by eigenvalues", None, by_eigen, None,
            "of ‖K‖²"),
        Row("the same by singular values, as printed", None, by_singular, by_singular > by_eigen,
            "Proposition 5.4 errs: must be larger"),
    ]  # fmt: skip


def _stress_rows(stresses: Array, strains: Array, K: Array) -> list[Row]:
    values = np.linalg.eigvalsh(K)
    least = float(np.square(values[:-2]).sum())
    return [
        Row("a roll: strain of Isomap's map over the least", None, float(strains[0]) / least,
            abs(strains[0] / least - 1) <= 1e-6,
            "the least is Σλ² of the other eigenvalues; 1 to 1e-6"),
        Row("stress after majorisation, over Isomap's", 1.0, float(stresses[-1] / stresses[0]),
            bool(stresses[-1] < 0.999 * stresses[0]),
            "Algorithm 2 says it is least at 1; it must be below"),
        Row("strain after majorisation, over Isomap's", None, float(strains[-1] / strains[0]),
            bool(strains[-1] > strains[0]), "must be above 1"),
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
