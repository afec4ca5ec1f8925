"""A stored map against its data again: state the problem, certify the stored points.

Vectors that a file does not keep exactly are computed again (`saved.trace_answers`).
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli import judging
from dualfold.cli.console import Console
from dualfold.cli.input_table import notices_of, read
from dualfold.cli.stored_map import StoredMap, metadata_of, read_again, stored_job, stored_map
from dualfold.cli.verdict_words import verdict
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading
    from dualfold.saved import Model


@dataclass(frozen=True)
class CertifyRequest:
    """Everything that `dualfold certify` was asked for; nothing of it is in the judged file."""

    source: str
    reading: Reading
    embedding: str
    model: str | None
    tolerance: float = 1e-4
    fresh: bool = False

    @property
    def asking(self) -> dict[str, Any]:
        """What the judgement itself is asked for."""
        return {"tolerance": self.tolerance, "fresh": self.fresh}


@dataclass(frozen=True, eq=False)
class Judged:
    """What was judged, and how it came out."""

    settings: dict[str, Any]
    data: Prepared
    rows: int
    certificate: Any
    verdict: str


def certify_map(request: CertifyRequest, console: Console) -> dict[str, Any]:
    """Judge the map or model; returns what `--json` prints."""
    from dualfold.certificate import checked_tolerance

    checked_tolerance(request.tolerance)
    notices: list[str] = []
    with console.noting_warnings(notices):
        found = (_model if is_model(request.embedding) else _points)(request, console)
    return {
        "schema": "dualfold.recheck/2",
        "dualfold": __version__,
        "source": request.source,
        "embedding": request.embedding,
        "settings": found.settings,
        "reading": found.data.reading.settings(),
        "rows": found.rows,
        "notices": [*notices_of(found.data), *notices],
        "judged_as": judging.judged_as(found.settings, found.data),
        "verdict": found.verdict,
        "certificate": found.certificate.to_dict(),
        "holds": found.certificate.holds,
    }


def is_model(path: str) -> bool:
    """Whether a file is a model of dualfold, rather than a table."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "dualfold.json" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return Path(path).suffix == ".dualfold"  # a damaged one, which load_model names


def _points(request: CertifyRequest, console: Console) -> Judged:
    """Coordinates in a table, with their settings beside them."""
    if Path(request.embedding).is_file():  # a table that is no map is refused as what it is
        stored_job(metadata_of(request.embedding).get("settings"), request.embedding)
    with console.doing(f"reading {request.embedding}"):
        stored = stored_map(request.embedding)
    job = stored_job(stored.metadata.get("settings"), request.embedding)
    data = read_again(request.source, request.reading, stored, console)
    model = None if request.model is None else _sides(request.model, len(stored.points))
    certificate = judging.judged_map(job, stored, data, model, console, **request.asking)
    words = verdict(job.method, certificate, stored.points.shape[1])
    if job.method.dual and model is None and not certificate.holds:
        words = _rough(certificate)
    return Judged(job.settings(), data, len(stored.points), certificate, words)


def _sides(path: str, rows: int) -> Model:
    from dualfold.saved import load_model

    model = load_model(path)
    if model.both_sides is None or len(model.both_sides.factor) > rows:
        raise InvalidInput(f"{path} holds no unfolding of {rows} rows")
    return model


def _model(request: CertifyRequest, console: Console) -> Judged:
    """A model file, made by `embed --save-model` or by `save_model` of an estimator."""
    from dualfold.saved import load_model

    with console.doing(f"reading {request.embedding}"):
        model = load_model(request.embedding)
    if "estimator" in model.settings:
        return _estimator(request, model, console)
    job = stored_job(model.settings.get("settings"), request.embedding)
    stored = StoredMap(request.embedding, None, {}, model.settings)
    data = read_again(request.source, request.reading, stored, console)
    certificate = judging.judged_model(job, model, data, console, **request.asking)
    words = verdict(job.method, certificate, model.coordinates)
    return Judged(job.settings(), data, len(data.table.rows), certificate, words)


def _estimator(request: CertifyRequest, model: Model, console: Console) -> Judged:
    from dualfold.saved import estimator_of_model

    data = read(request.source, request.reading, console)
    unnamed = tuple(f"column_{place + 1}" for place in range(len(data.table.names)))
    X = data.X if model.columns == unnamed else model.matching_columns(data.X, data.table.names)
    certificate = judging.judged_estimator(model, X, console, **request.asking)
    # scikit-learn shows the parameters that are not the usual ones.
    settings = {"estimator": " ".join(repr(estimator_of_model(model)).split())}
    return Judged(settings, data, len(data.table.rows), certificate, f"{certificate}.")


def _rough(certificate: Any) -> str:
    return (
        f"Not proved: the stored points have a variance of {certificate.lower:.6g} and no "
        f"unfolding has more than {certificate.upper:.6g} (from geodesics). The proof needs the "
        "dual weights too: make the map with --save-model m.dualfold, then give --model m.dualfold."
    )
