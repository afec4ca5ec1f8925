"""One method on one table: graph, problem, answer, certificate, with what can be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold.cli.reading import Data, refuse_too_many, twin_remarks
from dualfold.cli.stating import certified
from dualfold.cli.talk import Voice
from dualfold.cli.verdict import verdict
from dualfold.cli.wording import shown
from dualfold.descriptions import STATED, Description
from dualfold.errors import Argument, Message

if TYPE_CHECKING:
    from dualfold.embedding import Embedding
    from dualfold.graph import Graph
    from dualfold.unfolding import Unfolding

# Neighbours that are counted again in the map.
SCORED_NEIGHBORS = 10
# Counting kept neighbours means two exact searches; up to here they take a moment.
MOST_ROWS_TO_SCORE = 10_000


@dataclass(frozen=True)
class Job:
    """What a method is asked for."""

    method: Description
    n_components: int = 2
    n_neighbors: int = 10
    pieces: str = "join"

    def settings(self) -> dict[str, Any]:
        """What must be known to state the same problem again, JSON-ready."""
        chosen: dict[str, Any] = {"method": self.method.name, "n_components": self.n_components}
        if self.method.needs_graph:
            chosen |= {"n_neighbors": self.n_neighbors, "pieces": self.pieces}
        return chosen

    @classmethod
    def again(cls, settings: dict[str, Any]) -> Job:
        """The job that `settings` tells of."""
        known = {key: value for key, value in settings.items() if key in cls.__annotations__}
        return cls(**(known | {"method": STATED[settings["method"]]}))


@dataclass(frozen=True, eq=False)
class Made:
    """A map and all that came with it."""

    job: Job
    embedding: Embedding
    graph: Graph | None
    unfolding: Unfolding | None
    heard: tuple[str, ...]
    seconds: float

    @property
    def verdict(self) -> str:
        return verdict(self.job.method, self.embedding.certificate, self.job.n_components)

    @property
    def axis_names(self) -> list[str]:
        return [f"{self.job.method.name}_{axis + 1}" for axis in range(self.job.n_components)]


def made(job: Job, data: Data, voice: Voice, graph: Graph | None = None) -> Made:
    """Do the job, telling what happens; a `graph` that is at hand is not made again."""
    refuse_too_many(data, job.n_components, job.method)
    remarks = twin_remarks(
        data.X,
        n_components=job.n_components,
        n_neighbors=job.n_neighbors if job.method.needs_graph else None,
    )
    for remark in remarks:
        voice.note(remark)
    heard = [shown(remark) for remark in remarks]
    begin = perf_counter()
    with voice.telling_warnings(heard):
        graph = graph if graph is not None else neighbor_graph(job, data.X, voice)
        with voice.doing(job.method.name):
            embedding, unfolding = certified(
                job.method, data.X, graph, n_components=job.n_components
            )
    return Made(job, embedding, graph, unfolding, tuple(heard), perf_counter() - begin)


def neighbor_graph(job: Job, X: Any, voice: Voice) -> Graph | None:
    """The graph that the method needs, in one piece; None if it needs none."""
    if not job.method.needs_graph:
        return None
    from dualfold.graph import joined, knn, one_piece

    with voice.doing("finding neighbours"):
        graph = knn(X, job.n_neighbors)
        if job.pieces != "join":
            return one_piece(graph)
        return joined(graph, otherwise=Message(Argument("pieces", "raise"), " refuses instead"))


def kept_neighbors(X: Any, points: Any, voice: Voice) -> float | None:
    """The share of nearest neighbours that the map keeps, where counting is quick."""
    from dualfold.quality import t_similarity

    n = X.shape[0]
    if not SCORED_NEIGHBORS < n <= MOST_ROWS_TO_SCORE:
        return None
    with voice.doing("counting kept neighbours"):
        return float(t_similarity(X, points, SCORED_NEIGHBORS))
