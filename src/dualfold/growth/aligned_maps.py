"""Maps of slices over time, or of batches side by side, that are held together along links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from dualfold.aligned.certificate import certify_aligned
from dualfold.aligned.descent import solve_aligned
from dualfold.aligned.problem import AlignedProblem, link_matrix
from dualfold.aligned.relaxation import constrained_inverse, relaxed_vectors
from dualfold.aligned.springs import descended_with_springs
from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph import join_pieces, knn
from dualfold.inputs import numbers_of
from dualfold.methods._diffusion_maps import diffusion_maps
from dualfold.methods._eigenmaps import eigenmaps
from dualfold.methods._tsne import TSNE
from dualfold.quality.map_comparison import procrustes
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto
from dualfold.weights.laplacians import weighted_laplacian

METHODS = ("eigenmaps", "diffusion_maps", "lpp", "pca", "tsne")
# Factors of the mean eigenvalue that "auto" tries for μ, on the first few pairs of resamples. With
# 19 pairs, chance puts the largest movement in a step above all of theirs in 1 of 20 cases, if the
# pairs differ as slices do; docs/dev/notes/aligned-maps.md says how often it was.
MU_FACTORS = (0.1, 1.0, 10.0, 100.0)
RESAMPLED_PAIRS = 19
TRIED_PAIRS = 3
# The largest share of rows that two resamples have in common.
MAX_OVERLAP = 0.8
# Rows of a slice that are resampled, at the most.
MAX_RESAMPLED_ROWS = 2_000


@dataclass(frozen=True, eq=False)
class Slice:
    """One slice: its problem, and the features whose rows times the vectors are its points."""

    problem: TraceProblem
    features: Any


@dataclass(frozen=True, eq=False)
class _Fit:
    points: list[Array]
    vectors: list[Array]
    certificate: Any


@dataclass(eq=False)
class AlignedMaps:
    """Maps of several tables, held together where they have rows in common.

    The tables are slices over time, or batches side by side. Rows that two successive slices share
    are linked; the maps are fitted together, so that linked rows lie near one another where the
    data allow it, and what moves has moved in the data.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates.
    method : {"eigenmaps", "diffusion_maps", "lpp", "pca", "tsne"}, default="eigenmaps"
        What each map keeps: neighbours ("eigenmaps"), a random walk with its density corrected
        ("diffusion_maps"), neighbours by a linear map ("lpp"), variance ("pca", which needs the
        same columns in each slice), or neighbours for a picture ("tsne").
    mu : float ≥ 0 or "auto", default="auto"
        Weight of the links. "auto" is the smallest weight at which two resamples of one slice move
        no more than resampling explains.
    n_neighbors : int ≥ 1, default=10
        Number of neighbours of each row in its slice.
    perplexity : float > 0, default=30.0
        Perplexity of t-SNE.
    random_state : int, default=0
        Seed of the resamples.

    Attributes
    ----------
    embeddings_ : list of ndarray of shape (n_t, n_components)
        The points of each slice.
    certificate_ : AlignedCertificate
        How far from the optimum they can be.
    mu_ : float
        The weight of the links.
    mu_reason_ : str
        How it was chosen.
    links_ : list of ndarray of shape (m_t, 2)
        Linked rows of each two successive slices.
    movement_ : list of ndarray of shape (m_t,)
        Distance between linked rows, relative to the radius of the map.
    movement_limit_ : float
        Largest movement of any row in 19 pairs of resamples of one slice; NaN if `mu` was given.
    drift_ : list of ndarray of bool of shape (m_t,)
        Which linked rows moved more than that. Few slices that are samples of one kind have such
        rows; the level is not exact. All False if `mu` was given.

    See Also
    --------
    UpdatedMap : One map that grows.

    Notes
    -----
    With Laplacians Lₜ and masses Mₜ of sum 1, and links (i, j) of successive slices::

        minimise Σₜ tr(YₜᵀLₜYₜ) + μ·Σₜ mean of ‖yᵢᵗ − yⱼᵗ⁺¹‖² over links
        subject to YₜᵀMₜYₜ = I and YₜᵀMₜ1 = 0 for each slice t

    **Proof.** The descent ends where the gradient vanishes. The certificate bounds the distance
    from the optimum by the larger of two lower bounds: the sum of the slices' own optima, and T
    times the optimum with one constraint for all slices. t-SNE has no bound.

    **Cost.** About that of the separate maps, ten to a hundred times; "auto" adds a few fits of a
    resampled slice.

    **Failure.** Links are an assumption: rows that are not the same thing are drawn together, too.
    Slices that share no row have maps of their own, each turned as it likes.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import AlignedMaps
    >>> from dualfold.data import swiss_roll
    >>> january = swiss_roll(200, random_state=0).points
    >>> february = january + np.random.default_rng(0).normal(size=(200, 3)) / 20
    >>> maps = AlignedMaps(mu=0.1).fit([january, february])
    >>> len(maps.embeddings_), maps.certificate_.gap < 0.01
    (2, True)
    """

    n_components: int = 2
    _: KW_ONLY
    method: str = "eigenmaps"
    mu: float | str = "auto"
    n_neighbors: int = 10
    perplexity: float = 30.0
    random_state: int = 0

    def fit(self, slices: Sequence[Any], ids: Any = None, links: Any = None) -> Self:
        """Fit the maps of all slices together.

        Parameters
        ----------
        slices : sequence of array-like of shape (n_t, n_features_t)
            Tables, in their order; they may differ in rows, and but for "pca" in columns.
        ids : sequence of sequences or None, default=None
            An identifier of each row of each slice; rows of successive slices with the same one are
            linked. None links rows by their numbers if all slices have as many.
        links : sequence of array-like of shape (m_t, 2) or None, default=None
            Pairs (row of slice t, row of slice t + 1) for each slice but the last, instead of ids.

        Returns
        -------
        AlignedMaps
            The fitted maps.

        Raises
        ------
        InvalidInput
            If slices, ids, links or parameters do not fit together.
        """
        self._refuse_parameters()
        tables = _checked_tables(slices)
        pairs = _checked_links(tables, ids, links)
        if self.method == "pca" and len({X.shape[1] for X in tables}) > 1:
            raise InvalidInput(
                Argument("method", "pca"),
                " couples axes, so that each slice needs the same columns; they have "
                f"{', '.join(str(X.shape[1]) for X in tables)}",
            )
        fit = self._tsne_fit if self.method == "tsne" else self._trace_fit
        shares = [2 * len(p) / (len(tables[t]) + len(tables[t + 1])) for t, p in enumerate(pairs)]
        self.mu_, self.mu_reason_, reference = self._chosen_mu(tables, fit, min(shares))
        found = fit(tables, pairs, self.mu_)
        self.embeddings_, self.certificate_, self.links_ = found.points, found.certificate, pairs
        self._vectors = found.vectors
        self.movement_ = _movements(found.points, pairs)
        self.movement_limit_ = float(reference.max()) if len(reference) else np.nan
        limit = self.movement_limit_ if len(reference) else np.inf
        self.drift_ = [moved > limit for moved in self.movement_]
        return self

    def _trace_fit(self, tables: list[Array], pairs: list[Array], mu: float) -> _Fit:
        slices = [self._slice(X) for X in tables]
        answers = [_solution(one.problem) for one in slices]
        problem = AlignedProblem(
            tuple(one.problem for one in slices),
            link_matrix([one.features for one in slices], pairs)
            if self.method != "pca"
            else _axis_coupling(slices),
            mu,
        )
        separate = [answer[:, : self.n_components] for answer in answers]
        inverse = constrained_inverse(problem.joint)
        relaxed = relaxed_vectors(problem.joint, inverse)
        starts = [
            np.vstack(_registered(slices, separate, pairs)),
            relaxed[:, : self.n_components] * np.sqrt(len(slices)),
        ]
        V = solve_aligned(problem, starts, inverse).vectors
        certificate = certify_aligned(problem, V, answers, relaxed)
        parts = problem.parts(V)
        points = [np.asarray(one.features @ part) for one, part in zip(slices, parts, strict=True)]
        return _Fit(points, parts, certificate)

    def _tsne_fit(self, tables: list[Array], pairs: list[Array], mu: float) -> _Fit:
        estimator = TSNE(self.n_components, perplexity=self.perplexity)
        problems = [estimator._problem(X)[1] for X in tables]
        starts = [estimator.fit(tables[0]).embedding_.astype(float)]
        for t, linked in enumerate(pairs):
            own = estimator.fit(tables[t + 1]).embedding_.astype(float)
            if len(linked) > self.n_components:
                near = procrustes(starts[t][linked[:, 0]], own[linked[:, 1]], scale=1.0)
                own = own @ near.rotation + near.shift
            starts.append(own)
        points, certificate = descended_with_springs(problems, starts, pairs, mu)
        return _Fit(points, points, certificate)

    def _slice(self, X: Array) -> Slice:
        """The problem of one slice, with masses of sum 1."""
        if self.method == "pca":
            centred = X - X.mean(axis=0)
            problem = TraceProblem(-(centred.T @ centred) / len(X), None, self.n_components, "min")
            return Slice(problem, centred)
        graph = join_pieces(knn(X, min(self.n_neighbors, len(X) - 1)))
        if self.method == "lpp":
            return _projected_slice(X, graph, self.n_components)
        if self.method == "diffusion_maps":
            problem = diffusion_maps(graph, n_components=self.n_components)
        else:
            problem = eigenmaps(graph, n_components=self.n_components, weights="adaptive")
        total = float(problem.metric.sparse().diagonal().sum())
        degrees = problem.metric.sparse().diagonal() / total
        problem = TraceProblem(
            sp.csr_array(problem.A / total), degrees, self.n_components, "min", np.ones(len(X))
        )
        return Slice(problem, sp.eye_array(len(X), format="csr"))

    def _chosen_mu(
        self, tables: list[Array], fit: Callable[..., _Fit], overlap: float
    ) -> tuple[float, str, Array]:
        """μ, why, and the largest movement in each pair of resamples of one slice at this μ."""
        if self.mu != "auto":
            return float(self.mu), "it was given", np.zeros(0)
        draw = np.random.default_rng(self.random_state)
        X = max(tables, key=len)
        if len(X) > MAX_RESAMPLED_ROWS:
            X = X[np.sort(draw.choice(len(X), MAX_RESAMPLED_ROWS, replace=False))]
        samples = [_resampled_pair(len(X), overlap, draw) for _ in range(RESAMPLED_PAIRS)]
        unit, first = self._mu_unit(X), samples[:TRIED_PAIRS]
        whole = fit([X], [], 0.0).points[0]
        shifts = [
            _shift_between(whole[rows], fit([X[rows]], [], 0.0).points[0]) for rows, _, _ in first
        ]
        explained = float(np.sqrt(2) * np.median(shifts))

        def movements(pairs: Any, mu: float) -> list[Array]:
            fits = (fit([X[one], X[other]], [both], mu).points for one, other, both in pairs)
            return [
                _movements(found, [both])[0]
                for found, (_, _, both) in zip(fits, pairs, strict=True)
            ]

        for factor in MU_FACTORS:
            mu = factor * unit
            moved = movements(first, mu)
            if np.median(np.concatenate(moved)) <= explained:
                break
        moved += movements(samples[TRIED_PAIRS:], mu)
        reason = (
            f"two resamples of one slice move by {np.median(np.concatenate(moved)):.1%} of the "
            f"map's radius in the median; resampling alone explains {explained:.1%}"
        )
        return float(mu), reason, np.array([one.max() for one in moved])

    def _mu_unit(self, X: Array) -> float:
        """The size of the eigenvalues, which weights of links are measured in."""
        if self.method == "tsne":
            return 0.01
        problem = self._slice(X).problem
        V = _solution(problem)[:, : self.n_components]
        return float(abs(np.sum(V * (problem.A @ V)))) / self.n_components

    def _refuse_parameters(self) -> None:
        if self.method not in METHODS:
            raise InvalidInput(
                Argument("method"), f" is {self.method!r}; it is one of {', '.join(METHODS)}"
            )
        number = isinstance(self.mu, int | float) and not isinstance(self.mu, bool)
        if self.mu != "auto" and (not number or not 0 <= float(self.mu) < np.inf):
            raise InvalidInput(Argument("mu"), f" is {self.mu!r}; it is a number ≥ 0 or 'auto'")

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers, lists and strings, as JSON takes them.

        Returns
        -------
        dict
            Weight of the links, certificate, movement and drift of each two successive slices.
        """
        return {
            "mu": self.mu_,
            "mu_reason": self.mu_reason_,
            "certificate": self.certificate_.to_dict(),
            "movement_limit": None if np.isnan(self.movement_limit_) else self.movement_limit_,
            "steps": [
                {
                    "links": len(pairs),
                    "movement": float(np.median(moved)) if len(moved) else None,
                    "drifted": int(drift.sum()),
                }
                for pairs, moved, drift in zip(
                    self.links_, self.movement_, self.drift_, strict=True
                )
            ],
        }


def _projected_slice(X: Array, graph: Any, count: int) -> Slice:
    """LPP: vectors are combinations of the directions along which rows differ."""
    laplacian, degrees = weighted_laplacian(graph, weights="adaptive")
    total = float(np.sum(degrees))
    centred = X - (degrees @ X) / total
    U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    U = U[:, sizes > 1e-10 * sizes[0]] * np.sqrt(len(X))
    if U.shape[1] < count:
        raise InvalidInput(
            f"a slice differs along {counted(U.shape[1], 'direction')}, and {count} are needed"
        )
    A = U.T @ (laplacian @ U) / total
    B = U.T @ (degrees[:, None] * U) / total
    return Slice(TraceProblem((A + A.T) / 2, (B + B.T) / 2, count, "min"), U)


def _axis_coupling(slices: list[Slice]) -> sp.csr_array:
    """K of axes: the squared differences of the directions of successive slices."""
    width, T = slices[0].problem.n, len(slices)
    if T == 1:
        return sp.csr_array((width, width))
    path = sp.diags_array([-np.ones(T - 1), np.ones(T), -np.ones(T - 1)], offsets=[-1, 0, 1])
    path = path + sp.diags_array(np.r_[0.0, np.ones(max(0, T - 2)), 0.0][:T])
    return sp.csr_array(sp.kron(path, sp.eye_array(width)))


def _solution(problem: TraceProblem) -> Array:
    solution = Auto(tol=1e-9).solve(problem)
    return np.hstack([solution.vectors, solution.guard])


def _registered(slices: list[Slice], vectors: list[Array], pairs: list[Array]) -> list[Array]:
    """The separate answers, each turned onto the one before along its links."""
    turned = [vectors[0]]
    for t, linked in enumerate(pairs):
        following = vectors[t + 1]
        if len(linked) >= following.shape[1]:
            before = np.asarray(slices[t].features @ turned[-1])[linked[:, 0]]
            after = np.asarray(slices[t + 1].features @ following)[linked[:, 1]]
            left, _, right = np.linalg.svd(after.T @ before)
            following = following @ (left @ right)
        turned.append(following)
    return turned


def _movements(points: list[Array], pairs: list[Array]) -> list[Array]:
    """Distances between linked rows, relative to the radius of the map of the first slice."""
    moved = []
    for t, linked in enumerate(pairs):
        one, other = points[t], points[t + 1]
        radius = float(np.sqrt(np.mean(np.sum((one - one.mean(axis=0)) ** 2, axis=1)))) or 1.0
        apart = np.linalg.norm(one[linked[:, 0]] - other[linked[:, 1]], axis=1)
        moved.append(apart / radius)
    return moved


def _shift_between(points: Array, other: Array) -> float:
    """The median distance of two maps of the same rows, laid over one another."""
    radius = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))) or 1.0
    return float(np.median(procrustes(points, other).residuals)) / radius


def _resampled_pair(
    n: int, overlap: float, draw: np.random.Generator
) -> tuple[Array, Array, Array]:
    """The rows of two samples of one slice, and the pairs of their places that are one row.

    They share as large a part of their rows as slices do, but for MAX_OVERLAP: the same rows twice
    would not move at all.
    """
    share = min(overlap, MAX_OVERLAP)
    count = max(3, int(n / (2 - share)))
    both = int(share * count)
    rows = draw.permutation(n)
    first = np.sort(rows[:count])
    second = np.sort(rows[count - both : 2 * count - both])
    _, places, others = np.intersect1d(first, second, return_indices=True)
    return first, second, np.column_stack([places, others])


def _checked_tables(slices: Sequence[Any]) -> list[Array]:
    tables = []
    for number, X in enumerate(slices, 1):
        options: dict[str, Any] = {"input_name": f"slice {number}", "ensure_min_samples": 3}
        tables.append(check_array(numbers_of(X), dtype=np.float64, **options))
    if len(tables) < 2:
        raise InvalidInput(
            f"{counted(len(tables), 'slice')} {'was' if len(tables) == 1 else 'were'} given; at "
            "least two are needed"
        )
    return tables


def _checked_links(tables: list[Array], ids: Any, links: Any) -> list[Array]:
    if ids is not None and links is not None:
        raise InvalidInput(Argument("ids"), " and ", Argument("links"), " were given; give one")
    if links is not None:
        return _given_links(tables, links)
    if ids is None:
        sizes = {len(X) for X in tables}
        if len(sizes) > 1:
            raise InvalidInput(
                "the slices have different numbers of rows, so that rows are not the same by their "
                "numbers; give ",
                Argument("ids"),
                " or ",
                Argument("links"),
            )
        rows = np.arange(len(tables[0]))
        return [np.column_stack([rows, rows]) for _ in tables[1:]]
    if len(ids) != len(tables) or any(len(a) != len(X) for a, X in zip(ids, tables, strict=False)):
        raise InvalidInput(Argument("ids"), " must have one identifier for each row of each slice")
    places = [_places_of(list(names), number) for number, names in enumerate(ids, 1)]
    found = []
    for t in range(len(tables) - 1):
        after = places[t + 1]
        both = [(row, after[name]) for name, row in places[t].items() if name in after]
        if not both:
            raise InvalidInput(
                f"slices {t + 1} and {t + 2} have no identifier in common; without links their "
                "maps have nothing to do with one another"
            )
        found.append(np.array(both))
    return found


def _places_of(names: list[Any], number: int) -> dict[Any, int]:
    """The row of each identifier; two rows with one are refused."""
    places: dict[Any, int] = {}
    for row, name in enumerate(names):
        if name in places:
            raise InvalidInput(
                f"slice {number} has the identifier {name!r} in rows {places[name] + 1} and "
                f"{row + 1}; each row needs its own"
            )
        places[name] = row
    return places


def _given_links(tables: list[Array], links: Any) -> list[Array]:
    if len(links) != len(tables) - 1:
        raise InvalidInput(
            Argument("links"),
            f" has {len(links)} lists of pairs; {len(tables)} slices need {len(tables) - 1}",
        )
    found = []
    for t, pairs in enumerate(links):
        array = np.asarray(pairs)
        sizes = len(tables[t]), len(tables[t + 1])
        good = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
        if not good or (array < 0).any() or (array >= np.array(sizes)).any():
            raise InvalidInput(
                Argument("links"),
                f" between slices {t + 1} and {t + 2} are no pairs of row numbers below "
                f"{sizes[0]} and {sizes[1]}",
            )
        found.append(array.astype(int))
    return found
