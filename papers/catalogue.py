"""All experiments, in the order of the papers."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from importlib import import_module
from time import perf_counter

from dualfold.errors import InvalidInput
from papers.finding import PAPERS, Done, Experiment, Finding, Row, Setting

# Modules of the folders; each has a tuple EXPERIMENTS. In the order of the report.
MODULES: tuple[str, ...] = (
    "tucker.similarity",
    "tucker.eigenmaps",
    "tucker.isomap",
    "tucker.fenchel",
    "tucker.online",
    "tucker.game",
    "tucker.bound",
    "draganov.descent",
    "draganov.forces",
    "draganov.gradient",
    "cunha.linear",
    "cunha.roll",
    "cunha.angles",
    "cunha.pieces",
    "cunha.exact",
    "cunha.lagrangian",
    "cunha.slater",
    "cunha.connections",
    "cunha.lle",
    "kokiopoulou.trace",
    "kokiopoulou.scaling",
    "kokiopoulou.constraints",
    "kokiopoulou.projections",
    "shin.decompositions",
    "shin.descent",
    "shin.convexity",
    "shin.duality",
    "shin.pca_steps",
    "shin.pca_mnist",
    "shin.pca_algorithms",
)


def experiments() -> tuple[Experiment, ...]:
    """Every experiment there is."""
    modules = (import_module(f"papers.{name}") for name in MODULES)
    return tuple(experiment for module in modules for experiment in module.EXPERIMENTS)


def chosen(words: Sequence[str]) -> tuple[Experiment, ...]:
    """Experiments whose name, or whose paper's author or letter, is among the words; all for none.

    A word may also be the beginning of names: "shin-pca" takes every experiment that
    starts so.
    """
    everything = experiments()
    if not words:
        return everything
    picked: list[Experiment] = []
    for word in words:
        found = [one for one in everything if _meant(one, word.lower())]
        if not found:
            raise InvalidInput(_unknown(word, everything))
        picked += [one for one in found if one not in picked]
    return tuple(sorted(picked, key=everything.index))


def run(wanted: Sequence[Experiment], setting: Setting) -> Iterator[Done]:
    """Run experiments one after the other.

    One that breaks is a row that does not hold: what the others found is not lost.
    """
    for experiment in wanted:
        start = perf_counter()
        try:
            finding = experiment.run(setting)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            finding = Finding("It broke off.", (broken(reason),))
        yield Done(experiment, finding, perf_counter() - start)


def broken(reason: str) -> Row:
    """The row of an experiment that did not come to its end."""
    return Row("it runs", "theorem", "yes", "no", lambda ours: ours == "yes", reason)


def _meant(experiment: Experiment, word: str) -> bool:
    paper = next(paper for paper in PAPERS if paper.letter == experiment.paper)
    return word in (paper.letter.lower(), paper.author.lower()) or experiment.name.startswith(word)


def _unknown(word: str, everything: Sequence[Experiment]) -> str:
    names = [one.name for one in everything]
    authors = [paper.author.lower() for paper in PAPERS]
    close = difflib.get_close_matches(word.lower(), [*names, *authors], 3, 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"papers are {', '.join(authors)}"
    return f"there is no experiment {word!r}; {hint} (`python -m papers list` shows all)"
