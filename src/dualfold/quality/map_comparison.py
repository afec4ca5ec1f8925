"""Maps compared with maps: alignment, agreement, and how much a map depends on chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import random_generator
from dualfold.quality.estimate import drawn_rows, values_or_mean
from dualfold.quality.ranks import listed_neighbors
from dualfold.quality.space import EuclideanSpace, both_spaces, neighbor_count

# The scale between two maps is a double up to this power of 2, and far from its limits.
MAX_POWER_RATIO = 1_000


@dataclass(frozen=True, eq=False)
class Alignment:
    """The second map laid over the first: points = scale·(given @ rotation) + shift.

    disparity : Σ‖reference − points‖² / Σ‖reference − its mean‖²; 0: the same map
    residuals : the distance of each point from its place, in the reference's units
    """

    points: Array
    rotation: Array
    scale: float
    shift: Array
    disparity: float
    residuals: Array


def procrustes(
    reference: ArrayLike, points: ArrayLike, *, scale: float | str = "best"
) -> Alignment:
    """Lay one map over another by the best rotation, reflection, shift and scale.

        min over RᵀR = I, b, c of Σ_i ‖reference_i − (c·points_i·R + b)‖²

    Parameters
    ----------
    reference : array-like of shape (n_samples, n_components)
        Map that stays.
    points : array-like of shape (n_samples, n_components)
        Map that is moved, of the same points in the same order. If the maps differ in width,
        columns of zeros fill the narrower one.
    scale : float or "best", default="best"
        The factor c. "best" minimises over it; then `disparity` is from 0 to 1, symmetric in the
        two maps, and that of `scipy.spatial.procrustes`.

    Returns
    -------
    Alignment
        The moved `points`, the `rotation`, `scale` and `shift` that move them, the `disparity`
        (squared distances that are left, as a share of the variance of `reference`; 0: the same
        map) and the `residuals`, the distance of each point from its place.

    Raises
    ------
    InvalidInput
        If the maps have different numbers of points, or `scale` is another word.

    See Also
    --------
    stability : Several maps, each with each other.
    neighbor_agreement : Neighbours that two maps share.

    References
    ----------
    .. [1] P. H. Schönemann, "A generalized solution of the orthogonal Procrustes problem",
       Psychometrika, 31(1), 1–10, 1966.
    .. [2] J. C. Gower, "Generalized Procrustes analysis", Psychometrika, 40(1),
       33–51, 1975.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import procrustes
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> found = procrustes(square, 5 - 3 * square[:, ::-1])
    >>> round(found.disparity, 6), round(found.scale, 3)
    (0.0, 0.333)
    """
    # Each map in units of its own, a power of 2: squares have room then, and no digit changes.
    A, power = _map_in_units(reference, "reference")
    B, power_b = _map_in_units(points, "points")
    if len(A) != len(B):
        raise InvalidInput(
            f"both maps must hold the same points; they have {len(A)} and {len(B)} rows. For "
            "subsamples pass the rows they share"
        )
    if isinstance(scale, str) and scale != "best":
        raise InvalidInput(Argument("scale"), f" must be a number or 'best'; it is {scale!r}")
    width = max(A.shape[1], B.shape[1])
    A, B = (np.pad(M, ((0, 0), (0, width - M.shape[1]))) for M in (A, B))
    middle, other = A.mean(axis=0), B.mean(axis=0)
    A0, B0 = A - middle, B - other
    U, strengths, Vt = np.linalg.svd(B0.T @ A0)
    rotation = U @ Vt
    size = float(np.sum(B0**2))
    if scale == "best":
        chosen = float(strengths.sum() / size) if size > 0 else 1.0
    else:
        chosen = float(np.ldexp(float(scale), power_b - power))
    if abs(power - power_b) > MAX_POWER_RATIO:
        raise InvalidInput(
            f"the units of the two maps are 2^{abs(power - power_b)} apart, and the factor between "
            "them is no double; multiply one of them by a constant first"
        )
    shift = middle - chosen * (other @ rotation)
    aligned = chosen * (B @ rotation) + shift
    residuals = np.linalg.norm(A - aligned, axis=1)
    whole = float(np.sum(A0**2))
    left = float(np.sum(residuals**2))
    return Alignment(
        points=np.ldexp(aligned, power),
        rotation=rotation,
        scale=float(np.ldexp(chosen, power - power_b)),
        shift=np.ldexp(shift, power),
        disparity=left / whole if whole > 0 else float(size > 0),
        residuals=np.ldexp(residuals, power),
    )


def neighbor_agreement(
    first: ArrayLike,
    second: ArrayLike,
    *,
    n_neighbors: int = 10,
    per_point: bool = False,
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Share of the k nearest neighbours that two maps have in common.

    From 0 to 1, and symmetric. `per_point=True` shows where the maps differ. Where points tie on
    one of the maps, it is the mean of what each map keeps of the other (`t_similarity`).

    Parameters
    ----------
    first : array-like of shape (n_samples, n_components)
        One map.
    second : array-like of shape (n_samples, n_components)
        The other map, of the same points in the same order. It may have another width.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If the maps have different numbers of points, or too few.

    See Also
    --------
    procrustes : Lay one map over the other.
    stability : Several maps, each with each other.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import neighbor_agreement
    >>> line = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]
    >>> neighbor_agreement(line, line[[1, 0, 2, 3, 4]], n_neighbors=1)
    0.8
    """
    for points, name in ((first, "first"), (second, "second")):
        _map_in_units(points, name)
    # As they are stored: the rounding of single precision makes ties, too.
    x, y = (EuclideanSpace(p, n_jobs, n) for p, n in ((first, "first"), (second, "second")))
    both_spaces(x, y, "euclidean", n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state)
    kept, back = (listed_neighbors(a, b, k, rows).kept_shares(k) for a, b in ((x, y), (y, x)))
    return values_or_mean((kept + back) / 2, rows, x.n, (0.0, 1.0), per_point)


@dataclass(frozen=True, eq=False)
class Stability:
    """Agreement of several maps of the same data; `print` it.

    disparities, agreements : m×m, each map with each other (0 and 1 on the diagonal)
    per_point : mean share of neighbours a point keeps from map to map; NaN where no two
        maps hold it
    spread : how far a point moves between maps aligned to the first, root mean square,
        in units of the first map's radius; NaN where fewer than two maps hold it
    n_neighbors : how many neighbours were compared
    """

    disparities: Array
    agreements: Array
    per_point: Array
    spread: Array
    n_neighbors: int

    @property
    def disparity(self) -> float:
        """Mean over the pairs of maps."""
        return _off_diagonal_mean(self.disparities)

    @property
    def agreement(self) -> float:
        """Mean over the pairs of maps."""
        return _off_diagonal_mean(self.agreements)

    def __str__(self) -> str:
        return (
            f"{len(self.agreements)} maps share {self.agreement:.0%} of their {self.n_neighbors} "
            f"nearest neighbours pairwise; aligned, {self.disparity:.1%} of the variance differs"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without the numbers of single points."""
        return {
            "schema": "dualfold.stability/1",
            "maps": len(self.agreements),
            "n_neighbors": self.n_neighbors,
            "agreement": self.agreement,
            "disparity": self.disparity,
            "agreements": self.agreements.tolist(),
            "disparities": self.disparities.tolist(),
            "verdict": str(self),
        }


def stability(
    maps: Sequence[ArrayLike],
    rows: Sequence[ArrayLike] | None = None,
    *,
    n_neighbors: int = 10,
    n_jobs: int | None = None,
) -> Stability:
    """Compare several maps, each with each other, on the points that both hold.

    Parameters
    ----------
    maps : sequence of array-like
        Maps of the same data: with other seeds or settings, or of subsamples.
    rows : sequence of array-like or None, default=None
        Row numbers of the points of each map; None: all maps hold the same points.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Stability
        `agreement`, the mean share of neighbours that two maps share; `disparity`, the mean share
        of the variance that differs after `procrustes`; `agreements` and `disparities`, the same
        for each pair of maps; `per_point`, the agreement at each point; `spread`, how far a point
        moves between maps that are laid over the first, in radii of the first. NaN where fewer than
        two maps hold a point.

    Raises
    ------
    InvalidInput
        If there are fewer than two maps, or two of them share `n_neighbors` points or fewer.

    See Also
    --------
    repeated_maps : Maps to compare.
    neighbor_agreement : The comparison of two maps.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import stability
    >>> Y = np.random.default_rng(0).normal(size=(40, 2))
    >>> print(stability([Y, -2 * Y, Y[:, ::-1]]))
    3 maps share 100% of their 10 nearest neighbours pairwise; aligned, 0.0% of the variance differs
    """
    tables = [_map_in_units(table, f"map {number}")[0] for number, table in enumerate(maps)]
    if len(tables) < 2:
        raise InvalidInput(f"stability compares two maps or more; {len(tables)} given")
    held = [np.arange(len(t)) for t in tables]
    if rows is not None:
        held = [np.atleast_1d(np.asarray(names)) for names in rows]
    if [len(h) for h in held] != [len(t) for t in tables]:
        raise InvalidInput(
            Argument("rows"), " must name the points of each map, one index for each point"
        )
    n = 1 + max(int(h.max()) for h in held)
    m = len(tables)
    disparities, agreements = np.zeros((m, m)), np.eye(m)
    kept, met = np.zeros(n), np.zeros(n)
    for a in range(m):
        for b in range(a + 1, m):
            both, in_a, in_b = np.intersect1d(held[a], held[b], return_indices=True)
            if len(both) <= n_neighbors:
                raise InvalidInput(
                    f"maps {a} and {b} share {len(both)} points; more than ",
                    Argument("n_neighbors", n_neighbors),
                    " are needed. Draw larger subsamples",
                )
            first, second = tables[a][in_a], tables[b][in_b]
            same = neighbor_agreement(
                first, second, n_neighbors=n_neighbors, per_point=True, n_jobs=n_jobs
            )
            disparities[a, b] = disparities[b, a] = procrustes(first, second).disparity
            agreements[a, b] = agreements[b, a] = np.mean(same)
            kept[both] += same
            met[both] += 1
    per_point = np.divide(kept, met, out=np.full(n, np.nan), where=met > 0)
    return Stability(
        disparities, agreements, per_point, _point_spread(tables, held, n), n_neighbors
    )


def _point_spread(tables: list[Array], held: list[Array], n: int) -> Array:
    """Root mean square distance of each point from its mean place in the aligned maps."""
    width = max(t.shape[1] for t in tables)
    places = np.full((len(tables), n, width), np.nan)
    first = np.pad(tables[0], ((0, 0), (0, width - tables[0].shape[1])))
    places[0, held[0]] = first
    for turn, (table, names) in enumerate(zip(tables[1:], held[1:], strict=True), start=1):
        _, in_first, in_own = np.intersect1d(held[0], names, return_indices=True)
        fit = procrustes(first[in_first], table[in_own])
        wide = np.pad(table, ((0, 0), (0, width - table.shape[1])))
        places[turn, names] = fit.scale * (wide @ fit.rotation) + fit.shift
    seen = np.isfinite(places[:, :, 0])
    counts = seen.sum(axis=0)
    filled = np.where(seen[:, :, None], places, 0.0)
    mean = filled.sum(axis=0) / np.maximum(counts, 1)[:, None]
    squares = np.where(seen, np.sum((filled - mean) ** 2, axis=2), 0.0).sum(axis=0)
    radius = float(np.sqrt(np.mean(np.sum((first - first.mean(axis=0)) ** 2, axis=1)))) or 1.0
    spread = np.sqrt(squares / np.maximum(counts, 1)) / radius
    return np.asarray(np.where(counts > 1, spread, np.nan))


def repeated_maps(
    make: Callable[[Array, int], ArrayLike],
    X: Any,
    *,
    runs: int = 5,
    share: float = 1.0,
    random_state: int = 0,
) -> tuple[list[Array], list[Array]]:
    """Several maps of the same data by the same method.

    Parameters
    ----------
    make : callable
        Function of rows and a seed that returns a map, for example
        `lambda X, seed: PCA(2, random_state=seed).fit_transform(X)`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    runs : int ≥ 2, default=5
        Number of maps.
    share : float in (0, 1], default=1.0
        Share of the rows that each run gets. Below 1 every run draws its own subsample.
    random_state : int, default=0
        Seed of the subsamples and of the seeds that `make` gets.

    Returns
    -------
    maps : list of ndarray
        The maps.
    rows : list of ndarray of int
        Row numbers of the points of each map.

    Raises
    ------
    InvalidInput
        If `runs` or `share` is out of its range.

    See Also
    --------
    stability : Compare these maps.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import repeated_maps, stability
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> maps, rows = repeated_maps(lambda X, seed: X[:, :2], X, runs=3, share=0.5)
    >>> stability(maps, rows, n_neighbors=5).disparity < 1e-9
    True
    """
    if not 0 < share <= 1 or runs < 2:
        raise InvalidInput(
            Argument("share"),
            " must be in (0, 1] and ",
            Argument("runs"),
            f" >= 2; they are {share} and {runs}",
        )
    n = X.shape[0]
    rng = random_generator(random_state)
    maps, rows = [], []
    for _ in range(runs):
        size = max(2, round(share * n))
        chosen = np.arange(n) if size == n else np.sort(rng.choice(n, size, replace=False))
        points = X if size == n else X[chosen]
        maps.append(np.asarray(make(points, int(rng.integers(2**31)))))
        rows.append(chosen)
    return maps, rows


def _map_in_units(points: ArrayLike, name: str) -> tuple[Array, int]:
    """A map times 2^-power, so that fourth powers have room, and the power."""
    table, power = rows_in_units(points, name)
    if not len(table):
        raise InvalidInput(
            Argument(name),
            f" must be a table with one row for each point; its shape is {table.shape}",
        )
    return table.astype(float), power


def _off_diagonal_mean(matrix: Array) -> float:
    m = len(matrix)
    return float((matrix.sum() - np.trace(matrix)) / (m * (m - 1)))
