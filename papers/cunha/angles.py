"""Angles kept by tying neighbours to one another, and what dropping coordinates costs."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.graph import Graph
from dualfold.unfolding import Unfolding, unfold
from dualfold.unfolding.problem import Constraints
from papers.cunha.roll import NEIGHBORS, neighbor_graph, roll, small_roll
from papers.finding import Experiment, Finding, Row, Setting, also, claim, theorem

# Tighter, and the interior point stalls on some rolls: see cunha-slater.
RELAXATION = 1e-3


def edge_angles(graph: Graph, points: Array) -> Array:
    """The angle, in degrees, at each point between each two of its edges."""
    found = []
    for i in range(graph.n):
        start, stop = graph.lengths.indptr[i : i + 2]
        arms = points[graph.lengths.indices[start:stop]] - points[i]
        arms = arms / np.linalg.norm(arms, axis=1, keepdims=True)
        cosines = (arms @ arms.T)[np.triu_indices(len(arms), 1)]
        found.append(np.degrees(np.arccos(np.clip(cosines, -1, 1))))
    return np.concatenate(found)


def allowed_angles(graph: Graph, points: Array, epsilon: float) -> tuple[Array, Array]:
    """The least and largest each angle can be when all squared lengths are kept to ε."""
    low: list[Array] = []
    high: list[Array] = []
    for i in range(graph.n):
        start, stop = graph.lengths.indptr[i : i + 2]
        arms = points[graph.lengths.indices[start:stop]] - points[i]
        j, k = np.triu_indices(len(arms), 1)
        squares = np.sum(arms**2, axis=1)
        across = np.sum((arms[j] - arms[k]) ** 2, axis=1)
        least, most = _cosines(squares[j], squares[k], across, epsilon)
        low.append(np.degrees(np.arccos(np.clip(most, -1, 1))))
        high.append(np.degrees(np.arccos(np.clip(least, -1, 1))))
    return np.concatenate(low), np.concatenate(high)


def _cosines(one: Array, two: Array, across: Array, epsilon: float) -> tuple[Array, Array]:
    """Between which numbers (A + B − C)/2√(AB) lies for A, B, C within a share ε of these.

    It falls with C; in A it falls until A = B − C and rises from there, and so in B. Hence
    it is largest at a corner, and smallest at a corner or at such a turning point.
    """
    ends = (1 - epsilon, 1 + epsilon)

    def cosine(A: Array, B: Array, C: Array) -> Array:
        return np.asarray((A + B - C) / (2 * np.sqrt(A * B)))

    far = ends[1] * across
    most = [cosine(a * one, b * two, ends[0] * across) for a in ends for b in ends]
    least = []
    for end in ends:
        A, B = end * one, end * two
        least.append(cosine(A, np.clip(A - far, ends[0] * two, ends[1] * two), far))
        least.append(cosine(np.clip(B - far, ends[0] * one, ends[1] * one), B, far))
    return np.min(least, axis=0), np.max(most, axis=0)


def angles_kept(setting: Setting) -> Finding:
    """(13): lengths between the neighbours of each point keep the angles between its edges."""
    points = small_roll(setting.of(40, 60, 100), setting.seed).points
    graph = neighbor_graph(points, 5)
    true = edge_angles(graph, points)
    rows, change = [], {}
    cases: tuple[tuple[str, Constraints, bool], ...] = (
        ("= with neighbours tied", "equal", True),
        ("= on the edges alone", "equal", False),
        ("≤ with neighbours tied", "at_most", True),
        ("≤ on the edges alone", "at_most", False),
    )
    for name, constraints, angles in cases:
        one = unfold(graph, constraints=constraints, angles=angles, tol=1e-5, relaxation=RELAXATION)
        found = edge_angles(graph, one.factor)
        off = np.abs(found - true)
        change[name] = float(off.max())
        ratios = one.problem.squared_lengths(one.solution.factor) / one.problem.squared
        kept = float(np.abs(ratios - 1).max())
        if constraints == "equal" and angles:
            low, high = allowed_angles(graph, points, kept)
            outside = int(np.sum((found < low - 1e-6) | (found > high + 1e-6)))
            rows.append(
                theorem(f"{name}: angles beyond what the lengths allow", outside, equals=0,
                        about="the law of cosines on lengths as they came out")
            )  # fmt: skip
            rows.append(
                claim(f"{name}: largest change of an angle, degrees", "kept", change[name],
                      lambda x: x <= 5, "(13); at most 5, lengths being held to ε·d²")
            )  # fmt: skip
        rows += [
            also(f"{name}: largest change of an angle, degrees", change[name],
                 f"root mean square {float(np.sqrt(np.mean(off**2))):.3g}"),
            also(f"{name}: largest relative change of a d²", kept,
                 f"{one.problem.m} edges, tr K {one.certificate.lower:.6g}"),
        ]  # fmt: skip
    sentence = (
        f"With the neighbours of each point tied to one another and lengths held to {RELAXATION} "
        f"of d², the {len(true)} angles change by at most {change['= with neighbours tied']:.2g}°, "
        f"all within the law of cosines; held on the edges alone they change by up to "
        f"{change['= on the edges alone']:.0f}°. ≤ keeps neither."
    )
    return Finding(sentence, tuple(rows), notes=(f"{graph.n} points, 5 neighbours.",))


def coordinates_kept(setting: Setting) -> Finding:
    """After (25): rank K* may exceed r, and keeping r columns then breaks the constraints."""
    n = setting.of(50, 150, 300)
    sparse = swiss_roll(n, random_state=setting.seed)
    pinned = unfold(neighbor_graph(sparse.points, NEIGHBORS), tol=1e-7)
    rows: list[Row] = []
    for name, one in (("a roll that opens", roll(setting)[2]), ("a roll too sparse", pinned)):
        rows += _cut_rows(name, one)
    opened, shut = roll(setting)[2].certificate, pinned.certificate
    sentence = (
        f"K* has rank {opened.rank} on the roll that opens and {shut.rank} on one of {n} points, "
        "whose edges leap across the turns and pin it. Dropping coordinates never lengthens an "
        f"edge; with two of them the second lacks up to {_cut(pinned, 2)[2]:.0%} of an edge's d²."
    )
    return Finding(sentence, tuple(rows), notes=("Share of d² against the whole factor.",))


def _cut(one: Unfolding, count: int) -> tuple[float, float, float, float]:
    """(variance outside, loss of d² by edge: root mean square, largest, most gained)."""
    p = one.problem
    Y = p.centred_points(one.solution.factor)
    U, lengths, _ = np.linalg.svd(Y, full_matrices=False)
    turned = U * lengths
    lost = (p.squared_lengths(turned) - p.squared_lengths(turned[:, :count])) / p.squared
    outside = float(np.sum(lengths[count:] ** 2) / np.sum(lengths**2))
    rms = float(np.sqrt(np.mean(lost**2)))
    return outside, rms, float(lost.max()), float(-lost.min())


def _cut_rows(name: str, one: Unfolding) -> list[Row]:
    rank, wide = one.certificate.rank, one.certificate.multiplicity or 0
    rows = [
        theorem(f"{name}: (55) multiplicity of λ₂ less rank K*", wide - rank, at_least=0,
                about=f"rank {rank}; gap {one.certificate.gap:.0e}")
    ]  # fmt: skip
    most = max(2, one.certificate.rank)
    for count in range(1, most + 1):
        outside, rms, worst, gained = _cut(one, count)
        note = f"variance outside {outside:.2%}; edges lack {rms:.2%} of d² (root mean square)"
        rows.append(
            theorem(f"{name}, {count} kept: most that an edge gains, of d²", gained, at_most=0,
                    within=1e-9, about=note)
        )  # fmt: skip
        if count < one.certificate.rank:
            rows.append(
                claim(f"{name}, {count} kept: most that an edge loses, of d²",
                      "constraints may be violated", worst, lambda x: x > 1e-3)
            )  # fmt: skip
    return rows


EXPERIMENTS = (
    Experiment("cunha-angles", "C", "(13)", "Angles kept by tying neighbours", angles_kept),
    Experiment(
        "cunha-rank",
        "C",
        "after (25), (55)",
        "Rank of the answer, and what keeping few coordinates costs",
        coordinates_kept,
    ),
)
