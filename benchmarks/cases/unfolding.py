"""Maximum variance unfolding beside a modelling layer with general solvers, and by size.

Every side is judged by the same certificate, which knows only its points and weights.
"""

from __future__ import annotations

from typing import Any

from benchmarks.case import Answer, Case, Data, ours, peer
from benchmarks.sets import Maker, handwritten, images, roll, roll_edges
from benchmarks.verdicts import Certified, Fact, Faster, Memory, NoWiderGap, Seconds

GENERAL = ("CVXPY Clarabel", "CVXPY SCS")


def judged(answer: Answer, data: Data) -> dict[str, Any]:
    """Both bounds by our certificate, whoever found the points and weights."""
    from dualfold.unfolding import certify_unfolding

    if answer.points is None or answer.weights is None:
        return {}
    found = certify_unfolding(data.given, answer.points, answer.weights, tolerance=1e-4)
    return {"certificate": found.level, "gap": found.gap, "edges": data.given.m}


def _roll(n: int, gap: float, seconds: float) -> Case:
    """From points to certified map, with the solver that "auto" takes."""
    return Case(
        f"maximum variance unfolding, swiss roll {n:,}, k = 6, to a gap of {gap:.0e}",
        roll(n),
        {"dualfold": ours("unfolding", tol=gap)},
        (Seconds(seconds), Fact("gap", most=gap), Memory(8.0), Certified()),
        limit=2 * seconds,
    )


def _images(name: str, data: Maker, gap: float, seconds: float) -> Case:
    """Images, whose graph has no small separators: all of them, never a sample."""
    return Case(
        f"maximum variance unfolding, {name}, k = 6, to a gap of {gap:.0e}",
        data,
        {"dualfold": ours("unfolding", tol=gap, solver="low_rank")},
        (Seconds(seconds), Fact("gap", most=gap), Memory(8.0), Certified()),
        limit=2 * seconds,
    )


UNFOLDING = {
    "unfolding-100": Case(
        "maximum variance unfolding, swiss roll 100, k = 6, edges at most as long",
        roll_edges(100),
        {
            "dualfold": ours("unfolded_edges"),
            "CVXPY Clarabel": peer("cvxpy:unfolded_edges", solver="CLARABEL"),
            "CVXPY SCS": peer("cvxpy:unfolded_edges", solver="SCS", max_iters=20_000),
        },
        (*(Faster(100, (name,)) for name in GENERAL), NoWiderGap(GENERAL), Certified()),
        check=judged,
    ),
    "unfolding-1000": _roll(1_000, 1e-6, 120),
    "unfolding-5000": _roll(5_000, 1e-3, 600),
    "unfolding-10000": _roll(10_000, 1e-2, 600),
    "unfolding-digits": _images("1,797 digits", handwritten(), 1e-4, 20),
    "unfolding-mnist-3k": _images("MNIST 3,000", images(3_000), 1e-2, 120),
    "unfolding-mnist-10k": _images("MNIST 10,000", images(10_000), 1e-2, 600),
}
