"""dualfold, through its estimators, certificates on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import dualfold
from benchmarks.case import THREADS, Answer
from dualfold import quality
from dualfold.graph import knn, nearest
from dualfold.kernels.reports import count_work, time_stage
from dualfold.methods import landmark_count
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.quality.ranks import neighbor_ranks
from dualfold.unfolding import Unfolder

# A name of dualfold is imported when it is first used. Here that is before the clock runs, as the
# peers' imports are; the case "first-use" measures imports.
for _estimator in (
    *("ClassicalMDS", "Isomap", "KernelPCA", "LaplacianEigenmaps", "LocallyLinearEmbedding"),
    *("MaximumVarianceUnfolding", "NeighborMap", "PCA", "RandomProjection", "TSNE"),
    "TruncatedSVD",
):
    getattr(dualfold, _estimator)

K = 10  # neighbours, in every case but unfolding: its edges are the problem's size
UNFOLDING_K = 6


def _fitted(estimator: Any, X: Any, *, search: str = "auto") -> Answer:
    """Fit; the stages and counts are those the estimator tells on its way."""
    with count_work() as work:
        if search != "auto":
            with time_stage("neighbours"):
                graph = knn(X, K, search=search, random_state=0)
            estimator.set_params(graph=graph)
        points = estimator.fit_transform(X)
    told = {name: value for name, value in work.items() if name.startswith("seconds: ")}
    stages = {name.removeprefix("seconds: "): float(told[name]) for name in told}
    if "solution and certificate" in stages:
        both = stages.pop("solution and certificate")
        stages["solve"] = both - stages.get("certify", 0.0)
    facts: dict[str, Any] = _certificate(estimator.certificate_)
    if hasattr(estimator, "graph_"):
        search_made = estimator.graph_.search
        facts |= {"search": search_made.method, "recall": search_made.recall}
    facts["counts"] = {name: value for name, value in work.items() if name not in told}
    components = getattr(estimator, "components_", None)
    return Answer(points, components=components, stages=stages, facts=facts)


def _certificate(certificate: Any) -> dict[str, Any]:
    if not certificate.optimum:  # a measured distortion
        return {"certificate": certificate.level}
    facts = {"certificate": certificate.level, "gap": float(certificate.gap)}
    return facts | ({"about": certificate.about} if certificate.about else {})


def scatter(X: Any) -> Answer:
    """The scatter matrix alone."""
    from dualfold.weights import scatter as scatter_of

    total, _ = scatter_of(X, precision=np.float64)
    return Answer(facts={"trace": float(np.trace(total))})


def projected(X: Any) -> Answer:
    """New rows placed by two components that were fitted to some of them."""
    fitted = dualfold.PCA(2).fit(X[:1_000])
    with time_stage("place"):
        return Answer(fitted.transform(X))


def pca(X: Any, *, n_components: int = 50) -> Answer:
    return _fitted(dualfold.PCA(n_components), X)


def mds(X: Any, *, metric: str = "euclidean") -> Answer:
    return _fitted(dualfold.ClassicalMDS(metric=metric), X)


def kernel_pca(X: Any, *, gamma: float, n_components: int = 10) -> Answer:
    return _fitted(dualfold.KernelPCA(n_components, kernel="rbf", gamma=gamma), X)


def truncated_svd(X: Any, *, n_components: int = 100) -> Answer:
    return _fitted(dualfold.TruncatedSVD(n_components), X)


def truncated_svd_solution(X: Any, *, n_components: int = 100) -> Answer:
    """The components and the points alone, as `TruncatedSVD` finds them."""
    problem = dualfold.methods.truncated_svd(X, n_components=n_components)
    solution = solver_to_last_digits(problem).solve(problem)
    lift: Any = problem.lift
    components = lift.linear_map(solution.vectors, solution.values).components
    facts = {"products": solution.products}
    points = lift(solution.vectors, solution.values)
    return Answer(points, components=components, facts=facts)


def isomap(X: Any, *, like: int | None = None, exact: bool = False) -> Answer:
    """`like`: as many landmarks as that many points would get."""
    landmarks: Any = None if exact else "auto" if like is None else landmark_count(like)
    if isinstance(landmarks, int):
        landmarks = min(landmarks, len(X) // 2)  # scaled runs have fewer points
    return _fitted(dualfold.Isomap(n_neighbors=K, landmarks=landmarks, random_state=0), X)


def lle(X: Any, *, method: str = "standard") -> Answer:
    estimator = dualfold.LocallyLinearEmbedding(n_neighbors=K, method=method, random_state=0)
    return _fitted(estimator, X)


def eigenmaps(X: Any, *, search: str = "auto") -> Answer:
    estimator = dualfold.LaplacianEigenmaps(n_neighbors=K, random_state=0)
    return _fitted(estimator, X, search=search)


def tsne(X: Any, *, rounds: int) -> Answer:
    return _fitted(dualfold.TSNE(max_iter=rounds, n_jobs=THREADS), X)


def neighbor_map(X: Any, *, spread: float) -> Answer:
    """All rows mapped and judged, also where a sample would place the others."""
    estimator = dualfold.NeighborMap(spread=spread, landmarks=len(X))
    answer, found = _fitted(estimator, X), estimator.certificate_
    return replace(answer, facts=answer.facts | {"kl": found.value, "bound": found.bound})


def projection(X: Any, *, name: str) -> Answer:
    """LPP, NPP and their orthogonal sisters, by the name of the estimator."""
    return _fitted(getattr(dualfold, name)(n_neighbors=K), X)


def random_projection(X: Any) -> Answer:
    return _fitted(dualfold.RandomProjection(10, random_state=0), X)


def unfolding(X: Any, *, tol: float, solver: str = "auto") -> Answer:
    estimator = dualfold.MaximumVarianceUnfolding(
        n_neighbors=UNFOLDING_K, tol=tol, solver=solver, random_state=0
    )
    answer = _fitted(estimator, X)
    told = {"solver": estimator.solver_, "iterations": estimator.n_iter_}
    return replace(answer, facts=answer.facts | told)


def unfolded_edges(problem: Any) -> Answer:
    """The solver alone, as a peer has no other part; `Case.check` has the certificate."""
    found = Unfolder(tol=1e-8, random_state=0).solve(problem)
    facts = {"solver": found.solver, "iterations": len(found.history)}
    return Answer(found.factor, weights=found.weights, facts=facts)


def trustworthiness(mapped: Any) -> Answer:
    value = quality.trustworthiness(mapped.X, mapped.Y, n_neighbors=K)
    return Answer(facts={"trustworthiness": float(value)})


def neighbourhoods(mapped: Any) -> Answer:
    """Three measures of one count of ranks."""
    ranks = neighbor_ranks(mapped.X, mapped.Y, K)
    return Answer(
        facts={
            "trustworthiness": float(ranks.trustworthiness()),
            "continuity": float(ranks.continuity()),
            "t-similarity": float(ranks.t_similarity()),
        }
    )


def report(mapped: Any, *, sample: int | None = None) -> Answer:
    found = quality.report(mapped.X, mapped.Y, labels=mapped.labels, sample=sample)
    return Answer(facts={name: float(value) for name, value in found.measures.items()})


def neighbours(X: Any, *, search: str = "auto") -> Answer:
    with count_work() as work:
        found = nearest(X, K, search=search, random_state=0)
    facts = {
        "search": found.search.method,
        "proved": found.search.proved,
        "recall": found.search.recall,
        "counts": {name: value for name, value in work.items() if "seconds" not in name},
    }
    return Answer(lists=found.indices, facts=facts)


def first_use(text: str, *, bytecode: bool) -> Answer:
    """The command line in a new process: import, read the table, Isomap, write.

    Without `bytecode` Python compiles every module it imports, as it does when nothing was
    ever run on the machine and the installer compiled nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "roll.csv").write_text(text)
        environment = dict(os.environ)
        if not bytecode:
            environment |= {"PYTHONPYCACHEPREFIX": str(here / "cold")}
        main = "from dualfold.cli import main; main()"
        options = ["embed", str(here / "roll.csv"), "-m", "isomap", "-o", str(here / "map.csv")]
        done = subprocess.run(
            [sys.executable, "-c", main, *options, "--json"],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        summary = json.loads(done.stdout)
        lines = (here / "map.csv").read_text().splitlines()
    points = np.array([[float(cell) for cell in line.split(",")[-2:]] for line in lines[1:]])
    certificate = summary["certificate"]
    return Answer(points, facts={"certificate": certificate["level"], "gap": certificate["gap"]})
