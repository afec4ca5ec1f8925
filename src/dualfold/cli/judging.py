"""Which problem a stored map or model is about, and the judgement of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.input_table import refuse_too_many
from dualfold.cli.job import Job
from dualfold.cli.method_options import as_word, option_words
from dualfold.cli.reading_options import reading_words
from dualfold.cli.stored_map import StoredMap
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import InvalidInput

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.saved import Model

# Columns that are named in a line; more are counted.
NAMED_COLUMNS = 8


def judged_map(
    job: Job,
    stored: StoredMap,
    data: Prepared,
    model: Model | None,
    console: Console,
    **asking: Any,
) -> Any:
    """The certificate of stored points; `asking` is tolerance and fresh."""
    from dualfold.saved import rechecked_points

    refuse_too_many(data, job.n_components, job.method)
    width = stored.points.shape[1]
    if isinstance(job.n_components, int) and width != job.n_components:
        raise InvalidInput(f"{stored.path} has {width} coordinates and states {job.n_components}")
    sides = None if model is None else model.both_sides
    stated = job.method.values and not job.method.dual
    values = _eigenvalues(stored) if stated else None
    with console.doing("certifying again"):
        return rechecked_points(
            job.estimator(), data.X, stored.points, values, sides, data.classes, **asking
        )


def _eigenvalues(stored: StoredMap) -> list[float]:
    values: Any = stored.metadata.get("eigenvalues")
    plain = isinstance(values, list) and bool(values)
    if not plain or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise InvalidInput(f"{stored.path} states no eigenvalues, or not as a list of numbers")
    try:
        return [float(value) for value in values]
    except OverflowError as error:
        raise InvalidInput(f"{stored.path} states eigenvalues that no computer holds") from error


def judged_model(job: Job, model: Model, data: Prepared, console: Console, **asking: Any) -> Any:
    """The certificate of a model that `embed --save-model` wrote."""
    from dualfold.saved import rechecked_model

    refuse_too_many(data, job.n_components, job.method)
    with console.doing("certifying again"):
        certificate = rechecked_model(model, data.X, data.classes, **asking)
    return certificate.with_doubts(*_table_doubts(job, model, data))


def _table_doubts(job: Job, model: Model, data: Prepared) -> list[str]:
    """What a model says about its table that the table does not have."""
    import numpy as np

    from dualfold.saved import columns_differ, kept_rows

    doubts = []
    if tuple(model.columns) != tuple(data.table.names):
        doubts.append("the model names other columns, or in another order")
    if model.method != job.method.name:
        doubts.append(
            f"the model is called {model.method[:40]!r}, its settings state {job.method.name}"
        )
    standard = data.standard
    X = data.table.X
    means = np.asarray(X.mean(axis=0), dtype=float).ravel()
    widest = np.asarray(
        abs(X).max(axis=0).toarray() if hasattr(X, "toarray") else abs(X).max(axis=0)
    )
    for name, mine, stored, scale in (
        ("means", means, model.means, widest.ravel()),
        ("shift", None if standard is None else standard.mean, model.shift, widest.ravel()),
        ("scale", None if standard is None else standard.deviation, model.scale, None),
    ):
        if columns_differ(mine, stored, scale):
            doubts.append(f"the model's {name} of the columns are not those of the table")
    if model.reference is not None:
        some = kept_rows(data.X)
        mine = None if some is None else data.X[some].astype(np.float32)
        if columns_differ(mine, model.reference):
            doubts.append("the rows that the model keeps are not those of the table")
    return doubts


def judged_estimator(model: Model, X: Any, console: Console, **asking: Any) -> Any:
    """The certificate of a model that `save_model(path, model_of(estimator))` wrote."""
    from dualfold.saved import rechecked_model

    with console.doing("certifying again"):
        return rechecked_model(model, X, **asking)


def judged_as(settings: dict[str, Any], data: Prepared) -> str:
    """Which problem was judged: the file chose it, so whoever asks must see it."""
    names = data.table.names
    columns = f"{len(names)} column{'s' if len(names) > 1 else ''}"
    if len(names) <= NAMED_COLUMNS:
        columns += f" ({', '.join(names)})"
    problem_ = settings.get("estimator", "")
    if "method" in settings:
        count, row = settings["n_components"], DESCRIPTIONS[settings["method"]]
        problem_ = f"{row.name}, {as_word(count)} coordinate{'' if count == 1 else 's'}"
        beyond = dict(settings)
        if row.needs_graph and (k := beyond.pop("n_neighbors")) is not None:
            problem_ += f", {k} neighbours"
        chosen = option_words(row, beyond)
        problem_ += f", {shlex.join(chosen)}" if chosen else ""
    options = reading_words(data.reading)
    read = f"; the table was read with {shlex.join(options)}" if options else ""
    whole = f"Judged as {problem_}, of {columns}{read}."
    return "".join(c if c.isprintable() else "?" for c in whole)  # no commands to a terminal
