"""Random calls of the public face: a right answer or a refusal in words, within a time limit.

    python -m tests.tools.random_calls --seeds 0:20000 --limit 20 --file calls.jsonl

Each seed is one call, generated from signatures and parameter constraints: every estimator, public
functions of the rooms, stored models, programs, games. Arguments of a precise type (int, float,
Graph) get values of that type, within their range, at its edges and outside; tables and other
arguments of type Any get anything: data frames, sparse matrices, few rows, duplicates, constant
columns, huge and small units, NaN, wrong shapes, text. A failure is

* an error that is neither a `DualfoldError` nor one of scikit-learn's conventions,
* no answer within the limit (the worker process is killed), or a crash of the process,
* NaN or infinity in a result or a fitted attribute, unless documented (`MAY_BE_MISSING`),
* a `RuntimeWarning`, which is NumPy's own and says nothing of the data.

The file has a line a seed; seeds that it has are not called again (`--again`: those that failed).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import inspect
import io
import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

import dualfold
from dualfold import embed, games, methods, programs, saved, unfolding
from dualfold.errors import DualfoldError
from dualfold.games import Everywhere, Logistic, LogSumExp, extragradient, heavy_ball
from dualfold.methods.descriptions import ESTIMATOR_MODULES
from dualfold.trace import TraceProblem, certify
from tests.tools.random_values import METRICS, Draw, parameter_value, words

ROOMS = words(
    "judging data theory.games graph methods.maps methods quality judging.recommendation "
    "methods.points.tsne unfolding weights"
)
# Functions below the public ones that check their arguments, too, with the file of each.
BLOCKS = {
    "theory.games": {"equal_weights": "theory.games.game", "linear_weights": "theory.games.game"},
    "graph": {
        "joining_n_neighbors": "graph.pieces",
        "landmarks_at": "graph.geodesics",
        "one_piece": "graph.pieces",
        "present_nearest": "graph.metrics",
        "subgraph": "graph.pieces",
    },
    "methods.maps": {"geodesics_to_new": "methods.maps.landmark_map"},
    "quality": {
        "close_axes": "quality.map_axes",
        "co_ranking": "quality.coranking",
        "far_rows": "quality.map_axes",
        "neighbor_ranks": "quality.ranks",
        "picture_of": "quality.ranks",
    },
    "judging.recommendation": {
        "levina_bickel": "quality.dimension_estimates",
        "two_nn": "quality.dimension_estimates",
    },
    "weights": {
        "column_means": "weights.column_moments",
        "heat_width": "weights.laplacians",
        "row_space": "weights.reduction",
    },
}
# Functions that take seconds by design, read files or the network.
LEFT_OUT = words("mnist digits recipe_curves repeated_maps unfolding_game read_table minibatch")
# Fields and fitted attributes in which NaN or infinity is documented.
MAY_BE_MISSING = words(
    "gap bound absolute_gap floor eigengap proved rounding recall recall_interval per_point spread "
    "low high history_ kl_divergence_ neighbors_kept unbalanced slope feasibility upper_exact ritz "
    "stationarity slackness least_weight cluster rises auc_per_point own_gap isomap kl "
    "orthogonality reasons residuals"
)
# Geodesics between pieces, dimensions of rows as far from one neighbour as from the next, stress
# of maps of equal rows.
UNBOUNDED = words(
    "graph.geodesic_distances graph.farthest_points graph.landmarks_at "
    "methods.maps.geodesics_to_new judging.recommendation.two_nn "
    "judging.recommendation.levina_bickel quality.stress"
)
FILES_OF_CONVENTIONS = ("sklearn/utils/", "sklearn/base.py", "sklearn/neighbors/_base.py")
MAX_BYTES = 4 << 30
ACTIONS = words(
    "fit transform transform fit_transform inverse_transform score statement partial_fit stored "
    "judged_points texts names refit unfitted"
)
RECIPES = (
    games.averaged_descent,
    games.frank_wolfe,
    games.nesterov,
    heavy_ball,
    extragradient,
    games.accelerated_strongly_convex,
)


def estimator_call(draw: Draw) -> Any:
    """An estimator with random parameters, fitted, and one of its methods."""
    name = draw.one_of(sorted(ESTIMATOR_MODULES))
    made = getattr(dualfold, name)
    known = made._parameter_constraints
    given = {p: parameter_value(draw, p, known[p]) for p in sorted(known) if draw.chance(0.15)}
    draw.tell(name, given)
    estimator = made(**given)
    X = draw.distances() if "precomputed" in map(str, given.values()) else draw.table()
    y = draw.labels() if draw.chance(0.4) or name == "FisherDiscriminant" else None
    action = draw.one_of(ACTIONS)
    draw.told.append(action)
    if action == "fit_transform":
        return estimator.fit_transform(X, y), estimator
    if action == "statement":
        return estimator.statement(X, draw.whole(), y).problem
    if action == "partial_fit" and hasattr(estimator, "partial_fit"):
        return estimator.partial_fit(X).partial_fit(X)
    if action != "unfitted":
        estimator.fit(X, y)
    return after_fit(draw, action, estimator, X, y), estimator


def after_fit(draw: Draw, action: str, estimator: Any, X: Any, y: Any) -> Any:
    if action in ("transform", "unfitted") and hasattr(estimator, "transform"):
        return estimator.transform(X if draw.chance(0.3) else draw.table(5))
    if action == "inverse_transform" and hasattr(estimator, "inverse_transform"):
        return estimator.inverse_transform(draw.numbers(4, draw.one_of([1, 2, 2, 3])))
    if action == "score" and hasattr(estimator, "score"):
        estimator.score(X)  # minus infinity where the covariance is singular
        return estimator.get_covariance(), estimator.get_precision()
    if action == "names" and hasattr(estimator, "get_feature_names_out"):
        return len(estimator.get_feature_names_out())
    if action == "refit":
        return estimator.fit_transform(draw.table(), y)
    if action == "texts":
        certificate = estimator.certificate_
        return None if certificate is None else len(f"{certificate} {certificate!r} {estimator!r}")
    if action == "judged_points" and hasattr(estimator, "judged_points"):
        of_graph = hasattr(estimator, "graph_of")
        table = estimator.graph_of(X) if of_graph else X
        estimator.judged_points(table, draw.numbers(draw.n, 2), tolerance=0.01)
    return stored_model(estimator, X, y) if action == "stored" else None


def stored_model(estimator: Any, X: Any, y: Any) -> Any:
    """Stored, read back, applied and judged again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.npz")
        saved.save_model(path, saved.model_of(estimator))
        model = saved.load_model(path)
    saved.rechecked_model(model, X, y)
    saved.judged_rows(model, X)
    return model.map(X) if isinstance(X, np.ndarray) else None


TABLES = words("X Y old new queries points reference first second source")
DRAWN: dict[str, Any] = {
    **dict.fromkeys(TABLES, Draw.table),
    **dict.fromkeys(("distances", "lengths"), Draw.distances),
    **dict.fromkeys(("n_impostors", "n_repeats"), lambda draw: draw.one_of([0, 1])),
    "graph": Draw.graph,
    "labels": Draw.labels,
    "random_state": Draw.seed,
    "metric": lambda draw: draw.one_of(METRICS),
    "n_jobs": lambda draw: draw.one_of([None, 1, 2, -1, 0, 10**6]),
    "sample": lambda draw: draw.one_of([None, 2, 10, 1, 0, draw.n]),
    "methods": lambda draw: draw.one_of([("pca",), (), ("lle", "nonsense")]),
    "maps": lambda draw: [draw.table(draw.n, 2) for _ in range(draw.one_of([0, 1, 2, 3]))],
    "variances": lambda draw: np.sort(draw.rng.random(4))[::-1],
    "landmarks": lambda draw: draw.one_of([[0, 3, 5], [0], [], [0, 10**6]]),
    "counts": lambda draw: draw.one_of([(5, 7), (), (0,), (10**6,)]),
    "rows": lambda draw: draw.rng.integers(0, 12, size=4),
    "p_values": lambda draw: draw.rng.random(max(2, draw.n)),
    "dtype": lambda draw: draw.one_of([None, np.float32, np.float64]),
    "n": lambda draw: draw.whole() % 200,
    "n_features": lambda draw: draw.whole() % 200,
    "n_components": lambda draw: draw.one_of([1, 2, 2, 3, 10, 0, -1, draw.n, 1000]),
}
PRECISE: dict[str, Any] = {
    "int": Draw.whole,
    "float": Draw.real,
    "int | None": lambda draw: draw.one_of([None, draw.whole()]),
    "float | None": lambda draw: draw.one_of([None, draw.real()]),
    "bool": lambda draw: draw.chance(0.5),
    "float | str": lambda draw: draw.one_of(["best", draw.real()]),
    "TsneProblem": lambda draw: methods.tsne(draw.graph(), perplexity=2.0),
    "UnfoldingProblem": lambda draw: unfolding.contraction_of(draw.graph()).problem,
    "Landmarks | None": lambda draw: None,
    "Array | None": lambda draw: None,
    "Neighbors | None": lambda draw: None,
}
OPTIONS = words("auto or and mutual heat binary adaptive density gaussian sparse degree nonsense")


@cache
def public_functions() -> list[tuple[str, Any, list[Any]]]:
    """Functions of the rooms whose arguments can be drawn, with their parameters."""
    found = []
    for room in ROOMS:
        module = importlib.import_module(f"dualfold.{room}")
        homes = dict.fromkeys(module.__all__, module) | {
            name: importlib.import_module(f"dualfold.{file}")
            for name, file in BLOCKS.get(room, {}).items()
        }
        for name in sorted(homes):
            one = getattr(homes[name], name)
            if not inspect.isfunction(one) or name in LEFT_OUT:
                continue
            parameters = list(inspect.signature(one).parameters.values())
            needed = [p for p in parameters if p.default is p.empty]
            lists = {p.name for p in needed} == {"X", "lists"}
            if lists or all(p.name in DRAWN or p.annotation in PRECISE for p in needed):
                found.append((f"{room}.{name}", one, parameters))
    return found


def function_call(draw: Draw) -> Any:
    """A public function; a problem that it states is solved and certified."""
    name, call, parameters = draw.one_of(public_functions())
    draw.plain_only = name.startswith("weights.")  # its tables are arrays and CSR
    given: dict[str, Any] = {}
    for p in parameters:
        if p.default is not p.empty and not draw.chance(0.35):
            continue
        if p.annotation in PRECISE and p.name not in DRAWN:
            given[p.name] = PRECISE[p.annotation](draw)
        elif p.name in TABLES and p.annotation == "Array":
            given[p.name] = draw.numbers()
        elif p.name in DRAWN and p.annotation != "Landmarks | None":
            given[p.name] = DRAWN[p.name](draw)
        elif isinstance(p.default, str):
            given[p.name] = draw.one_of([p.default, draw.one_of(OPTIONS)])
    if "lists" in [p.name for p in parameters]:
        known = draw.graph()
        given |= {"X": known.points, "lists": known.lists}
    if {"X", "Y"} <= given.keys():
        given["Y"] = draw.table(draw.n + draw.chance(draw.hostile / 2), draw.one_of([1, 2, 2, 3]))
    if given.get("metric") == "precomputed" and "X" in given:
        given["X"] = draw.distances()
    draw.tell(name, given)
    found = call(**given)
    if isinstance(found, TraceProblem) and found.n <= 400:
        certify(found, draw.rng.standard_normal((found.n, found.count)))
        return embed(found).points
    found = list(found) if inspect.isgenerator(found) else found
    some = given.get("sample") is not None and given.get("per_point")  # NaN at the other points
    return None if name in UNBOUNDED or some else found


def program_call(draw: Draw) -> Any:
    """A small linear or quadratic program, solved."""
    n, m = int(draw.rng.integers(1, 5)), int(draw.rng.integers(0, 6))
    more: dict[str, Any] = {"nonnegative": draw.one_of([0, n, n + 1])}
    if draw.chance(draw.hostile):
        more["sense"] = draw.one_of(["max", "least"])
    if m:
        more |= {"A": draw.numbers(m, n), "b": draw.rng.standard_normal(m)}
    c, Q = draw.numbers(1, n)[0], draw.numbers(n, n, units=False)
    draw.tell("program", more)
    if draw.chance(0.6):
        return programs.solve_program(programs.LinearProgram(c, **more)).point
    return programs.solve_program(programs.QuadraticProgram(Q @ Q.T, c, **more)).point


def game_call(draw: Draw) -> Any:
    """A recipe of the games on a small function, played."""
    d = int(draw.rng.integers(1, 4))
    start, rows = draw.rng.standard_normal(d), draw.numbers(6, d)
    makers = (
        lambda: games.LeastSquares(rows, rows[:, 0]),
        lambda: games.Quadratic(np.diag([draw.real()] * d), start),
        lambda: Logistic(rows, np.where(rows[:, 0] > 0, 1.0, -1.0)),
        lambda: LogSumExp(draw.real()),
        lambda: games.Huber(draw.real()),
    )
    recipe, f = draw.one_of(RECIPES), draw.one_of(makers)()
    sets = lambda: games.Ball(draw.real()), lambda: games.Simplex(draw.real()), Everywhere
    over = draw.one_of(sets)()
    draw.tell(recipe.__name__, {"f": f, "over": over})
    return recipe(f, start, over=over).play(draw.one_of([0, 1, 5, 20])).averages[-1:]


def missing_number(found: Any, name: str = "result", depth: int = 0) -> str:
    """The first number that is NaN or infinite and must not be, by its name; "" for none."""
    if name in MAY_BE_MISSING or depth > 3 or getattr(found, "level", "") == "failed":
        return ""
    found = getattr(found, "data", found) if hasattr(found, "tocsr") else found
    if isinstance(found, Real) and not isinstance(found, Integral):
        return "" if np.isfinite(float(found)) else f"{name} is {found}"
    if isinstance(found, np.ndarray):
        fine = found.dtype.kind not in "fc" or np.isfinite(found).all()
        return "" if fine else f"{name} has NaN or infinity"
    parts: Any = ()
    if isinstance(found, tuple | list):
        parts = [(name, one) for one in found[:20]]
    elif hasattr(found, "get_params"):
        parts = [(k, v) for k, v in vars(found).items() if k.endswith("_") and k[0] != "_"]
    elif dataclasses.is_dataclass(found):
        parts = [(f.name, getattr(found, f.name)) for f in dataclasses.fields(found)]
    return next(filter(None, (missing_number(one, k, depth + 1) for k, one in parts)), "")


def is_refusal(error: BaseException) -> bool:
    """Whether the error is ours or one that scikit-learn's conventions ask for."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename.replace(os.sep, "/")
    of_conventions = any(part in last for part in FILES_OF_CONVENTIONS)
    of_conventions |= "PCA only support sparse inputs" in str(error)  # a TypeError there, too
    by_convention = of_conventions and isinstance(error, ValueError | TypeError | AttributeError)
    return by_convention or isinstance(error, DualfoldError | NotFittedError)


def outcome_of(seed: int) -> dict[str, Any]:
    """One call: an answer, a refusal or a failure, with what was called and seen."""
    draw = Draw(seed)
    kind = draw.one_of([estimator_call] * 7 + [function_call] * 7 + [program_call, game_call])
    outcome, seen = "answer", ""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                seen = missing_number(kind(draw))
                outcome = "failure" if seen else "answer"
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            outcome = "refusal" if is_refusal(error) else "failure"
            seen = f"{type(error).__name__}: {str(error)[:200]}"
            seen += f" ({Path(place.filename).name}:{place.lineno})"
    raw = [w for w in warned if issubclass(w.category, RuntimeWarning)]
    if outcome != "failure" and raw:
        place = f"{Path(raw[0].filename).name}:{raw[0].lineno}"
        outcome, seen = "failure", f"RuntimeWarning: {str(raw[0].message)[:120]} ({place})"
    return {"seed": seed, "outcome": outcome, "call": " | ".join(draw.told)[:600], "seen": seen}


def work() -> int:
    """Seeds on standard input, a line of JSON for each on standard output."""
    import resource  # not on every system

    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    public_functions()  # its imports take longest
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(outcome_of(int(line))), file=out, flush=True)
    return 0


def cpu_seconds(pid: int) -> float:
    """The time that a process has computed; on a busy machine less than has passed."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:  # no such files on this system: the clock
        return time.monotonic()


class Worker:
    """A process that makes calls; one that exceeds the limit is killed and started again."""

    def __init__(self, limit: float) -> None:
        self.limit, self.process = limit, None

    def outcome(self, seed: int) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, "-m", "tests.tools.random_calls", "--work"]
            pipe = subprocess.PIPE
            self.process: Any = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            self._answer(seed, 120)
        self.process.stdin.write(f"{seed}\n")
        self.process.stdin.flush()
        return self._answer(seed, self.limit)

    def _answer(self, seed: int, limit: float) -> dict[str, Any]:
        began, end = cpu_seconds(self.process.pid), time.monotonic() + 10 * limit
        ready: list[Any] = []
        while not ready and time.monotonic() < end:
            ready = select.select([self.process.stdout], [], [], 0.5)[0]
            if not ready and cpu_seconds(self.process.pid) - began > limit:
                break
        line = self.process.stdout.readline() if ready else ""
        if line:
            return dict(json.loads(line))
        self.process.kill()
        code = self.process.wait()
        self.process = None
        seen = f"the process ended with {code}" if ready else f"no answer in {limit:g} seconds"
        return {"seed": seed, "outcome": "failure", "call": "", "seen": seen}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default="0:2000", help="first:end")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for a call")
    parser.add_argument("--file", default="random_calls.jsonl", help="results, a line a seed")
    parser.add_argument("--again", action="store_true", help="call those that failed again")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work()
    path, worker = Path(given.file), Worker(given.limit)
    lines = path.read_text().splitlines() if path.exists() else []
    known = {one["seed"]: one for one in map(json.loads, lines)}
    wanted = range(*map(int, given.seeds.split(":")))
    with path.open("a") as file:
        for seed in wanted:
            if seed in known and not (given.again and known[seed]["outcome"] == "failure"):
                continue
            known[seed] = worker.outcome(seed)
            print(json.dumps(known[seed]), file=file, flush=True)
    found = [known[seed] for seed in wanted]
    for one in found:
        if one["outcome"] == "failure":
            print(f"{one['seed']}: {one['seen']}\n    {one['call']}")
    counts = Counter(one["outcome"] for one in found)
    print(f"{len(found)} calls: " + ", ".join(f"{v} {k}s" for k, v in sorted(counts.items())))
    return int(counts["failure"] > 0)


if __name__ == "__main__":
    sys.exit(main())
