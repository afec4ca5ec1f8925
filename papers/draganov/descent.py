"""PCA by descent on the points: the map of MNIST, and how fast the error falls.

Draganov's Figure 1 and Algorithm 1. The minimum of f is known, 4Σ_{i>d}σ_i⁴, so every run's gap
is exact: (f − minimum)/(f(0) − minimum).
"""

from __future__ import annotations

import numpy as np

from dualfold import PCA, PointPCA
from dualfold.arrays import Array
from dualfold.point_pca import algorithm_one, descend_points, point_error
from dualfold.quality import procrustes
from dualfold.view.figures import Panel, gallery
from papers.figures.forces import convergence_figure
from papers.finding import Experiment, Finding, Setting, also, claim, theorem


def pixels(setting: Setting, count: int) -> tuple[Array, Array]:
    """So many images, drawn by the seed, with values from 0 to 1, and their digits."""
    images = setting.images
    count = min(count, len(images.points))
    rows = setting.random().choice(len(images.points), count, replace=False)
    chosen = images.points[rows].astype(np.float32 if count > 20_000 else float)
    return chosen / images.points.max(), np.asarray(images.labels)[rows]


def mnist_map(setting: Setting) -> Finding:
    """Figure 1: the points after descent, beside PCA by eigenvectors."""
    X, labels = pixels(setting, setting.of(400, 5_000, 70_000))
    descended = PointPCA(2, random_state=setting.seed).fit(X)
    reference = PCA(2).fit_transform(X)
    aligned = procrustes(reference, descended.embedding_, scale=1.0)
    spread = float(np.sqrt(np.square(reference).sum(axis=1).mean()))
    worst = float(aligned.residuals.max()) / spread
    # Sums of 70,000 float32 numbers in float32 would be off by 1e-5, more than the descent.
    exact = np.var(reference, axis=0, dtype=float)
    variance = np.abs(descended.eigenvalues_ / exact - 1).max()
    rows = (
        claim("farthest point from its place by exact PCA, of the map's radius",
              "Y is the result of PCA", worst, lambda x: x <= 1e-3, "turned, never scaled"),
        theorem("variances off PCA's, relative", float(variance), at_most=1e-5),
        theorem("gap of f to 4Σσ⁴, of the fall", descended.certificate_.gap, at_most=1e-8,
                about=f"certified against all singular values: {descended.certificate_.level}"),
        also("iterations", float(descended.n_iter_)),
    )  # fmt: skip
    panels = [
        Panel(
            aligned.points, labels.astype(int), "Descent on the points", f"gap {rows[2].ours:.1e}"
        ),
        Panel(reference, labels.astype(int), "PCA by eigenvectors", "exact"),
    ]
    sentence = (
        f"From random points, {descended.n_iter_} steps of descent on {len(X):,} images end at the "
        f"map of PCA: no point is off by more than {worst:.0e} of the map's radius."
    )
    caption = f"Figure 1 again: {len(X):,} images by descent on the points, and by eigenvectors."
    notes = (setting.stand_in,) if setting.stand_in else ()
    return Finding(
        sentence,
        rows,
        ((caption, gallery([panels], title="Two ways to PCA", color_names=["digit"])),),
        notes,
    )


def convergence(setting: Setting) -> Finding:
    """Algorithm 1 with either sign, at steps below and above its limit, and conjugate steps."""
    n, epochs = setting.of((60, 400), (300, 400), (500, 500))
    X, _ = pixels(setting, n)
    squares = np.square(np.linalg.svd(X - X.mean(axis=0), compute_uv=False))
    limit = 1 / (8 * squares[0])
    runs = {
        "conjugate, exact steps (PointPCA)": _ours(X, squares, setting.seed),
        "Algorithm 1, sign corrected, ν = half the limit": _gaps(X, squares, limit / 2, epochs),
        "the same, ν = 1.2 times the limit": _gaps(X, squares, 1.2 * limit, epochs),
        "as printed (plus), ν = half the limit": _gaps(X, squares, -limit / 2, 30),
    }
    ours, corrected, long_steps, printed = runs.values()
    blown = int(np.argmax(~(printed < 100)))
    starts = [_ours(X, squares, seed)[-1] for seed in range(setting.of(3, 10, 30))]
    grows = blown > 0 and bool((np.diff(printed[:blown]) > 0).all())
    rows = (
        theorem("gap, Algorithm 1 with the sign corrected", corrected[-1], at_most=1e-6),
        claim("gap, Algorithm 1 as printed (adds the gradient)", 0.0, float(printed[blown - 1]),
              lambda x: x <= 1e-6, f"f {'only ' * grows}grows; it passes 100 after {blown} steps"),
        theorem("gap, corrected, ν 1.2 times 1/(8σ₁²): must not converge", _last_known(long_steps),
                at_least=1e-3, about="the limit of a constant step"),
        theorem("gap, conjugate directions (ours)", ours[-1], at_most=1e-12),
        also("their iterations", float(len(ours) - 1)),
        also("iterations of Algorithm 1 to 1e-6", float(np.argmax(corrected < 1e-6))),
        claim(f"largest gap of ours from {len(starts)} random starts", "the single convergence",
              max(starts), lambda x: x <= 1e-12),
    )  # fmt: skip
    sentence = (
        f"With its sign corrected Algorithm 1 comes to PCA (gap {corrected[-1]:.0e} after {epochs} "
        f"iterations); as printed it climbs from the first step on. Conjugate directions with "
        f"exact steps need {len(ours) - 1} iterations, of O(nDd) each instead of O(n²)."
    )
    figure = convergence_figure(runs, title="Descent on the points against the exact minimum")
    caption = f"Relative gap f − 4Σσ⁴ against iterations, {n} images."
    notes = (f"The limit of the step ν is 1/(8σ₁²) = {limit:.2e} here.", setting.stand_in)
    return Finding(sentence, rows, ((caption, figure),), tuple(filter(None, notes)))


def _ours(X: Array, squares: Array, seed: int) -> Array:
    reachable = 4 * float(np.square(squares[:2]).sum())
    run = descend_points(X, 2, reachable=reachable, tol=1e-14, seed=seed)
    return np.maximum(run.errors + reachable, 0) / reachable


def _gaps(X: Array, squares: Array, rate: float, epochs: int) -> Array:
    """(f − minimum)/fall after each epoch of Algorithm 1; as printed for a negative rate."""
    with np.errstate(over="ignore", invalid="ignore"):
        iterates = algorithm_one(X, 2, n_epochs=epochs, rate=rate)
        whole, fall = float(np.square(squares).sum()), 4 * float(np.square(squares[:2]).sum())
        errors = np.array([point_error(X, Y, whole) for Y in iterates])
    return (errors - 4 * float(np.square(squares[2:]).sum())) / fall


def _last_known(gaps: Array) -> float:
    return float(gaps[np.isfinite(gaps)][-1])


EXPERIMENTS = (
    Experiment("draganov-mnist", "D", "Figure 1", "MNIST by descent on the points", mnist_map),
    Experiment(
        "draganov-convergence",
        "D",
        "§1.1, Algorithm 1",
        "Algorithm 1 against the exact minimum, with either sign",
        convergence,
    ),
)
