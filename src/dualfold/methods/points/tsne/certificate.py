"""The certificate of a t-SNE map: whether its forces balance; no bound of the optimum is known.

The objective is not convex, and no lower bound beyond KL ≥ 0 is known, so that the level is never
"proved". The certificate states the objective to rounding, the gradient, the share of the forces
that is not balanced, the neighbours kept, and, where other starts were tried, where these ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.certificate import (
    Certificate,
    bound_text,
    checked_tolerance,
    refuse_no_problem,
    share,
)
from dualfold.methods.points.tsne.objective import Objective, tsne_objective
from dualfold.methods.points.tsne.problem import TsneProblem

# Descents of the usual length end below it; maps that were stopped early, or moved afterwards,
# do not (docs/dev/notes/tsne-grid.md).
MAX_UNBALANCED_SHARE = 0.01


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
        """What other starts led to, and what is not known, in words."""
        words = "nobody knows a bound of the optimum"
        if self.starts:
            ends = ", ".join(f"{name} {value:.6g}" for name, value in self.starts)
            words = f"other starts ended at {ends}, half of the points within {self.spread:.2g} of "
            words += "the map's radius; nobody knows a bound of the optimum"
        return words


def certify_tsne(
    problem: TsneProblem,
    points: Any,
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
    Y = problem.checked_points(points)
    about = problem.about
    if not (np.abs(Y) < 1e150).all():
        return TsneCertificate(
            level="failed",
            gap=np.inf,
            value=np.nan,
            bound=np.nan,
            tolerance=tolerance,
            reasons=("the points hold NaN, infinity or squares that overflow",),
            about=about,
            kl=np.nan,
            error=np.inf,
            slope=np.nan,
            unbalanced=np.inf,
        )
    found: Objective = tsne_objective(problem, Y, n_jobs)
    unbalanced = found.unbalanced_share
    balanced = unbalanced <= tolerance
    reason = f"{share(unbalanced)} of the forces is not balanced, more than {tolerance:g}"
    return TsneCertificate(
        level="stationary" if balanced else "not stationary",
        gap=np.inf,
        value=found.value,
        bound=np.nan,
        tolerance=tolerance,
        reasons=() if balanced else (reason,),
        about=about,
        kl=found.kl,
        error=found.error,
        slope=found.slope,
        unbalanced=unbalanced,
        neighbors_kept=neighbors_kept,
        starts=starts,
        spread=spread,
    )
