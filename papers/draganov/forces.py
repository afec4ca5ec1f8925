"""The forces of PCA by descent: what attracts, what repels, and whether distance decides.

Draganov's end of §1.1. A pair's coefficient is c_ij = −2⟨x_i − x̄, x_j − x̄⟩
= ‖x_i − x_j‖² − ‖x_i − x̄‖² − ‖x_j − x̄‖²: the angle seen from the mean decides, so the claims
are theorems only where all points are as far from the mean as one another. Always true is:
two points nearer to each other than one of them is to the mean attract.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dualfold import PCA
from dualfold.arrays import Array
from dualfold.data import digits, helix, s_curve, swiss_roll
from dualfold.point_pca import algorithm_one, pair_forces, point_forces
from dualfold.theory.point_pca.point_descent import PointForces, double_centred
from papers.draganov.attraction import attraction
from papers.draganov.descent import pixels
from papers.figures.forces import force_figure, pull_figure
from papers.finding import Experiment, Finding, Row, Setting, also, claim, identity, theorem

# The nearest pair of the line is around the mean, on either side of it.
LINE = np.array([[-0.1], [0.1], [-10.0], [10.0]])
# The mean is at the heavy corner; from there the two others are 66° apart.
TRIANGLE = np.array([[0.0, 0.0]] * 50 + [[1.0, 0.65], [1.0, -0.65]])


def data_sets(setting: Setting) -> dict[str, Array]:
    """Seven sets, real and made, on which the claims are measured."""
    from sklearn.datasets import load_breast_cancer, load_iris, load_wine

    n = setting.of(200, 1_000, 3_000)
    tables = {
        "iris": load_iris().data,
        "wine, standardised": _standardised(load_wine().data),
        "breast cancer, standardised": _standardised(load_breast_cancer().data[:n]),
        "digits": digits().points[:n],
        "Swiss roll": swiss_roll(n, random_state=setting.seed).points,
        "S-curve": s_curve(n, random_state=setting.seed).points,
    }
    if setting.stand_in:  # the digits are there already
        return tables | {"helix": helix(n, random_state=setting.seed).points}
    return tables | {"MNIST": pixels(setting, n)[0]}


def claims(setting: Setting) -> Finding:
    """Nearest attract, farthest repel, monotone in between: counted, and refuted."""
    rows: list[Row] = []
    correlations, monotone, near, sides = [], [], [], 0.0
    attracted: list[str] = []
    for name, X in data_sets(setting).items():
        found = attraction(X, most=setting.of(100, 400, 1_000), seed=setting.seed)
        correlations.append(found.rank_correlation)
        monotone.append(found.monotone)
        near.append(found.nearest_attract)
        if found.farthest_repel < 1:
            attracted.append(name)
        sides = max(sides, _near_pairs_repelling(X))
        rows += [
            claim(f"{name}: mutual nearest attract", 1.0, found.nearest_attract, lambda x: x == 1,
                  _of(found.nearest_pairs)),
            claim(f"{name}: mutual farthest repel", 1.0, found.farthest_repel, lambda x: x == 1,
                  _of(found.farthest_pairs))
            if found.farthest_pairs
            else also(f"{name}: mutual farthest", "no such pair"),
            claim(f"{name}: points with a monotone force", 1.0, found.monotone, lambda x: x == 1),
            also(f"{name}: rank correlation of force and distance", found.rank_correlation),
        ]  # fmt: skip
    rows += [*_counterexamples(), *_theorems(setting, sides)]
    seen = f" (and so it does in real data: {', '.join(attracted)})" if attracted else ""
    share = "all" if min(near) == 1 else f"{min(near):.1%} or more"
    sentence = (
        f"On seven data sets {share} of the mutual nearest pairs attract, yet the force is "
        f"monotone for {max(monotone):.1%} of the points at most (rank correlation "
        f"{min(correlations):.2f} to {max(correlations):.2f}), and no part of the claim is a "
        f"theorem: on a line the nearest pair repels, in a triangle the farthest attracts{seen}."
    )
    notes = (
        "The paper claims it of all data, without condition; the last rows have what always holds.",
        setting.stand_in,
    )
    return Finding(sentence, tuple(rows), notes=tuple(filter(None, notes)))


def _counterexamples() -> tuple[Row, ...]:
    line, triangle = attraction(LINE), attraction(TRIANGLE)
    return (
        claim("line {−.1, .1, −10, 10}: nearest pair attracts", 1.0, line.nearest_attract,
              lambda x: x == 1, "it repels, ±.1 being on two sides of the mean"),
        theorem("its coefficient c", double_centred(LINE)[0, 1], equals=0.02, within=1e-10,
                about="−2·(−.1)·.1"),
        claim("triangle with a heavy corner: farthest pair repels", 1.0, triangle.farthest_repel,
              lambda x: x == 1, "it attracts, seen from the mean under less than 90°"),
        theorem("its coefficient c", double_centred(TRIANGLE)[-1, -2], equals=_triangle_pull(),
                within=1e-9, about="−2((25/26)² − 0.65²), the mean being at (1/26, 0)"),
        _farthest_of_a_table(),
    )  # fmt: skip


def _farthest_of_a_table() -> Row:
    """The two samples of breast cancer that are farthest apart: real data that disagrees."""
    from sklearn.datasets import load_breast_cancer

    X = _standardised(load_breast_cancer().data)
    distances = cdist(X, X)
    pair = np.unravel_index(int(distances.argmax()), distances.shape)
    pull = float(double_centred(X)[pair])
    away = np.linalg.norm(X[list(pair)], axis=1)
    angle = np.degrees(np.arccos(-pull / 2 / away.prod()))
    return claim("breast cancer, all 569: c of the two farthest samples", "above 0", pull,
                 lambda x: x > 0,
                 f"real data: {angle:.0f}° apart seen from the mean, they attract")  # fmt: skip


def _triangle_pull() -> float:
    return -2 * ((25 / 26) ** 2 - 0.65**2)


def _theorems(setting: Setting, repelling: float) -> tuple[Row, ...]:
    """Theorems beside the claims: near pairs, and points on a sphere around their mean."""
    rng = setting.random()
    half = rng.standard_normal((setting.of(40, 100, 300), 3))
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    sphere = attraction(np.vstack([half, -half]))  # with opposites the mean is the centre
    return (
        theorem("pairs nearer than one is to the mean, yet repelling", repelling, equals=0,
                about="on all seven sets"),
        theorem("points on a sphere around the mean: monotone for", sphere.monotone, equals=1,
                about="c = ‖x_i − x_j‖² − 2r² there"),
        theorem("the same: nearest attract", sphere.nearest_attract, equals=1),
        theorem("the same: farthest repel", sphere.farthest_repel, equals=1),
    )  # fmt: skip


def _near_pairs_repelling(X: Array) -> float:
    """Share of the pairs nearer to each other than one of them to the mean that have c > 0."""
    some = X[:1_000]
    away = np.linalg.norm(some - some.mean(axis=0), axis=1)
    near = cdist(some, some) < np.maximum(away[:, None], away[None, :])
    np.fill_diagonal(near, val=False)
    return float((double_centred(some)[near] > 0).mean())


def forces(setting: Setting) -> Finding:
    """Coefficients against distance, and arrows on a small set during the descent."""
    X, _ = pixels(setting, setting.of(100, 300, 500))
    Y = PCA(2).fit_transform(X)
    pulls = {
        "data: c$^X$": (cdist(X, X), double_centred(X)),
        "map: −c$^Y$": (cdist(Y, Y), -double_centred(Y)),
    }
    far, near = (_share(pulls["data: c$^X$"], part) for part in (slice(-1, None), slice(1)))
    small, kinds = _three_groups(setting)
    squares = np.square(np.linalg.svd(small - small.mean(axis=0), compute_uv=False))
    middle = algorithm_one(small, 2, n_epochs=8, rate=1 / (16 * squares[0]))[-1]
    middle = middle - middle.mean(axis=0)
    total = point_forces(small, middle)
    off = _off_pairs(small, middle, total)
    at_end = point_forces(X, Y)
    rest = float(np.linalg.norm(at_end.descent) / (8 * np.linalg.norm(at_end.of_data)))
    on_map = attraction(Y)
    rows = (
        identity("F_X, F_Y summed over pairs, off the products", off, 1e-10),
        theorem("F_X − F_Y at our PCA, relative to F_X", rest, at_most=1e-6, about="they balance"),
        claim("share of Σ|c| from the nearest and the farthest quarter", "dominated", near + far,
              lambda x: x > 0.5, f"nearest {near:.2f}, farthest {far:.2f}; above ½"),
        claim("map: mutual nearest pairs repel", 1.0, on_map.nearest_attract, lambda x: x == 1,
              _of(on_map.nearest_pairs)),
        claim("map: mutual farthest pairs attract", 1.0, on_map.farthest_repel, lambda x: x == 1,
              _of(on_map.farthest_pairs))
        if on_map.farthest_pairs
        else also("map: mutual farthest", "no such pair"),
    )  # fmt: skip
    sentence = (
        f"Far pairs are mostly pushed apart by the data and near ones pulled together, with a "
        f"wide cloud around it; the nearest and farthest quarters carry {near + far:.0%} of all "
        f"|c|, and at PCA's map the two forces cancel to {rest:.0e}."
    )
    figures = (
        (
            f"Coefficients of all pairs of {len(X)} images against their distance.",
            pull_figure(pulls, chosen=_typical(Y), title="Distance does not decide"),
        ),
        (
            "Three groups of points in space, eight steps into the descent.",
            force_figure(middle, total, groups=kinds, title="The forces during the descent"),
        ),
    )
    return Finding(sentence, rows, figures, tuple(filter(None, (setting.stand_in,))))


def _off_pairs(X: Array, Y: Array, total: PointForces) -> float:
    """Distance of the sums over all pairs from F_X and F_Y by products, relative."""
    sums = [part.sum(axis=1) for part in pair_forces(X, Y)]
    both = zip(sums, (total.of_data, total.of_points), strict=True)
    return max(float(np.abs(pairs - whole).max() / np.abs(whole).max()) for pairs, whole in both)


def _share(pull: tuple[Array, Array], part: slice) -> float:
    """Share of Σ|c| over pairs that the nearest (or farthest) quarter of the distances holds."""
    upper = np.triu_indices(len(pull[0]), 1)
    strengths = np.abs(pull[1][upper])[np.argsort(pull[0][upper])]
    quarters = np.array([quarter.sum() for quarter in np.array_split(strengths, 4)])
    return float((quarters / quarters.sum())[part].sum())


def _typical(Y: Array) -> int:
    """A point well off the mean: three quarters of all are nearer to it."""
    away = np.linalg.norm(Y, axis=1)
    return int(np.argsort(away)[3 * len(Y) // 4])


def _three_groups(setting: Setting) -> tuple[Array, Array]:
    kinds = np.repeat(np.arange(3), 6)
    middles = np.array([[4.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0], [-3.0, -3.0, 1.0, 0.0]])
    return middles[kinds] + 0.7 * setting.random().standard_normal((18, 4)), kinds


def _of(pairs: int) -> str:
    return f"of {pairs} such pair{'s' if pairs != 1 else ''}"


def _standardised(X: Array) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


EXPERIMENTS = (
    Experiment("draganov-forces", "D", "§1.1, the two forces", "Attraction and repulsion", forces),
    Experiment(
        "draganov-claims",
        "D",
        "§1.1, last paragraph",
        "Do near points only attract, and does distance decide?",
        claims,
    ),
)
