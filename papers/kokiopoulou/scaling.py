"""PCA and classical scaling are one map; Isomap is the same scaling of other distances."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from dualfold import PCA, ClassicalMDS
from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.embedding import embed
from dualfold.graph import Graph, geodesic_distances, join_pieces, knn, radius
from dualfold.methods import isomap, mds_of_distances, pca
from dualfold.quality import procrustes
from dualfold.trace.solvers import Auto
from dualfold.view.figures import Panel, gallery
from dualfold.weights import centred_gram
from papers.draganov.descent import pixels
from papers.finding import Experiment, Finding, Row, Setting, also, claim, identity, theorem

# Of the roll. Rolls of 500 points, seeds 0 to 2: no short cut between turns with 8, two rolls of
# three have some with 10 (disparity 0.2 to 0.3), all with 12; 300 points have them with 8 too.
NEIGHBORS, MORE_NEIGHBORS = 8, 20
SHARP = Auto(tol=1e-10)  # identities are checked to 1e-8; the usual 1e-6 is for pictures


def pca_is_mds(setting: Setting) -> Finding:
    """The coordinates of both, the largest angle between their spans, and the best scale."""
    n = setting.of(150, 800, 3_000)
    X, labels = pixels(setting, n)
    by_axes = embed(pca(X, matrix="covariance"), solver=SHARP).points
    by_distances = embed(mds_of_distances(cdist(X, X)), solver=SHARP).points
    aligned = procrustes(by_axes, by_distances)
    angle = float(scipy.linalg.subspace_angles(by_axes, by_distances).max())
    apart = float(aligned.residuals.max() / np.linalg.norm(by_axes, axis=1).max())
    rows = (
        theorem("largest angle between the two maps' columns", angle, at_most=1e-6),
        theorem("scale from one to the other", aligned.scale, equals=1, within=1e-8),
        theorem("farthest point, over the radius", apart, at_most=1e-6, about="after turning"),
        *_gram_rows(X),
        *_variance_rows(X, setting),
    )
    sentence = (
        f"PCA of {len(X):,} images and classical scaling of their distances give the same points: "
        f"angle {angle:.0e}, scale {aligned.scale:.10f}. The notes' bottom eigenvectors "
        "should be the top ones."
    )
    panels = [
        Panel(by_axes, labels.astype(int), "PCA: covariance", "D×D eigenvectors"),
        Panel(aligned.points, labels.astype(int), "MDS: distances", "n×n, turned onto PCA"),
    ]
    figure = gallery([panels], title="One map from two matrices", color_names=["digit"])
    caption = f"{len(X):,} images by PCA, and by scaling their distances."
    notes = (setting.stand_in,) if setting.stand_in else ()
    return Finding(sentence, rows, ((caption, figure),), notes)


def _gram_rows(X: Array) -> tuple[Row, ...]:
    """Distances from inner products and back, and what scaling minimises: by our matrices."""
    centred, D = X - X.mean(axis=0), cdist(X, X)
    G, ours = centred @ centred.T, centred_gram(D)
    size = float(np.abs(G).max())
    forward = np.diag(ours)[:, None] + np.diag(ours)[None, :] - 2 * ours - D**2
    Y = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(D)
    values = np.linalg.eigvalsh(G)
    strain = float(np.square(G - Y @ Y.T).sum())
    discarded = float(np.square(values[:-2]).sum())
    return (
        identity("s_ij = g_ii + g_jj − 2g_ij, off", np.abs(forward).max() / size, 1e-10),
        identity("our −½HSH off G", np.abs(ours - G).max() / size, 1e-10),
        theorem("‖G − YYᵀ‖² of our MDS over the sum of discarded λ²", strain / discarded, equals=1,
                within=1e-10),
    )  # fmt: skip


def _variance_rows(X: Array, setting: Setting) -> tuple[Row, ...]:
    """Variance kept and error made add up to the same for every V, and the top is on top."""
    centred = X - X.mean(axis=0)
    whole = float(np.square(centred).sum())
    rng, best = setting.random(), 0.0
    for _ in range(setting.of(5, 20, 20)):
        V = np.linalg.qr(rng.standard_normal((X.shape[1], 2)))[0]
        best = max(best, float(np.square(centred @ V).sum()) / whole)
    full = PCA(n_components=min(X.shape) - 1).fit(X)
    shares = full.explained_variance_ratio_
    model = PCA(n_components=2).fit(X)
    kept = float(model.explained_variance_ratio_.sum())
    error = float(np.square(X - model.inverse_transform(model.transform(X))).sum()) / whole
    return (
        identity("variance kept + error of our PCA, off the whole", kept + error, 1e-10, equals=1),
        theorem("the best of random V over our PCA", best / kept, at_most=1),
        claim("variance kept by our bottom two directions over our top two", "the most",
              float(shares[-2:].sum()) / kept, lambda x: x >= 1,
              "“bottom” for top is a slip"),
    )  # fmt: skip


def isomap_scaling(setting: Setting) -> Finding:
    """Isomap: scaling of geodesics; on straight distances it is PCA again."""
    n = setting.of(500, 1_000, 3_000)
    roll = swiss_roll(n, random_state=setting.seed)
    graph = join_pieces(knn(roll.points, NEIGHBORS))
    unrolled, straight = embed(isomap(graph), solver=SHARP).points, embed(pca(roll.points)).points
    spectrum, negative = _spectrum_rows(graph, unrolled)
    flat, squeezed = (procrustes(roll.flat, Y) for Y in (unrolled, straight))
    shorter = procrustes(
        roll.flat, embed(isomap(join_pieces(knn(roll.points, MORE_NEIGHBORS)))).points
    )
    rows = (
        _straight_row(roll.points[: setting.of(60, 100, 200)]),
        *spectrum,
        also(
            "roll: Isomap's disparity to the flat sheet",
            flat.disparity,
            f"PCA's is {squeezed.disparity:.3f}; 0 to 1",
        ),
        also(
            f"the same with {MORE_NEIGHBORS} neighbours",
            shorter.disparity,
            f"{NEIGHBORS} above: the answer depends on it as soon as edges cut across turns",
        ),
        *_ball_rows(roll.points, graph),
    )
    panels = [
        Panel(roll.points, roll.color, "The roll"),
        Panel(straight, roll.color, "PCA = MDS", f"disparity {squeezed.disparity:.3f}"),
        Panel(flat.points, roll.color, "Isomap, turned", f"disparity {flat.disparity:.4f}"),
    ]
    sentence = (
        f"Scaling geodesics brings {n:,} points of a roll to a disparity of "
        f"{flat.disparity:.4f} from the flat sheet (PCA {squeezed.disparity:.2f}); {negative:.1%} "
        "of Ĝ's spectrum is negative. With straight distances Isomap is PCA."
    )
    caption = "The roll, by scaling distances and by scaling geodesics."
    figures = (
        (
            caption,
            gallery([panels], title="The same scaling, other distances", color_names=["along"]),
        ),
    )
    chosen = "chosen by looking: of three rolls of 500 points none had short cuts."
    notes = (f"{NEIGHBORS} neighbours, {chosen}",)
    return Finding(sentence, rows, figures, notes)


def _straight_row(points: Array) -> Row:
    whole = embed(isomap(knn(points, len(points) - 1))).points
    same = procrustes(embed(pca(points)).points, whole)
    about = "after turning; geodesics are then distances"
    return theorem("all points neighbours: disparity of Isomap to PCA", same.disparity,
                   at_most=1e-12, about=about)  # fmt: skip


def _ball_rows(points: Array, graph: Graph) -> tuple[Row, ...]:
    """The notes' other graph: an ε-ball around each point, and Dijkstra's distances on it."""
    reach = 1.5 * float(graph.lengths.data.max())
    some = points[:300]
    apart = cdist(some, some)
    ball = radius(some, reach)
    wanted = (apart <= reach) & ~np.eye(len(some), dtype=bool)
    edges = np.zeros_like(wanted)
    coo = ball.lengths.tocoo()
    edges[coo.row, coo.col] = True
    paths = np.where(wanted, apart, np.inf)
    np.fill_diagonal(paths, 0.0)
    for middle in range(len(some)):  # Floyd and Warshall, written out
        paths = np.minimum(paths, paths[:, middle, None] + paths[None, middle])
    ours = geodesic_distances(ball, dtype=np.float64)
    reached = np.isfinite(paths)
    off = float(np.abs(ours[reached] - paths[reached]).max() / paths[reached].max())
    return (
        theorem("ε-balls: pairs that are edges and should not be, or the other way",
                float((edges != wanted).sum()), equals=0),
        identity("ε-balls: geodesics off Floyd and Warshall's", off, 1e-12),
    )  # fmt: skip


def _spectrum_rows(graph: Graph, points: Array) -> tuple[tuple[Row, ...], float]:
    """Isomap's strain against its minimum, and the share of Ĝ's spectrum that is negative."""
    # Geodesics are kept in float32; eigenvalues of such a matrix would be good to 1e-7 only.
    kernel = np.asarray(centred_gram(geodesic_distances(graph)), dtype=float)
    values = np.linalg.eigvalsh(kernel)
    negative = float(-values[values < 0].sum() / np.abs(values).sum())
    strain = float(np.square(kernel - points @ points.T).sum())
    off = abs(strain / float(np.square(values[:-2]).sum()) - 1)
    rows = (
        theorem("‖Ĝ − YYᵀ‖² of our Isomap off the sum of discarded λ²", off, at_most=1e-8),
        also("share of Σ|λ| of Ĝ that is negative", negative,
             "Ĝ is no Gram matrix, so its top eigenvalues count, not singular values"),
    )  # fmt: skip
    return rows, negative


EXPERIMENTS = (
    Experiment("kokiopoulou-mds", "K", "§4.1–4.2", "PCA and classical scaling agree", pca_is_mds),
    Experiment(
        "kokiopoulou-isomap", "K", "§4.2, Isomap", "Isomap is scaling of geodesics", isomap_scaling
    ),
)
