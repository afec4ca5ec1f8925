"""A stored map against its data again: state the problem, judge the points, solve nothing."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from dualfold import __version__
from dualfold.cli.reading import Reading
from dualfold.cli.registry import METHODS
from dualfold.cli.request import reading_words, stem
from dualfold.cli.solving import Job, neighbor_graph
from dualfold.cli.stating import problem
from dualfold.cli.stored import read_again, stored_map
from dualfold.cli.talk import Voice
from dualfold.cli.verdict import verdict
from dualfold.errors import InvalidInput


@dataclass(frozen=True)
class CertifyRequest:
    """Everything that `dualfold certify` was asked for."""

    reading: Reading
    embedding: str
    model: str | None


def certify_map(request: CertifyRequest, voice: Voice) -> dict[str, Any]:
    """Judge the map; returns what `--json` prints."""
    with voice.doing(f"reading {request.embedding}"):
        stored = stored_map(request.embedding)
    settings = stored.metadata.get("settings")
    if not settings or settings.get("method") not in METHODS:
        raise InvalidInput(
            f"{request.embedding} has no settings of dualfold beside it ({request.embedding}.json "
            "or inside a Parquet or h5ad file), so nobody knows which problem it solves; "
            "`dualfold report` measures any map"
        )
    job = Job.again(settings)
    data = read_again(request.reading, stored, voice)
    heard: list[str] = []
    with voice.telling_warnings(heard):
        graph = neighbor_graph(job, data.X, voice)
        with voice.doing("certifying again"):
            if job.method.name == "mvu":
                certificate = _unfolding(request, stored, graph)
            else:
                from dualfold.saved import rechecked

                stated = problem(job.method, data.X, graph, n_components=job.n_components)
                values = stored.metadata["eigenvalues"]
                certificate = rechecked(stated, stored.points, values)
    words = verdict(job.method, certificate, job.n_components)
    if job.method.name == "mvu" and request.model is None and certificate.level == "failed":
        words = _rough(certificate)
    before = stored.metadata.get("certificate", {})
    return {
        "schema": "dualfold.recheck/1",
        "dualfold": __version__,
        "source": request.reading.source,
        "embedding": request.embedding,
        "settings": settings,
        "reading": data.reading.settings(),
        "rows": len(stored.points),
        "notices": [*data.notices, *heard],
        "verdict": words,
        "certificate": certificate.to_dict(),
        "stated_before": {key: before.get(key) for key in ("level", "gap")},
    }


def _unfolding(request: CertifyRequest, stored: Any, graph: Any) -> Any:
    from dualfold.saved import load_model, rechecked_unfolding

    sides = None
    if request.model is not None:
        sides = load_model(request.model).both_sides
        if sides is None or len(sides.factor) != len(stored.points):
            raise InvalidInput(f"{request.model} holds no unfolding of {len(stored.points)} rows")
    tolerance = stored.metadata.get("certificate", {}).get("tolerance") or 1e-4
    return rechecked_unfolding(graph, stored.points, sides, tolerance=tolerance)


def _rough(certificate: Any) -> str:
    return (
        f"Not proved: the stored points have a variance of {certificate.lower:.6g} and no "
        f"unfolding has more than {certificate.upper:.6g} (from geodesics). The proof needs the "
        "dual weights too: make the map with --save-model m.dualfold, then give --model m.dualfold."
    )


def closing_words(request: CertifyRequest, summary: dict[str, Any]) -> list[str]:
    """What was found, what was claimed before, and the next command."""
    before, now = summary["stated_before"]["level"], summary["certificate"]["level"]
    source, lines = request.reading.source, [summary["verdict"]]
    if before is not None:
        gap = summary["stated_before"]["gap"]
        lines.append(f"The file itself says: {before}" + (f", gap {gap:.0e}." if gap else "."))
    if now == "failed":
        return [*lines, f"Try next:  {shlex.join(_made_again(request, summary))}"]
    return [*lines, f"Try next:  {shlex.join(['dualfold', 'report', source, request.embedding])}"]


def _made_again(request: CertifyRequest, summary: dict[str, Any]) -> list[str]:
    """The command that makes the map anew, with the settings that are stored with it."""
    settings, source = summary["settings"], request.reading.source
    words = ["dualfold", "embed", source, "--method", settings["method"]]
    for option, name, usual in (("--n-components", "n_components", 2), ("-k", "n_neighbors", 10)):
        if settings.get(name, usual) != usual:
            words += [option, str(settings[name])]
    words += reading_words(Reading.again(source, summary["reading"]))
    words += ["--output", f"{stem(source)}.{settings['method']}.again.csv"]
    if settings["method"] == "mvu":
        words += ["--save-model", f"{stem(source)}.dualfold"]
    return words
