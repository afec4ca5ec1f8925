"""Independent coordinates: which pair is chosen, and how many neighbours it keeps.

    python -m benchmarks.coordinates                          # all of it: some 10 minutes
    python -m benchmarks.coordinates --methods lle --seeds 1  # one method, one sample of each shape

Rolls of three aspects, a strip, a torus, a sphere cap and digits, five samples each. For every
method: the t-similarity (10 neighbours) of the first pair, of what coordinates="independent"
chooses, and of the choices by two rules of the literature with the same scale: the first
eigenvector that local regression on the first one leaves half of (Dsilva et al. 2018), and the pair
with the largest volume score (Chen and Meilă 2019). Prints a table in Markdown; that of all of it
is in docs/measured-coordinates.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from dualfold.data import digits, sphere_cap, swiss_roll
from dualfold.data.toys import ROLL_TURNS, _roll_length
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.methods.fitting.coordinates import _Continued
from dualfold.methods.fitting.overtones import DIRECTION_COUNTS, unexplained_share
from dualfold.quality import t_similarity
from dualfold.trace.lift import SelectedColumns
from dualfold.trace.solvers.auto import krylov_space_for

METHODS = ("eigenmaps", "diffusion_maps", "lle", "modified_lle", "ltsa", "hessian_lle")
LOOKED_AT, HALF = 20, 0.5


def shapes(n: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Every shape with its points."""
    length = _roll_length(ROLL_TURNS)
    for aspect in (1, 3, 10):
        yield f"roll 1:{aspect}", swiss_roll(n, random_state=seed, height=length / aspect).points
    rng = np.random.default_rng(seed)
    yield "strip 1:3", rng.uniform(size=(n, 2)) / [1, 3]
    yield "torus", torus(n, rng)
    yield "sphere cap", sphere_cap(n, random_state=seed).points
    images = digits().points.astype(float)
    yield "digits", images[np.sort(rng.choice(len(images), len(images) * 9 // 10, replace=False))]


def torus(n: int, rng: np.random.Generator) -> Any:
    """Radii 3 and 1, points uniform by area."""
    along, around = rng.uniform(0, 2 * np.pi, (2, 3 * n))
    kept = np.flatnonzero(rng.uniform(size=3 * n) < (3 + np.cos(around)) / 4)[:n]
    along, around = along[kept], around[kept]
    out = 3 + np.cos(around)
    return np.column_stack([out * np.cos(along), out * np.sin(along), np.sin(around)])


def by_residuals(V: Any) -> tuple[int, int]:
    """The first eigenvector of which local regression on the first one leaves half."""
    left = [unexplained_share(V[:, :1], V[:, k]) for k in range(1, V.shape[1])]
    return 0, next((k for k, share in enumerate(left, 1) if share > HALF), 1)


def by_volume(graph: Any, V: Any, rows: Any) -> tuple[int, int]:
    """The pair whose gradients span most: mean log sine of the angle between them.

    Gradients from differences along edges (2×2 after the two leading directions at each point),
    each pair's rows at length 1, no penalty of high frequencies.
    """
    lists = graph.lists
    sines = np.zeros(V.shape[1])
    for i in rows:
        D = V[lists.indices[lists.indptr[i] : lists.indptr[i + 1]]] - V[i]
        tangent = np.linalg.svd(D, full_matrices=False)[2][:2].T
        tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-12)
        across = tangent[0, 0] * tangent[:, 1] - tangent[0, 1] * tangent[:, 0]
        sines += np.log(np.maximum(np.abs(across), 1e-12))
    return 0, int(np.argmax(sines[1:])) + 1


def measured(method: str, X: Any) -> dict[str, Any]:
    """One method on one table: pairs, t-similarities, seconds of the solves."""
    row = DESCRIPTIONS[method]
    make = row.estimator_class()
    settings = {"n_neighbors": 12} if method == "hessian_lle" else {"n_neighbors": 10}
    settings = dict(row.fixed) | settings | ({"left_out": ()} if row.name in METHODS[:2] else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = make(coordinates="first", **settings).fit(X)
        found = make(coordinates="independent", **settings).fit(X)
    more = first.set_params(coordinates=[0, LOOKED_AT - 1])
    problem = more.statement(X, 2).problem
    most = len(found.certificate_.residuals)
    steps = [m for m in DIRECTION_COUNTS if m <= most]
    times = [look_seconds(first, replace(problem, count=2), looks) for looks in ([2], steps)]
    solution = first._method().answer.solver.solve(problem)
    V, values = solution.vectors, solution.values
    rows = np.random.default_rng(0).choice(len(V), 500, replace=False)

    def kept(points: Any) -> float:
        return float(t_similarity(X, points, 10))

    rivals = {"residuals": by_residuals(V), "volume": by_volume(first.graph_, V, rows)}
    scale: Any = problem.lift.scale
    return {
        "level": found.certificate_.level,
        "pair": found.coordinates_,
        "first": kept(first.embedding_),
        "independent": kept(found.embedding_),
        "times": times,
    } | {name: kept(SelectedColumns(pair, scale)(V, values)) for name, pair in rivals.items()}


def look_seconds(estimator: Any, problem: Any, counts: list[int]) -> float:
    """Processor seconds of two eigenvectors, or of all looks; without the certificate."""
    solver, times = estimator._method().answer.solver, []
    for _ in range(3):
        problem = replace(problem, about="")  # nothing is known of its elimination order
        begin = process_time()
        space = krylov_space_for(problem, solver) if counts != [2] else None
        looks = _Continued(problem, solver) if space is None else space
        for count in counts:
            looks.first(count)
        times.append(process_time() - begin)
    return median(times)


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=",".join(METHODS))
    asked = parser.parse_args()
    print(
        "| method | shape | pairs chosen | first | independent | ratio, least | by residuals | "
        "by volume | time of the solves |\n|---|---|---|---|---|---|---|---|---|"
    )
    for method in asked.methods.split(","):
        found: dict[str, list[dict[str, Any]]] = {}
        for seed in range(asked.seeds):
            for shape, X in shapes(asked.points, seed):
                found.setdefault(shape, []).append(measured(method, X))
        for shape, runs in found.items():
            print(_line(method, shape, runs), flush=True)


def _line(method: str, shape: str, runs: list[dict[str, Any]]) -> str:
    pairs = ", ".join(f"{a + 1}–{b + 1}" for a, b in (run["pair"] for run in runs))
    means = {name: float(np.mean([run[name] for run in runs])) for name in
             ("first", "independent", "residuals", "volume")}  # fmt: skip
    least = min(run["independent"] / run["first"] for run in runs)
    slower = median(run["times"][1] / run["times"][0] for run in runs)
    odd = [run["level"] for run in runs if run["level"] != "proved"]
    words = [method, shape, pairs + (f" ({', '.join(odd)})" if odd else "")]
    numbers = [f"{means['first']:.3f}", f"{means['independent']:.3f}", f"{least:.2f}"]
    numbers += [f"{means['residuals']:.3f}", f"{means['volume']:.3f}", f"{slower:.1f}"]
    return "| " + " | ".join([*words, *numbers]) + " |"


if __name__ == "__main__":
    main()
