"""Lecture 3, first part: the five steps of PCA as pictures, and what it is for."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold import PCA
from dualfold.arrays import Array
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.lectures import Step, steps_figure
from papers.finding import Experiment, Finding, Setting, also, claim, identity, theorem

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
    largest = np.abs(X).max()
    value = float(model.eigenvalues_[0])
    lost_by_ours = float(np.square(standard - (ours - X.mean(axis=0)) / scale).sum() / n)
    flat = np.linalg.svd(ours - ours.mean(axis=0), compute_uv=False)
    turned = _angle(model.components_[0])
    rows = (
        identity("S1: mean of our PCA off the data's", np.abs(model.mean_ - X.mean(axis=0)).max(),
                 ROUNDING),
        identity("S2: scale of our PCA off the standard deviations",
                 np.abs(model.scale_ - scale).max(), ROUNDING),
        theorem("S3: larger eigenvalue of our PCA", value, equals=1 + rho, within=1e-10,
                about="1 + ρ for two standardised features"),
        theorem("S3: direction of the larger, degrees", turned, equals=45, within=1e-8,
                about="45° whatever the data: standardising leaves only the sign of ρ"),
        theorem("S4: mean squared distance to our line", lost_by_ours, equals=1 - rho,
                within=1e-10, about="the discarded eigenvalue"),
        theorem("S5: second singular value over the first", flat[1] / flat[0], at_most=1e-10),
        identity("by hand less PCA(standardize=True)", np.abs(ours - back).max() / largest,
                 ROUNDING),
    )  # fmt: skip
    sentence = (
        f"The five steps by hand give what PCA(standardize=True) gives. The line through the "
        f"standardised cloud is at {turned:.0f}° and keeps {value / 2:.1%} of the "
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
    model = PCA(n_components=2).fit(X)
    ours = _angle(model.components_[0]) % 180
    rows = (
        theorem("variance of the widest of all directions tried over our λ₁",
                float(spread.max() / model.eigenvalues_[0]), at_most=1, within=ROUNDING),
        theorem("the same", float(spread.max() / model.eigenvalues_[0]), at_least=1,
                within=(np.pi / count) ** 2, about="a direction of the grid is near ours"),
        theorem("widest direction found, degrees", widest, equals=ours, within=coarse,
                about=f"our first component; a grid of {coarse:.3g}°"),
        theorem("error of dropping x₂ over our λ₂", dropped / model.eigenvalues_[1], at_least=1),
        also("share of the variance kept without x₂", 1 - dropped / float(values.sum())),
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


HOUSE_FEATURES = ("size", "rooms", "bathrooms", "schools around", "crime rate")


def houses(rng: np.random.Generator, n: int) -> Array:
    """Generated houses: three columns follow how large a house is, two where it stands."""
    large, place = rng.standard_normal((2, n))
    noise = rng.standard_normal((5, n))
    return np.column_stack(
        [
            120 + 40 * large + 12 * noise[0],  # square metres
            np.round(4.5 + 1.4 * large + 0.5 * noise[1]),
            np.round(2.0 + 0.7 * large + 0.3 * noise[2]),
            6 + 2 * place + 0.9 * noise[3],
            30 - 9 * place + 4 * noise[4],
        ]
    )


def housing(setting: Setting) -> Finding:
    """Five dimensions of houses to two: a size feature and a location feature."""
    X = houses(setting.random(), setting.of(400, 2_000, 20_000))
    model = PCA(n_components=2, standardize=True).fit(X)
    squares = np.square(model.components_)
    sizes, places = float(squares[0, :3].sum()), float(squares[1, 3:].sum())
    S = np.corrcoef(X.T)
    values = np.linalg.eigvalsh(S)[::-1]
    kept = float(model.eigenvalues_.sum()) / len(S)
    rows = (
        theorem("our two eigenvalues off those of the correlations",
                np.abs(model.eigenvalues_ - values[:2]).max(), at_most=1e-10),
        claim("squared loadings of size, rooms, bathrooms on the first", "a size feature", sizes,
              lambda x: x > 0.9, "most of a direction of length 1"),
        claim("squared loadings of schools and crime on the second", "a location feature", places,
              lambda x: x > 0.9, "most of a direction of length 1"),
        claim("share of the variance of 5 features in 2", "compact", kept, lambda x: x > 0.75),
    )  # fmt: skip
    loads = "; ".join(
        f"{name} {one:+.2f}, {two:+.2f}".replace("-", "−")
        for name, (one, two) in zip(HOUSE_FEATURES, model.components_.T, strict=True)
    )
    sentence = (
        f"Two directions keep {kept:.0%} of five standardised features of houses; {sizes:.0%} of "
        f"the first is size, rooms and bathrooms, {places:.0%} of the second schools and crime."
    )
    frames = (Step("size feature against location feature", model.transform(X[:400])),)
    caption = "Houses by the two features that are left of five."
    notes = (
        "The lecture shows no data: these houses are generated, with one hidden number for how "
        f"large a house is and one for where it stands. Loadings: {loads}.",
    )
    figure = steps_figure(frames)
    figure.axes[0].set(title="", xlabel="first coordinate: size", ylabel="second: location")
    return Finding(sentence, rows, ((caption, figure),), notes)


def _angle(vector: Array) -> float:
    """Angle of a line in the plane, from −90° to 90°."""
    return float(np.degrees(np.arctan(vector[1] / vector[0])))


def _near(got: Any, wanted: Any) -> bool:
    return bool(abs(got - wanted) < ROUNDING * max(1.0, abs(wanted)))


EXPERIMENTS = (
    Experiment("shin-housing", "S", "lecture 3, Housing Data", "Five features to two", housing),
    Experiment("shin-pca-steps", "S", "lecture 3, PCA Illustration", "PCA step by step", steps),
    Experiment(
        "shin-pca-variance", "S", "lecture 3, maximum variance", "Variance against direction",
        variance,
    ),
)  # fmt: skip
