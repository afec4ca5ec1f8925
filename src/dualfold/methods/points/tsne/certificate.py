"""The certificate of a t-SNE map: whether its forces balance; no bound of the optimum is known.

The objective is not convex, and no lower bound beyond KL ≥ 0 is known, so that the level is never
"proved". The certificate states the objective to rounding, the gradient, the share of the forces
that is not balanced, the neighbours kept, and, where other starts were tried, where these ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dualfold.certificate import (
    Certificate,
    bound_text,
    checked_tolerance,
    refuse_no_problem,
    share,
)
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.points.force_balance import MAX_UNBALANCED_SHARE, force_balance
from dualfold.methods.points.tsne.problem import TsneProblem
from dualfold.methods.points.tsne.student_objective import TsneObjective, student_objective
from dualfold.trace.lift import MAX_COORDINATE


@dataclass(frozen=True, kw_only=True)
class TsneCertificate(Certificate):
    """Certificate of points as an answer of t-SNE; print it.

    The objective is not convex and no lower bound but KL ≥ 0 is known, so the level is
    "stationary", "not stationary" or "failed", and never "proved".

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        Always infinite: no bound is known.
    value : float
        The objective; KL(P‖Q) if the attraction is 1.
    bound : float
        Always NaN.
    tolerance : float
        Largest unbalanced share of the forces of a "stationary" map.
    reasons : tuple of str
        Why the level is "failed", in words.
    about : str
        What the statement is about.
    chance : float
        Always 0.
    complete : bool or None
        Always None.
    kl : float
        The divergence KL(P‖Q).
    error : float
        Bound of the errors of `value` and `kl`.
    slope : float
        Norm of the gradient.
    unbalanced : float
        Norm of the gradient over the norms of attraction and repulsion.
    neighbors_kept : float
        Share of the `n_neighbors` nearest rows that are nearest on the map, too; NaN if it was not
        counted.
    n_neighbors : int
        Length of these neighbour lists.
    starts : tuple of (str, float)
        Objectives of maps from other starts, by name.
    spread : float
        Median distance that a point moves from start to start, in units of the map's radius, after
        the maps were rotated and scaled onto one another; NaN without other starts.

    See Also
    --------
    certify_tsne : The function that returns it.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.tsne import TsneProblem, certify_tsne
    >>> two = TsneProblem(sp.csr_array([[0.0, 0.5], [0.5, 0.0]]), count=1)
    >>> certify_tsne(two, [[0.0], [1.0]]).kl
    0.0
    """

    kl: float
    error: float
    slope: float
    unbalanced: float
    neighbors_kept: float = np.nan
    n_neighbors: int = 10
    starts: tuple[tuple[str, float], ...] = ()
    spread: float = np.nan

    schema: ClassVar[str] = "dualfold.tsne/1"

    @property
    def plain_value(self) -> float:
        """KL(P‖Q), the objective with the attraction 1."""
        return self.kl

    @property
    def statement(self) -> str:
        """The figures, in words."""
        words = [
            f"KL(P‖Q) is {self.kl:.6g} (computed to {bound_text(self.error)})",
            f"{share(self.unbalanced)} of the forces is not balanced",
            f"the gradient's norm is {self.slope:.1e}",
        ]
        if np.isfinite(self.neighbors_kept):
            words.append(f"{self.neighbors_kept:.0%} of {self.n_neighbors} neighbours kept")
        return ", ".join(words)

    @property
    def grounds(self) -> str:
        """Words on what other starts led to, and on what is not known."""
        words = "nobody knows a bound of the optimum"
        if self.starts:
            ends = ", ".join(f"{name} {value:.6g}" for name, value in self.starts)
            words = f"other starts ended at {ends}, half of the points within {self.spread:.2g} of "
            words += "the map's radius; nobody knows a bound of the optimum"
        return words


def certify_tsne(
    problem: TsneProblem,
    points: ArrayLike,
    *,
    tolerance: float = MAX_UNBALANCED_SHARE,
    neighbors_kept: float = np.nan,
    starts: tuple[tuple[str, float], ...] = (),
    spread: float = np.nan,
    n_jobs: int | None = None,
) -> TsneCertificate:
    """Certify points as an answer of t-SNE.

    Parameters
    ----------
    problem : TsneProblem
        Affinities and attraction.
    points : array-like of shape (n, d)
        The points of the map.
    tolerance : float in [0, 1], default=0.01
        Largest share of the forces that may be unbalanced on a "stationary" map.
    neighbors_kept : float, default=NaN
        Share of neighbours kept that was measured, to be stated with the rest.
    starts : tuple of (str, float), default=()
        Objectives of maps from other starts, by name.
    spread : float, default=NaN
        How far points move from start to start.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    TsneCertificate
        Whether the forces balance.

    See Also
    --------
    tsne_objective : The numbers alone.
    dualfold.methods.points.neighbor_map.certify_neighbors : Neighbour maps with a bound.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> two = TsneProblem(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])), count=1)
    >>> certify_tsne(two, [[0.0], [1.0]]).level
    'stationary'
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(problem, TsneProblem, "dualfold.methods.tsne(X) states one")
    balance = force_balance(problem, problem.checked_points(points), tolerance, n_jobs)
    objective = balance.objective
    if objective is None:
        return TsneCertificate(
            level=balance.level,
            gap=np.inf,
            value=np.nan,
            bound=np.nan,
            tolerance=tolerance,
            reasons=balance.reasons,
            about=problem.about,
            kl=np.nan,
            error=np.inf,
            slope=np.nan,
            unbalanced=np.inf,
        )
    return TsneCertificate(
        level=balance.level,
        gap=np.inf,
        value=objective.value,
        bound=np.nan,
        tolerance=tolerance,
        reasons=balance.reasons,
        about=problem.about,
        kl=objective.plain_value,
        error=np.inf if objective.error is None else objective.error,
        slope=objective.slope,
        unbalanced=objective.unbalanced_share,
        neighbors_kept=neighbors_kept,
        starts=starts,
        spread=spread,
    )


def tsne_objective(
    problem: TsneProblem, points: ArrayLike, n_jobs: int | None = None
) -> TsneObjective:
    """Compute the objective of t-SNE and its gradient, from all pairs of points.

    Parameters
    ----------
    problem : TsneProblem
        Affinities and attraction.
    points : array-like of shape (n, d)
        The points of the map.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    TsneObjective
        The objective, KL(P‖Q), the gradient, and bounds of their errors.

    See Also
    --------
    certify_tsne : The verdict on the points.

    Notes
    -----
    Up to some thousand points every pair is summed in double precision. Beyond, a tree sums far
    groups at their centroids, and the error of that is bounded pair by pair.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> two = TsneProblem(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])), count=1)
    >>> tsne_objective(two, [[0.0], [1.0]]).kl  # p and q are both ½
    0.0
    """
    refuse_no_problem(problem, TsneProblem, "dualfold.methods.tsne(X) states one")
    Y = problem.checked_points(points)
    if not (np.abs(Y) < MAX_COORDINATE).all():
        raise InvalidInput(Argument("points"), " hold NaN, infinity or squares that overflow")
    return student_objective(problem, Y, n_jobs)
