"""Maps of slices over time, or of batches side by side, that are held together along links."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, DualfoldWarning, InvalidInput
from dualfold.kernels.threads import one_blas_thread
from dualfold.methods._tsne import TSNE
from dualfold.methods.points.aligned.certificate import certify_aligned
from dualfold.methods.points.aligned.constrained_descent import solve_aligned
from dualfold.methods.points.aligned.problem import AlignedProblem, link_matrix
from dualfold.methods.points.aligned.relaxation import constrained_inverse, relaxed_vectors
from dualfold.methods.points.aligned.tsne_springs import descended_with_springs
from dualfold.models.aligned_links import are_one_to_one, checked_links, checked_tables
from dualfold.models.aligned_slices import (
    Slice,
    axis_coupling,
    registered_vectors,
    slice_of,
    solution_of,
    warn_of_pieces,
)
from dualfold.models.resampled_series import (
    MAX_RESAMPLED_ROWS,
    movements,
    resampled_pair,
    series_without_change,
    shift_between,
)
from dualfold.quality.map_comparison import procrustes

METHODS = ("eigenmaps", "diffusion_maps", "lpp", "pca", "tsne")
# "auto" tries these multiples of the mean eigenvalue for μ, each on TRIED_PAIRS pairs of resamples.
MU_FACTORS = (0.1, 1.0, 10.0, 100.0)
TRIED_PAIRS = 3
# The median movement of three pairs has an error of about a tenth.
MOVEMENT_SLACK = 1.1


@dataclass(frozen=True, eq=False)
class _Fit:
    points: list[Array]
    certificate: Any
    n_pieces: list[int]


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
    resamples : int ≥ 0, default=19
        Number of series without change that are mapped to say how far rows move by chance. With r
        of them, one in r + 1 series without change reports a row. 0 reports none.
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
        Largest movement of any row in any step of the series without change; NaN without such,
        and where rows are linked to several.
    drift_ : list of ndarray of bool of shape (m_t,)
        Which linked rows moved more than that; all False without such series.

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

    **Drift.** If nothing changed, each row has one value, and that value does not depend on the
    slices that the row is in. So the rows of all slices are pooled, the slices that a row is in are
    exchanged at random among the rows, and these series are mapped with the same weight. Successive
    slices of them share at most four fifths of their rows; further common rows are left out at
    random. The largest movement of r such series is exceeded by chance in one of r + 1 series.

    **Cost.** About that of the separate maps, ten to a hundred times; the search for a weight maps
    a few resampled slices, and `resamples` as many series, of at most 2,000 rows a slice.

    **Failure.** Links are an assumption: rows that are not the same thing are drawn together, too.
    Slices that share no row have maps of their own, each with a rotation of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import AlignedMaps
    >>> from dualfold.data import swiss_roll
    >>> january = swiss_roll(200, random_state=0).points
    >>> february = january + np.random.default_rng(0).normal(size=(200, 3)) / 20
    >>> maps = AlignedMaps(mu=0.1, resamples=0).fit([january, february])
    >>> len(maps.embeddings_), maps.certificate_.gap < 0.01
    (2, True)
    """

    n_components: int = 2
    _: KW_ONLY
    method: str = "eigenmaps"
    mu: float | str = "auto"
    resamples: int = 19
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
        tables = checked_tables(slices)
        pairs = checked_links(tables, ids, links)
        if self.method == "pca" and len({X.shape[1] for X in tables}) > 1:
            raise InvalidInput(
                Argument("method", "pca"),
                " couples axes, so that each slice needs the same columns; they have "
                f"{', '.join(str(X.shape[1]) for X in tables)}",
            )
        shares = [2 * len(p) / (len(tables[t]) + len(tables[t + 1])) for t, p in enumerate(pairs)]
        draw = np.random.default_rng(self.random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DualfoldWarning)
            self.mu_, self.mu_reason_ = self._chosen_mu(tables, min(shares), draw)
            self.movement_limit_ = self._movement_limit(tables, pairs, draw)
        fit = self._tsne_fit if self.method == "tsne" else self._trace_fit
        answer = fit(tables, pairs, self.mu_, certified=True)
        self.embeddings_, self.certificate_, self.links_ = answer.points, answer.certificate, pairs
        warn_of_pieces(answer.n_pieces)
        self.movement_ = movements(answer.points, pairs)
        known = not np.isnan(self.movement_limit_)
        limit = self.movement_limit_ if known else np.inf
        self.drift_ = [moved > limit for moved in self.movement_]
        return self

    def _movement_limit(
        self, tables: list[Array], pairs: list[Array], draw: np.random.Generator
    ) -> float:
        """The largest movement of any row in series without change; NaN if none are wanted.

        Links to several rows say that rows are alike, not that they are one thing: NaN, too.
        """
        if not are_one_to_one(pairs):
            return np.nan
        farthest = []
        for _ in range(self.resamples):
            slices, linked = series_without_change(tables, pairs, draw)
            moved = movements(self._points(slices, linked, self.mu_), linked)
            farthest.append(max(float(one.max(initial=0.0)) for one in moved))
        return max(farthest, default=np.nan)

    def _points(self, tables: list[Array], pairs: list[Array], mu: float) -> list[Array]:
        """The maps of some slices, not certified."""
        fit = self._tsne_fit if self.method == "tsne" else self._trace_fit
        return fit(tables, pairs, mu, certified=False).points

    def _trace_fit(
        self, tables: list[Array], pairs: list[Array], mu: float, *, certified: bool
    ) -> _Fit:
        slices = [self._slice(X) for X in tables]
        with one_blas_thread():  # for tall, thin matrices several threads are slower
            return self._aligned_fit(slices, pairs, mu, certified=certified)

    def _aligned_fit(
        self, slices: list[Slice], pairs: list[Array], mu: float, *, certified: bool
    ) -> _Fit:
        answers = [solution_of(one.problem) for one in slices]
        problem = AlignedProblem(
            tuple(one.problem for one in slices),
            link_matrix([one.features for one in slices], pairs)
            if self.method != "pca"
            else axis_coupling(slices),
            mu,
        )
        separate = [answer[:, : self.n_components] for answer in answers]
        inverse = constrained_inverse(problem.joint)
        relaxed = relaxed_vectors(problem.joint, inverse)
        starts = [
            np.vstack(registered_vectors(slices, separate, pairs)),
            relaxed[:, : self.n_components] * np.sqrt(len(slices)),
        ]
        V = solve_aligned(problem, starts, inverse)
        certificate = certify_aligned(problem, V, answers, relaxed) if certified else None
        parts = problem.parts(V)
        points = [np.asarray(one.features @ part) for one, part in zip(slices, parts, strict=True)]
        return _Fit(points, certificate, [one.n_pieces for one in slices])

    def _tsne_fit(
        self, tables: list[Array], pairs: list[Array], mu: float, *, certified: bool
    ) -> _Fit:
        estimator = TSNE(self.n_components, perplexity=self.perplexity)
        problems = [estimator._stated_points(X).problem for X in tables]
        starts = [estimator.fit(tables[0]).embedding_.astype(float)]
        for t, linked in enumerate(pairs):
            start = estimator.fit(tables[t + 1]).embedding_.astype(float)
            if len(linked) > self.n_components:
                near = procrustes(starts[t][linked[:, 0]], start[linked[:, 1]], scale=1.0)
                start = start @ near.rotation + near.shift
            starts.append(start)
        points, certificate = descended_with_springs(problems, starts, pairs, mu)
        return _Fit(points, certificate, [1] * len(points))

    def _slice(self, X: Array) -> Slice:
        return slice_of(X, self.method, self.n_components, self.n_neighbors)

    def _chosen_mu(
        self, tables: list[Array], overlap: float, draw: np.random.Generator
    ) -> tuple[float, str]:
        """μ: the smallest at which two resamples of one slice move as little as each from it."""
        if self.mu != "auto":
            return float(self.mu), "the weight of staying near was given"
        X = max(tables, key=len)
        if len(X) > MAX_RESAMPLED_ROWS:
            X = X[np.sort(draw.choice(len(X), MAX_RESAMPLED_ROWS, replace=False))]
        samples = [resampled_pair(len(X), overlap, draw) for _ in range(TRIED_PAIRS)]
        unit, whole = self._mu_unit(X), self._points([X], [], 0.0)[0]
        shifts = [
            shift_between(
                whole[rows],
                self._points([X[rows]], [], 0.0)[0],
                centred=self.method != "tsne",
            )
            for rows, _, _ in samples
        ]
        explained = float(np.sqrt(2) * np.median(shifts))
        words = "the smallest weight that is enough"
        for factor in MU_FACTORS:
            mu = factor * unit
            moved = [
                movements(self._points([X[one], X[other]], [both], mu), [both])[0]
                for one, other, both in samples
            ]
            typical = float(np.median(np.concatenate(moved)))
            if typical <= MOVEMENT_SLACK * explained:
                break
        else:
            words = "the largest weight that is tried"
        reason = (
            f"{words}, {mu:.2g}: two resamples of one slice move by {typical:.1%} of the map's "
            f"radius in the median; resampling alone explains {explained:.1%}"
        )
        return float(mu), reason

    def _mu_unit(self, X: Array) -> float:
        """The size of the eigenvalues, which weights of links are measured in."""
        if self.method == "tsne":
            return 0.01
        problem = self._slice(X).problem
        V = solution_of(problem)[:, : self.n_components]
        return float(abs(np.sum(V * (problem.A @ V)))) / self.n_components

    def _refuse_parameters(self) -> None:
        if self.method not in METHODS:
            raise InvalidInput(
                Argument("method"), f" is {self.method!r}; it is one of {', '.join(METHODS)}"
            )
        number = isinstance(self.mu, int | float) and not isinstance(self.mu, bool)
        if self.mu != "auto" and (not number or not 0 <= float(self.mu) < np.inf):
            raise InvalidInput(Argument("mu"), f" is {self.mu!r}; it is a number ≥ 0 or 'auto'")
        whole = isinstance(self.resamples, int) and not isinstance(self.resamples, bool)
        if not whole or self.resamples < 0:
            raise InvalidInput(
                Argument("resamples"), f" is {self.resamples!r}; it is a whole number, 0 or more"
            )

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
