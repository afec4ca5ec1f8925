"""t-SNE, with attraction as a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, Tolerance, tolerance_or
from dualfold.data.labels import Labels
from dualfold.fitting.estimator import Estimator, fit_stage
from dualfold.fitting.tiles import TiledRows
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.metrics import MetricWithParameters, is_precomputed
from dualfold.maps.attraction_map import AttractionMap
from dualfold.trace.certificate import certify
from dualfold.tsne.certificate import MAX_UNBALANCED_SHARE, certify_tsne
from dualfold.tsne.checks import neighbors_kept, warn_of_collapse
from dualfold.tsne.gradient_descent import Checkpoint, Descent, Phase, descend
from dualfold.tsne.neighbors import refuse_odd_input, tsne_lists
from dualfold.tsne.problem import TsneProblem
from dualfold.tsne.starts import (
    displacement,
    given_start,
    spectral_map,
    spectral_problem,
    start_named,
)
from dualfold.tsne.verbose import Told
from dualfold.weights.perplexity import conditional_affinities, joint_affinities


def tsne(
    graph: Graph | Lists,
    *,
    n_components: int = 2,
    perplexity: float | None = 30.0,
    attraction: float = 1.0,
) -> TsneProblem:
    """Points that attract along the edges of a graph and repel one another.

        minimise  ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij),   t_ij = ‖y_i − y_j‖²

    which is KL(P‖Q) up to the entropy of P for attraction ρ = 1. P is made of the listed
    neighbours: by the `perplexity`, or the same for every neighbour (None). Keeps neighbours
    better than anything that can be proved optimal; distances between groups, their sizes and
    densities mean little, and other starts give other maps. A larger ρ draws groups together
    (about 4 looks like UMAP), a smaller one spreads them out; ρ = ∞ is a trace problem
    (`TsneProblem.laplacian`).

    van der Maaten and Hinton, "Visualizing data using t-SNE" (2008); Böhm, Berens and Kobak,
    "Attraction-repulsion spectrum in neighbor embeddings" (2022).
    """
    lists = graph.lists if isinstance(graph, Graph) else graph
    conditional = conditional_affinities(lists, perplexity)[0]
    return TsneProblem(joint_affinities(lists, conditional), n_components, attraction)


# How much longer than n/4 the steps after early exaggeration are. 4 leaves more than a hundredth of
# the forces unbalanced, so the last rounds have 1 again (docs/dev/notes/tsne-grid.md).
LATE_STEP_FACTOR = 4.0


@dataclass(eq=False, repr=False)
class TSNE(Estimator):
    """Maps that keep neighbours: points attract along a graph and all repel one another.

    The parameters, attributes and schedule of scikit-learn's TSNE, and the same map at every run
    and for any number of threads. `attraction` goes from t-SNE (1) over maps like UMAP's (about 4)
    to eigenmaps (infinite). No bound of the optimum is known, so the certificate says whether the
    forces balance ("stationary"), not how far from optimal the map is.
    `dualfold.methods.tsne` states the problem.

    Parameters
    ----------
    n_components : number of coordinates; 4 and more need method="exact"
    perplexity : how many neighbours count, softly; 3 times as many are searched
    early_exaggeration : how many times stronger attraction is in the first 250 rounds; half of it,
        and so on, where the map would shrink to a line
    learning_rate : length of the steps; "auto" is n_samples/(4·exaggeration), at least 50, in the
        first 250 rounds, then n_samples/attraction, and a quarter of that in the last 50 rounds
    max_iter : the most rounds, the first 250 included
    n_iter_without_progress : stop after so many rounds without a better objective
    min_grad_norm : stop where the gradient is shorter
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    metric_params : of the metric, as in scikit-learn
    init : "pca", "spectral" (the eigenmaps of the affinities), "random", or an array
    verbose : 1 or more tells each stage on standard output, as scikit-learn does
    random_state : of init="random"; nothing else is random
    method : "barnes_hut" takes the fastest way (a grid in 1 and 2 dimensions, a tree in 3) and
        affinities of neighbours; "exact" sums over all pairs and has affinities between all rows
    angle : of the tree, in 3 dimensions; the smaller, the closer to the exact sums
    n_jobs : threads (None: all cores); the map does not depend on them
    attraction : what attraction is multiplied by: 1 is t-SNE, about 4 looks like UMAP, inf gives
        the eigenmaps of the affinities
    n_neighbors : draw each row alike to so many nearest ones, instead of by a perplexity
    graph : neighbours found before: a `Graph`, a sparse matrix of edge lengths, or the lists of
        `graph.nearest(X, …)`
    n_starts : maps from this many starts (the one of `init`, then others); the first is kept, and
        the certificate says how far from it the others ended
    callbacks : a function or several, called every 50 rounds with the round, the objective and
        the points; one that returns True stops the descent

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components, in single precision as in scikit-learn
    kl_divergence_ : KL(P‖Q) of these points, from all pairs in double precision
    certificate_ : the objective, the gradient, neighbours kept; print it
    n_iter_ : the number of the last round
    learning_rate_ : that of the first 250 rounds
    eigenvalues_ : of the eigenmaps, where attraction is infinite; else none
    history_ : a row for each look: the round, the objective (by the repulsion in use, with its
        exaggeration), the norm of its gradient

    Examples
    --------
    >>> from dualfold import TSNE
    >>> from dualfold.data import digits
    >>> X = digits().points[:200]
    >>> model = TSNE(perplexity=15).fit(X)
    >>> model.embedding_.shape, model.certificate_.level
    ((200, 2), 'stationary')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "perplexity": [Interval(Real, 0, None, closed="neither")],
        "early_exaggeration": [Interval(Real, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 250, None, closed="left")],
        "n_iter_without_progress": [Interval(Integral, -1, None, closed="left")],
        "min_grad_norm": [Interval(Real, 0, None, closed="left")],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"pca", "spectral", "random"}), np.ndarray],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "method": [StrOptions({"barnes_hut", "exact"})],
        "angle": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
        "attraction": [Interval(Real, 0, None, closed="right")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "graph": "no_validation",
        "n_starts": [Interval(Integral, 1, 10, closed="both")],
        "callbacks": [callable, list, tuple, None],
    }
    # Names of scikit-learn, which its tests set.
    _EXPLORATION_MAX_ITER = 250
    _N_ITER_CHECK = 50

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    early_exaggeration: float = 12.0
    learning_rate: Any = "auto"
    max_iter: int = 1000
    n_iter_without_progress: int = 300
    min_grad_norm: float = 1e-7
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    init: Any = "pca"
    verbose: int = 0
    random_state: Any = None
    method: str = "barnes_hut"
    angle: float = 0.5
    n_jobs: int | None = None
    attraction: float = 1.0
    n_neighbors: int | None = None
    graph: Any = None
    n_starts: int = 1
    callbacks: Any = None

    def _fit(self, X: Any, labels: Labels | None) -> None:
        refuse_odd_input(self, X)
        told = Told(self.verbose)
        lists, problem = self._problem(X, told)
        self._rows, self._drawn_by = X, _drawn_by(lists)
        self.learning_rate_ = self._rate(X.shape[0], self.early_exaggeration)
        if not np.isfinite(self.attraction):
            self._fit_spectral(problem, X)
            return
        if isinstance(self.init, str):
            with fit_stage(self, "start"):
                start = start_named(self.init, X, problem, self.n_components, self.random_state)
        else:
            start = given_start(self.init, problem.n, self.n_components)
        with fit_stage(self, "descent"):
            run = self._descent(problem, start, told)
        self.embedding_ = run.points.astype(np.float32)
        self.n_iter_ = run.rounds - 1
        self.history_ = np.array(run.objectives)
        with fit_stage(self, "certificate"):
            others, spread = self._other_starts(X, problem)
            self.certificate_: Any = certify_tsne(
                problem,
                self.embedding_,
                neighbors_kept=neighbors_kept(lists, self.embedding_, self.n_jobs),
                starts=others,
                spread=spread,
                n_jobs=self.n_jobs,
            )
        self.kl_divergence_ = self.certificate_.kl
        told.end(run, self.certificate_)
        warn_of_collapse(problem, self.embedding_)

    def _fit_tiles(self, rows: TiledRows, y: Any) -> None:
        rows.fit_landmarks(self)

    def for_comparison(self) -> Any:
        """As this one, from one start; nobody is told of its rounds."""
        return clone(self).set_params(n_starts=1, verbose=0, callbacks=None)

    def _problem(self, X: Any, told: Told | None = None) -> tuple[Lists, TsneProblem]:
        told = told or Told(0)
        with fit_stage(self, "neighbours"):
            lists = tsne_lists(self, X)
        told.neighbors(lists)
        with fit_stage(self, "affinities"):
            by = self.perplexity if self.n_neighbors is None else None
            conditional, widths = conditional_affinities(lists, by, self.n_jobs)
            P = joint_affinities(lists, conditional)
        told.affinities(widths)
        rho = float(self.attraction)
        return lists, TsneProblem(P, self.n_components, rho if np.isfinite(rho) else 1.0)

    def _rate(self, n: int, exaggeration: float) -> float:
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        return max(n / exaggeration / 4, 50.0)

    def _phases(self, n: int) -> list[Phase]:
        first = min(self._EXPLORATION_MAX_ITER, self.max_iter)
        # Early attraction is `early_exaggeration`, or more where it stays so.
        more = max(1.0, self.early_exaggeration / self.attraction)
        early = self._rate(n, max(self.early_exaggeration, self.attraction))
        rho = max(1.0, self.attraction)
        last = late = self._rate(n, rho)
        if self.learning_rate == "auto":  # few rows have no longer steps than the least anyway
            late = max(last, LATE_STEP_FACTOR * n / rho / 4)
        return [
            Phase(first, more, early, 0.8, self._EXPLORATION_MAX_ITER),
            Phase(self.max_iter - first, 1.0, late, 0.9, self.n_iter_without_progress, late / last),
        ]

    def _descent(self, problem: TsneProblem, start: Array, told: Told | None = None) -> Descent:
        return descend(
            problem,
            start,
            self._phases(problem.n),
            exact=self.method == "exact" or self.angle == 0,
            angle=float(self.angle),
            look_every=self._N_ITER_CHECK,
            least_gradient=float(self.min_grad_norm),
            look=self._looker(told),
            n_jobs=self.n_jobs,
        )

    def _looker(self, told: Told | None) -> Callable[[Checkpoint], bool]:
        given: Any = self.callbacks
        every = [given] if callable(given) else list(given or ())

        def look(seen: Checkpoint) -> bool:
            if told is None:
                return False
            told.look(seen)
            points = seen.points.copy() if every else seen.points
            stops = [bool(one(seen.round, seen.objective, points)) for one in every]
            return any(stops)

        return look

    def _other_starts(
        self, X: Any, problem: TsneProblem
    ) -> tuple[tuple[tuple[str, float], ...], float]:
        """The objective from other starts, and how far points move between the maps."""
        if self.n_starts == 1:
            return (), np.nan
        named = [name for name in ("spectral", "pca") if name != self.init]
        named = [name for name in named if name != "pca" or not is_precomputed(self.metric)]
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_starts)
        ended, moved = [], []
        for number in range(self.n_starts - 1):
            name = named[number] if number < len(named) else "random"
            seed = int(seeds[number])
            start = start_named(name, X, problem, self.n_components, seed)
            points = self._descent(problem, start).points
            ended.append((name, float(certify_tsne(problem, points, n_jobs=self.n_jobs).value)))
            moved.append(displacement(self.embedding_.astype(float), points))
        return tuple(ended), float(np.median(np.max(moved, axis=0)))

    def _fit_spectral(self, problem: TsneProblem, X: Any) -> None:
        with fit_stage(self, "solution and certificate"):
            answer = spectral_map(problem, self.n_components)
        self.embedding_ = answer.points.astype(np.float32)
        self.eigenvalues_ = answer.values
        self.certificate_ = answer.certificate
        self.kl_divergence_, self.n_iter_ = float("nan"), 0
        self.history_ = np.zeros((0, 3))

    def placing_map(self) -> Callable[[Any], Array]:
        """The rule that places new rows among the old points, each on its own."""
        check_is_fitted(self, "embedding_")
        return self._rule(self._rows, self.embedding_, self._drawn_by)

    def map_of_points(self, X: Any, points: Array) -> AttractionMap:
        """The map of new rows that follows from `points` as this estimator's map of X."""
        return self._rule(X, points, _drawn_by(tsne_lists(self, X)))

    def _rule(self, X: Any, points: Array, drawn_by: int) -> AttractionMap:
        by = float(self.perplexity) if self.n_neighbors is None else None
        metric: Any = self.metric
        if self.metric_params:
            metric = MetricWithParameters(metric, dict(self.metric_params))
        return AttractionMap(X, points, drawn_by, by, float(self.attraction), metric)

    def judged_points(self, X: Any, points: Any, tolerance: Tolerance = "default") -> Any:
        """The certificate of points (n × d) that are to be this estimator's answer for X.

        Nothing is descended: objective, gradient and neighbours kept are those of the points.
        tolerance : the largest share of the forces that may be unbalanced ("default": 0.01); with
            an
            infinite attraction the largest relative gap ("default": 1e-4)
        """
        checked = self._checked_rows(X, reset=True)
        refuse_odd_input(self, checked)
        lists, problem = self._problem(checked)
        if not np.isfinite(self.attraction):
            stated = spectral_problem(problem, self.n_components)
            gap = tolerance_or(DEFAULT_TOLERANCE, tolerance)
            return certify(stated, np.asarray(points, dtype=float), tolerance=gap)
        kept = neighbors_kept(lists, np.asarray(points, dtype=float), self.n_jobs)
        share = tolerance_or(MAX_UNBALANCED_SHARE, tolerance)
        return certify_tsne(
            problem, points, tolerance=share, neighbors_kept=kept, n_jobs=self.n_jobs
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.metric)
        tags.transformer_tags.preserves_dtype = []
        return tags


def _drawn_by(lists: Lists) -> int:
    """How many old rows draw a new one: as many as draw most of the old ones."""
    return max(1, int(np.median(lists.counts)))
