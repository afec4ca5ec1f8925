"""Lecture 3, first part: the five steps of PCA as pictures, and what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.estimators import PCA
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.lectures import Step, steps_figure
from papers.finding import Experiment, Finding, Row, Setting, agrees

ROUNDING = 1e-12


def steps(setting: Setting) -> Finding:
    """Centre, standardise, eigenvectors, project, undo: by hand beside `PCA`."""
    rng, n = setting.random(), 60
    along = rng.standard_normal(n)
    X = np.column_stack([6 + 2.5 * along, 3 + 0.7 * along + 0.5 * rng.standard_normal(n)])
    centred = X - X.mean(axis=0)
    scale = centred.std(axis=0)
    standard = centred / scale
    S = standard.T @ standard / n
    values, vectors = np.linalg.eigh(S)
    values, vectors = values[::-1], vectors[:, ::-1]
    B = vectors[:, :1]
    projected = standard @ B @ B.T
    back = projected * scale + X.mean(axis=0)
    model = PCA(n_components=1, standardize=True).fit(X)
    ours = model.inverse_transform(model.transform(X))
    rho = float(np.corrcoef(*X.T)[0, 1])
    turned = _angle(B[:, 0])
    lost = float(np.square(standard - projected).sum() / n)
    flat = np.linalg.svd(back - back.mean(axis=0), compute_uv=False)
    largest = np.abs(X).max()
    rows = (
        agrees("S1: mean after centring", np.abs(centred.mean(axis=0)).max() / largest, ROUNDING),
        agrees("S2: variances less 1", np.abs(standard.var(axis=0) - 1).max(), ROUNDING),
        Row("S3: larger eigenvalue", None, float(values[0]), _near(values[0], 1 + rho),
            "1 + ρ for two standardised features, to 1e-12"),
        Row("S3: direction of the larger, degrees", None, turned, _near(turned, 45),
            "45° whatever the data: standardising two features leaves only the sign of ρ"),
        Row("S4: mean squared distance to the line", None, lost, _near(lost, values[1]),
            "the discarded eigenvalue 1 − ρ, to 1e-12"),
        agrees("S5: second singular value over the first", flat[1] / flat[0], ROUNDING),
        agrees("by hand less PCA(standardize=True)", np.abs(ours - back).max() / largest, ROUNDING),
        agrees("certificate of PCA: gap", model.certificate_.gap, ROUNDING),
    )  # fmt: skip
    sentence = (
        f"The five steps by hand give what PCA(standardize=True) gives. The line through the "
        f"standardised cloud is at {turned:.0f}° and keeps {values[0] / 2:.1%} of the "
        f"variance (ρ = {rho:.3f})."
    )
    angle = np.linspace(0, 2 * np.pi, 200)
    ellipse = vectors @ (2 * np.sqrt(values)[:, None] * np.vstack([np.cos(angle), np.sin(angle)]))
    arrows = [2 * np.sqrt(values[at]) * vectors[:, at] for at in (0, 1)]
    frames = (
        Step("the data", X),
        Step("S1: centred", centred),
        Step("S2: standardised", standard),
        Step("S3: eigenvectors", standard, ellipse=ellipse, arrows=arrows),
        Step("S4: projected", projected, before=standard),
        Step("S5: undone, in the data's units", back, before=X),
    )
    caption = "PCA in five steps; the ellipse is two standard deviations wide."
    return Finding(sentence, rows, ((caption, steps_figure(frames)),))


def variance(setting: Setting) -> Finding:
    """Spread along every direction of the plane: widest along the first eigenvector."""
    rng = setting.random()
    n, count = 200, setting.of(181, 721, 3_601)
    X = rng.standard_normal((n, 2)) @ np.array([[3.0, 0.35], [0.0, 0.25]])
    X -= X.mean(axis=0)
    angles = np.linspace(0, 180, count)
    directions = np.vstack([np.cos(np.radians(angles)), np.sin(np.radians(angles))])
    spread = np.square(X @ directions).mean(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X / n)
    vectors *= np.sign(vectors[0])  # towards the right, as it is drawn
    first = _angle(vectors[:, 1]) % 180
    widest = float(angles[spread.argmax()])
    coarse = 180 / (count - 1)
    dropped = float(np.square(X[:, 1]).mean())
    rows = (
        Row("variance of the widest over λ₁", None, float(spread.max() / values[1]),
            bool(spread.max() <= values[1] * (1 + ROUNDING)), "≤ 1: no direction has more"),
        Row("widest direction found, degrees", None, widest, abs(widest - first) <= coarse,
            f"eigenvector at {first:.3f}°, grid of {coarse:.3g}°"),
        Row("error of dropping x₂", None, dropped, dropped >= values[0],
            f"the variance of x₂; PCA's line loses {values[0]:.4f}, never more"),
        Row("share of the variance kept without x₂", None, 1 - dropped / float(values.sum()), None),
    )  # fmt: skip
    sentence = (
        f"Of {count:,} directions the one at {widest:.2f}° spreads the data most, as the "
        f"eigenvector at {first:.2f}° says. Dropping x₂ loses {dropped:.3f}, the best line "
        f"{values[0]:.3f}."
    )
    lines = [
        Line("variance of the projection", angles, spread),
        Line("λ₁", [0.0, 180.0], [values[1]] * 2, look="bound"),
        Line("λ₂", [0.0, 180.0], [values[0]] * 2, look="bound"),
    ]
    frames = (
        Step("the data", X, arrows=[2 * np.sqrt(values[1]) * vectors[:, 1]]),
        Step("only x₁ kept", X * np.array([1.0, 0.0]), before=X),
    )
    captions = (
        "A set whose x₂ hardly matters, and the same with x₂ dropped.",
        "Variance against direction, between the two eigenvalues.",
    )
    pictures = (
        steps_figure(frames),
        chart_figure([Chart(lines, x_name="direction, degrees", y_name="variance")]),
    )
    return Finding(sentence, rows, tuple(zip(captions, pictures, strict=True)))


def houses(setting: Setting) -> Finding:
    """Five measurements of made-up houses, made of two: size and location."""
    rng, n = setting.random(), setting.of(500, 2_000, 20_000)
    size, place = rng.standard_normal((2, n))
    noise = rng.standard_normal((n, 5))
    X = np.column_stack([
        120 + 40 * size + 8 * noise[:, 0],
        4.5 + 1.4 * size + 0.5 * noise[:, 1],
        1.8 + 0.6 * size + 0.25 * noise[:, 2],
        3.0 + 1.2 * place + 0.4 * noise[:, 3],
        40 - 15 * place + 6 * noise[:, 4],
    ])  # fmt: skip
    model = PCA(n_components=5, standardize=True).fit(X)
    plain = PCA(n_components=5).fit(X)
    kept = float(model.explained_variance_ratio_[:2].sum())
    squares = np.square(model.components_)
    first, second = float(squares[0, :3].sum()), float(squares[1, 3:].sum())
    alone = float(np.square(plain.components_[0, 0]))
    rows = (
        Row("variance in 2 of 5 dimensions", None, kept, kept > 0.85, "two causes, and some noise"),
        Row("first component on size, rooms, bathrooms", "size", first, first > 0.95, "> 95 %"),
        Row("second component on schools and crime", "location", second, second > 0.95, "> 95 %"),
        Row("first component on size alone, not standardised", None, alone, None,
            "square metres have the largest numbers, which is why step 2 is there"),
    )  # fmt: skip
    sentence = (
        f"Two components keep {kept:.0%} of five standardised measurements and are a size and a "
        f"location; without standardising, the first is {alone:.0%} square metres."
    )
    notes = ("The lecture names the five measurements but has no numbers; these are made up.",)
    return Finding(sentence, rows, notes=notes)


def _angle(vector: Array) -> float:
    """Of a line in the plane, from −90° to 90°."""
    return float(np.degrees(np.arctan(vector[1] / vector[0])))


def _near(got: Any, wanted: Any) -> bool:
    return bool(abs(got - wanted) < ROUNDING * max(1.0, abs(wanted)))


EXPERIMENTS = (
    Experiment("shin-pca-steps", "S", "lecture 3, PCA Illustration", "PCA step by step", steps),
    Experiment(
        "shin-pca-variance", "S", "lecture 3, maximum variance", "Variance against direction",
        variance,
    ),
    Experiment(
        "shin-pca-houses", "S", "lecture 3, Housing Data", "Five measurements of two causes", houses
    ),
)  # fmt: skip
