"""Trace problems of 10⁴ to 10⁶ rows with spectra and eigenvectors in closed form, judged.

    python -m tests.proofs.closed_forms --count 200 --seed 0

Laplacians of paths, rings, grids, boxes, tori, ladders, stars and binary trees, weighted by
powers of two, in pieces, in the metric of their degrees, as squares of walks (Gramians) and as
operators. All entries are exact in doubles, eigenvalues are enclosed by balls, and the value of
an answer is summed over the edges in long doubles: Σ w(vᵢ − vⱼ)² has no cancellation.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import arb, ctx
from scipy.sparse.linalg import aslinearoperator

from tests.proofs import judge
from tests.proofs.closed_graphs import BITS, Spectrum, path, product, ring, star, tree

Array = np.ndarray[Any, np.dtype[Any]]
GUARDS = 4
EXTENDED = np.longdouble


@dataclass(frozen=True, eq=False)
class Large:
    """A problem: the Laplacian A, or its square where `gramian`, and its best eigenpairs."""

    name: str
    A: Any
    values: list[arb]  # of sign·A, from the best on
    vectors: Array
    excluded: Array | None
    count: int
    B: Any = None
    gramian: bool = False
    sense: str = "min"
    kind: str = "sparse"

    def problem(self) -> Any:
        from dualfold.trace import Gramian, TraceProblem

        A = Gramian(self.A) if self.gramian else self.A
        A = aslinearoperator(self.A) if self.kind == "operator" else A
        return TraceProblem(A, self.B, self.count, self.sense, self.excluded)  # type: ignore[arg-type]

    @property
    def sign(self) -> int:
        return 1 if self.sense == "min" else -1

    @property
    def optimum(self) -> arb:
        return sum(self.values[: self.count], arb(0))


# ---- problems


def problem(seed: int, index: int, largest: int = 10**6) -> Large:
    """Problem number `index`."""
    rng = np.random.default_rng([seed, index, 15])
    count = int(rng.integers(1, 5))
    few = count + 1 + GUARDS + 3
    huge = index % 16 == 7 and largest >= 10**6
    n = 10**6 if huge else int(min(largest, 10 ** rng.uniform(4, 5)))
    shape = ["path", "ring", "grid", "torus", "box", "ladder", "star", "tree"][index % 8]
    if huge:
        shape = str(rng.choice(["path", "ring", "ladder", "star", "tree"]))
    top = rng.random() < 0.15 and shape in ("path", "ring", "grid", "star")
    known = _graph(shape, n, few, top, rng)
    if top:
        values = [-value for value in known.values]
        return Large(known.name, known.A, values, known.vectors, None, count, sense="max")
    return _variant(known, count, shape, rng)


def _graph(shape: str, n: int, few: int, top: bool, rng: np.random.Generator) -> Spectrum:
    side = int(np.sqrt(n))
    a, b = 2.0 ** rng.integers(-12, 13, 2) if rng.random() < 0.5 else (1.0, 1.0)
    if shape == "path":
        return path(n, few, top)
    if shape == "ring":
        return ring(n - 1 + n % 2, few, top)  # odd: twins only
    if shape == "grid":
        return product(path(side, few, top), path(side + 7, few, top), a, b, few)
    if shape == "torus":
        return product(ring(side, few), ring(side + 3, few), a, b, few)
    if shape == "box":
        edge = 22 + int(rng.integers(0, 3))
        flat = product(path(edge, few), ring(edge + 1, few), 1.0, a, few)
        return product(flat, path(edge + 2, few), 1.0, b, few)
    if shape == "ladder":
        return product(path(n // 3, few), path(3, 3), a, b, few)
    if shape == "star":
        return star(n, few, top)
    return tree(int(np.log2(n + 1)), few)


def _variant(known: Spectrum, count: int, shape: str, rng: np.random.Generator) -> Large:
    """The constant excluded; as it is, squared, in a metric, in pieces or as an operator."""
    n = known.n
    off = known.vectors[:, 1:]
    plain = Large(known.name, known.A, known.values[1:], off, np.ones((n, 1)), count)
    kinds = ["plain", "plain", "metric", "pieces", "operator"]
    if shape in ("path", "ring", "grid", "torus", "box"):
        kinds += ["square"] * 3
    kind = str(rng.choice(kinds))
    if kind == "metric":  # a constant metric: all masses are 2
        values = [value / 2 for value in plain.values]
        return replace(
            plain, name=f"{known.name}, B = 2I", B=np.full(n, 2.0), values=values,
            vectors=off / np.sqrt(2),
        )  # fmt: skip
    if kind == "pieces" and n < 200_000:
        return _pieces(known, count, rng)
    if kind == "operator":
        return replace(plain, name=f"{known.name}, operator", kind="operator")
    if kind == "square":
        values = [value * value for value in plain.values]
        return replace(plain, name=f"square of {known.name}", gramian=True, values=values)
    return plain


def _pieces(known: Spectrum, count: int, rng: np.random.Generator) -> Large:
    """The graph and a second one of twice its weights, both constants excluded."""
    n, double = known.n, float(2.0 ** rng.integers(1, 4))
    A = sp.csr_array(sp.block_diag([known.A, double * known.A]))
    none = np.zeros(n)
    both = [(value, np.r_[v, none]) for value, v in zip(known.values, known.vectors.T, strict=True)]
    both += [
        (double * value, np.r_[none, v])
        for value, v in zip(known.values, known.vectors.T, strict=True)
    ]
    both = sorted(both[1:], key=lambda pair: float(pair[0].mid()))
    both = [pair for pair in both if pair[0] > 0][: len(known.values) - 1]
    N = np.column_stack([np.r_[none + 1, none], np.r_[none, none + 1]])
    V = np.column_stack([v for _, v in both])
    return Large(f"pieces of {known.name}", A, [value for value, _ in both], V, N, count)


# ---- answers and verdicts


@dataclass(frozen=True)
class Verdict:
    name: str
    answer: str
    n: int
    said: str
    level: str
    seconds: float
    false: tuple[str, ...] = ()
    alarm: bool = False


def answers(case: Large, rng: np.random.Generator) -> dict[str, tuple[Array, bool]]:
    """Columns and whether they span the best directions."""
    d, values = case.count, np.array([float(value.mid()) for value in case.values])
    W = case.vectors[:, : d + GUARDS]
    turned = W.copy()
    turned[:, :d] = W[:, :d] @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    made = {
        "right": (W[:, : d + int(rng.integers(0, GUARDS + 1))], True),
        "turned": (turned[:, : d + 1], True),
        "last replaced": (np.delete(W, d - 1, axis=1), False),
        "first replaced": (np.delete(W, 0, axis=1)[:, :d], False),
    }
    rise = float(values[d] - values[d - 1])
    best = abs(float(case.optimum.mid()))
    for name, square in (
        ("just above the tolerance", 1.05e-4 * best / rise if rise > 1e-3 * best else 0.0),
        ("mostly the next", 1 - 10.0 ** rng.uniform(-6, -1)),
    ):
        s, c = np.sqrt(min(square, 1)), np.sqrt(1 - min(square, 1))
        tilted = W.copy()
        tilted[:, d - 1] = c * W[:, d - 1] + s * W[:, d]
        tilted[:, d] = c * W[:, d] - s * W[:, d - 1]
        made[name] = (tilted[:, : d + int(rng.integers(0, 3))], False)
    others = rng.permutation([name for name in made if name != "right"])[:2]
    chosen = ["right", *(str(name) for name in others)]
    return {name: made[name] for name in chosen}


def value(case: Large, V: Array) -> arb:
    """sign·tr of the Ritz values of V off the excluded constants."""
    rows, columns = sp.triu(case.A, 1).coords
    weights = -sp.triu(case.A, 1).data.astype(EXTENDED)[:, None]
    wide = V.astype(EXTENDED)
    slopes = (wide[rows] - wide[columns]) * weights
    if case.gramian:
        image = np.zeros_like(wide)
        np.add.at(image, rows, slopes)
        np.subtract.at(image, columns, slopes)
        energy = image.T @ image
    else:
        energy = slopes.T @ (slopes / weights)
    masses = EXTENDED(1) if case.B is None else EXTENDED(case.B[0])
    gram = masses * (wide.T @ wide)
    if case.excluded is not None:
        N = case.excluded.astype(EXTENDED)
        overlap = N.T @ wide
        gram -= masses * (overlap.T @ (overlap / N.sum(axis=0)[:, None]))
    ctx.prec = BITS
    return case.sign * _wide(gram).solve(_wide(energy)).trace()


def _wide(matrix: Array) -> Any:
    high = matrix.astype(float)
    return judge.exact(high) + judge.exact((matrix - high).astype(float))


def verdicts(case: Large, seed: int = 0, index: int = 0, tolerance: float = 1e-4) -> list[Verdict]:
    """What is said of three answers, and whether it is true."""
    from dualfold.errors import DualfoldError
    from dualfold.trace import certify

    rng, found = np.random.default_rng([seed, index, case.A.shape[0]]), []
    stated = case.problem()
    said: Any
    for name, (V, right) in answers(case, rng).items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = certify(stated, V, tolerance=tolerance)
            except DualfoldError as refusal:
                said, level = refusal, "refused"
            except Exception as crash:  # a bug of its own; nothing is claimed
                said, level = crash, "crashed"
            else:
                level = said.level
        took = time.perf_counter() - start
        false = _false(case, V[:, : case.count], said, tolerance) if level in judge.CLAIMS else ()
        alarm = right and _is_posed(case, tolerance) and level not in ("proved", "measured")
        found.append(Verdict(case.name, name, len(V), str(said), level, took, tuple(false), alarm))
    return found


def _false(case: Large, V: Array, said: Any, tolerance: float) -> list[str]:
    true, best, false = value(case, V), case.optimum, []
    away = float(((true - best) / best).mid()) * case.sign
    if away > said.gap + 1e-15:
        false.append(f"the value is {away:.3g} from the optimum (relative), not {said.gap:.3g}")
    if case.sign * arb(float(said.bound)) > best + abs(best) * 1e-30:
        beyond = float(((case.sign * arb(float(said.bound)) - best) / abs(best)).mid())
        false.append(f"the bound is beyond the optimum by {beyond:.3g} (relative)")
    if said.level == "proved" and not said.gap <= tolerance:
        false.append(f"proved with a gap of {said.gap:.3g}")
    if said.eigengap is not None and arb(float(said.eigengap)) > (
        case.values[case.count] - case.values[case.count - 1]
    ) * (1 + arb(1e-30)):
        false.append(f"the eigengap is not {said.eigengap:.3g}")
    if abs(float(said.value) * case.sign / float(true.mid()) - 1) > 1e-6:
        false.append(f"the value is {float(true.mid()):.9g}, not {said.value:.9g}")
    return false


def _is_posed(case: Large, tolerance: float) -> bool:
    """1e-13 of every entry moves the optimum by less than the tolerance (see `posed`).

    Operators are left out: nothing can be proved of them, and how much a random search resolves
    depends on the spectrum.
    """
    if case.kind == "operator":
        return False
    V = case.vectors[:, : case.count]
    sizes = abs(case.A) @ np.abs(V)
    first = float((2 * np.abs(case.A @ V) * sizes if case.gramian else np.abs(V) * sizes).sum())
    return 1e-13 * first < tolerance * abs(float(case.optimum.mid()))


def run(count: int, seed: int, largest: int = 10**6) -> Counter[str]:
    """Judge them all; prints what is false, then the table."""
    rows: dict[str, Counter[str]] = {}
    for index in range(count):
        for verdict in verdicts(problem(seed, index, largest), seed, index):
            row = rows.setdefault(verdict.answer, Counter())
            row.update(["answers", verdict.level])
            surface = verdict.alarm and "×" in verdict.name  # grids, tori, boxes: as data are
            row.update({"false": bool(verdict.false), "alarms": verdict.alarm, "surfaces": surface})
            if verdict.false or verdict.alarm:
                print(
                    f"{'FALSE' if verdict.false else 'alarm'} --index {index} {verdict}", flush=True
                )
    total: Counter[str] = Counter()
    for name, row in rows.items():
        total += row
        print(f"{name:28}", dict(row))
    print(f"{'total':28}", dict(total))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")))
    parser.add_argument("--index", type=int)
    parser.add_argument("--largest", type=int, default=10**6)
    given = parser.parse_args()
    if given.index is not None:
        case = problem(given.seed, given.index, given.largest)
        for verdict in verdicts(case, given.seed, given.index):
            print(verdict)
        return 0
    start = time.perf_counter()
    counts = run(given.count, given.seed, given.largest)
    print(f"{time.perf_counter() - start:.0f} s")
    return int(counts["false"] > 0)


if __name__ == "__main__":
    sys.exit(main())
