"""A stored map checked against its table again: what `dualfold certify` does."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.certificate import bound_text
from dualfold.cli.certify import CertifyOptions
from dualfold.cli.commands import embed_words, reading_words, try_next
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.method_options import as_word, option_words
from dualfold.cli.output_files import stem
from dualfold.cli.stored_map import StoredMap, read_stored_map, read_table_of, read_table_of_model
from dualfold.cli.wording import command_texts
from dualfold.errors import InvalidInput, counted
from dualfold.exploration.input_table import refuse_too_many_coordinates
from dualfold.exploration.verdict_words import verdict
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared

# Columns that are named in a line; more are counted.
MAX_NAMED_COLUMNS = 8


def run_certify(options: CertifyOptions) -> None:
    """State the problem again, certify the stored points, print the certificate."""
    console, notices = Console(quiet=options.quiet), list[str]()
    with console.note_warnings(notices):
        of_model = is_model(options.embedding)
        recheck = (_of_model if of_model else _of_points)(options, console)
    judged_as = _problem_line(recheck.settings, recheck.data)
    summary = {
        "schema": "dualfold.recheck/2",
        "dualfold": __version__,
        "source": options.file,
        "embedding": options.embedding,
        "settings": recheck.settings,
        "reading": recheck.data.reading.settings(),
        "rows": recheck.rows,
        "notices": command_texts([*recheck.data.notices, *notices]),
        "judged_as": judged_as,
        "verdict": recheck.verdict,
        "certificate": recheck.certificate.to_dict(),
        "holds": recheck.certificate.holds,
    }
    lines = [judged_as, recheck.verdict, *_next_lines(options, recheck, of_model=of_model)]
    console.finish(summary, lines, as_json=options.as_json)
    if not recheck.certificate.holds:
        if options.quiet:
            Console().note(recheck.verdict)
        raise typer.Exit(UNCERTIFIED_EXIT)


@dataclass(frozen=True, eq=False)
class Recheck:
    """Certificate of a stored map, and what it is about."""

    settings: Mapping[str, Any]
    data: Prepared
    rows: int
    certificate: Any
    verdict: str


def is_model(path: str) -> bool:
    """Whether a file is a model of dualfold, rather than a table."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "dualfold.json" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return Path(path).suffix == ".dualfold"  # a damaged one, which load_model names


def _of_points(options: CertifyOptions, console: Console) -> Recheck:
    """Coordinates in a table, with their settings beside them."""
    from dualfold.models import load_model, rechecked_points

    with console.stage(f"reading {options.embedding}"):
        stored = read_stored_map(options.embedding, needs_settings=True)
    plan, rows = stored.plan, len(stored.points)
    assert plan is not None
    data = read_table_of(stored, options.file, options.reading, console)
    sides = None
    if options.model is not None:
        sides = load_model(options.model).both_sides
        if sides is None or len(sides.factor) > rows:
            raise InvalidInput(f"{options.model} holds no unfolding of {rows} rows")
    refuse_too_many_coordinates(data, plan.n_components, plan.method)
    width = stored.points.shape[1]
    if isinstance(plan.n_components, int) and width != plan.n_components:
        raise InvalidInput(
            f"{stored.path} has {counted(width, 'coordinate')} and states {plan.n_components}"
        )
    values = _eigenvalues(stored) if plan.method.values and not plan.method.dual else None
    with console.stage("certifying again"):
        certificate = rechecked_points(
            plan.estimator(),
            data.X,
            stored.points,
            values,
            sides,
            data.classes,
            weights=data.weights,
            tolerance=options.passing,
            fresh=options.fresh,
        )
    words = verdict(plan.method, certificate, width)
    if plan.method.dual and sides is None and not certificate.holds:
        words = _without_weights(certificate)
    return Recheck(plan.settings(), data, rows, certificate, words)


def _eigenvalues(stored: StoredMap) -> list[float]:
    values: Any = stored.metadata.get("eigenvalues")
    plain = isinstance(values, list) and bool(values)
    if not plain or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise InvalidInput(f"{stored.path} states no eigenvalues, or not as a list of numbers")
    try:
        return [float(value) for value in values]
    except OverflowError as error:
        raise InvalidInput(f"{stored.path} states eigenvalues that no computer holds") from error


def _without_weights(certificate: Any) -> str:
    return (
        f"Not proved: the stored points have a variance of {certificate.lower:.6g} and no "
        f"unfolding has more than {certificate.upper:.6g} (from geodesics). The proof needs the "
        "dual weights too: make the map with --save-model m.dualfold, then give --model m.dualfold."
    )


def _of_model(options: CertifyOptions, console: Console) -> Recheck:
    """A model file, made by `embed --save-model` or by `save_model` of an estimator."""
    from dualfold.models import load_model, rechecked_model

    with console.stage(f"reading {options.embedding}"):
        model = load_model(options.embedding)
    estimator, method = model.problem.new_estimator(), model.stated_method
    data = read_table_of_model(model, options.file, options.reading, console)
    if method is not None:
        refuse_too_many_coordinates(data, estimator.n_components, method)
    with console.stage("certifying again"):
        certificate = rechecked_model(model, data, tolerance=options.passing, fresh=options.fresh)
    rows = len(data.table.rows)
    if method is None:  # scikit-learn shows the parameters that are not the usual ones
        settings = {"estimator": " ".join(repr(estimator).split())}
        return Recheck(settings, data, rows, certificate, f"{certificate}.")
    words = verdict(method, certificate, model.coordinates)
    return Recheck(model.problem.settings(method), data, rows, certificate, words)


def _problem_line(settings: Mapping[str, Any], data: Prepared) -> str:
    """Which problem was judged: the file states it, so the user must see it."""
    names = data.table.names
    columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
    if len(names) <= MAX_NAMED_COLUMNS:
        columns += f" ({', '.join(names)})"
    problem = settings.get("estimator", "")
    if "method" in settings:
        count, row = settings["n_components"], DESCRIPTIONS[settings["method"]]
        problem = f"{row.name}, {as_word(count)} coordinate{'' if count == 1 else 's'}"
        others = dict(settings)
        if row.needs_graph and (k := others.pop("n_neighbors")) is not None:
            problem += f", {counted(k, 'neighbour')}"
        words = option_words(row, others)
        problem += f", {shlex.join(words)}" if words else ""
    words = reading_words(data.reading)
    read = f"; the table was read with {shlex.join(words)}" if words else ""
    line = f"Judged as {problem}, of {columns}{read}."
    return "".join(c if c.isprintable() else "?" for c in line)  # no commands to a terminal


def _next_lines(options: CertifyOptions, recheck: Recheck, *, of_model: bool) -> list[str]:
    """The next command worth trying."""
    certificate, own = recheck.certificate.to_dict(), reading_words(options.reading)
    if "method" not in recheck.settings:
        return []
    if certificate["level"] == "failed":
        return [try_next(_words_to_make_again(options.file, recheck))]
    if not recheck.certificate.holds and certificate["gap"] is not None:
        words = ["dualfold", "certify", options.file, options.embedding, *own]
        words += [] if options.model is None else ["--model", options.model]
        words += ["--tolerance", bound_text(min(1.0, 1.1 * certificate["gap"]))]
        return [f"A wider gap passes with:  {shlex.join(words)}"]
    if of_model:
        return []
    return [try_next(["dualfold", "report", options.file, options.embedding, *own])]


def _words_to_make_again(source: str, recheck: Recheck) -> list[str]:
    """The command that makes the map anew, with the settings that are stored with it."""
    method = recheck.settings["method"]
    words = embed_words(source, recheck.settings, recheck.data.reading)
    words += ["--output", f"{stem(source)}.{method}.again.csv"]
    if DESCRIPTIONS[method].dual:
        words += ["--save-model", f"{stem(source)}.dualfold"]
    return words
