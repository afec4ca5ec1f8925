"""The certificate of a t-SNE map: whether its forces balance; no bound of the optimum is known.

The objective is not convex, and no lower bound beyond KL ≥ 0 is known, so that the level is never
"proved". The certificate states the objective to rounding, the gradient, the share of the forces
that is not balanced, the neighbours kept, and, where other starts were tried, where these ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dualfold.certificate import Certificate, bound_text, checked_tolerance, share
from dualfold.tsne.objective import Objective, tsne_objective
from dualfold.tsne.problem import TsneProblem

# Descents of the usual length end below it; maps that were stopped early, or moved afterwards,
# do not (docs/dev/notes/tsne-grid.md).
MAX_UNBALANCED_SHARE = 0.01


@dataclass(frozen=True, kw_only=True)
class TsneCertificate(Certificate):
    """The verdict on points as an answer of t-SNE; `print` it.

    level : "stationary" (forces balance up to the tolerance), "not stationary", or "failed"
        (points that are no numbers); never "proved"
    value : the objective, KL(P‖Q) where the attraction is 1
    kl : KL(P‖Q); error : how far `value` and `kl` can be off, by rounding and by the sums that
        large maps take; slope : the norm of the gradient
    unbalanced : the norm of the gradient over the norms of attraction and repulsion; the
        tolerance is about this number
    neighbors_kept : the share of the `n_neighbors` nearest rows that are nearest in the map, too;
        NaN where it was not counted
    starts : the objective of maps from other starts, by their names
    spread : by how much a point moves from start to start, in units of the map's radius: the
        median over the points, after turning and scaling maps onto one another; NaN without starts

    The rest is as in every `dualfold.Certificate`; bound and gap are NaN and infinite.
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
        """The figures in words."""
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
        """What other starts came to, and what is not known."""
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
    """Judge points (n × d) as an answer to `problem`, from all pairs of them.

    tolerance : the largest share of the forces that may be unbalanced in a "stationary" map
    neighbors_kept, starts, spread : what else is known of the map, to be stated with it
    n_jobs : threads (None: all cores)

    >>> import numpy as np, scipy.sparse as sp
    >>> two = TsneProblem(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])), count=1)
    >>> certify_tsne(two, [[0.0], [1.0]]).level
    'stationary'
    """
    tolerance = checked_tolerance(tolerance)
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
