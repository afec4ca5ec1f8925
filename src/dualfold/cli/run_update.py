"""A stored map that grows: what `dualfold update` does."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.output_files import refuse_bad_outputs
from dualfold.cli.update import UpdateOptions
from dualfold.cli.wording import command_texts
from dualfold.data.atomic_files import check_place
from dualfold.data.notices import quoted_names
from dualfold.data.table_writer import write_table
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.grown_graphs import stacked_rows
from dualfold.models import load_model, model_of, save_model, updated_map_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dualfold.arrays import Array, Matrix
    from dualfold.models import MapVerdict, Model, UpdatedMap
    from dualfold.models.new_rows import NewRows
    from dualfold.trace.staleness import StalenessCertificate


@dataclass(frozen=True, eq=False)
class UpdatedModel:
    """A stored map that grew, and what is said of it before it is fitted again.

    grown : the map; added, left : how many rows came and left
    staleness, new_rows : None where nobody asked, or nothing is known
    """

    grown: UpdatedMap
    added: int
    left: int
    verdict: MapVerdict
    staleness: StalenessCertificate | None
    new_rows: NewRows | None


def run_update(options: UpdateOptions) -> None:
    """Let a stored map grow, judge it, write."""
    console, begin = Console(quiet=options.quiet), perf_counter()
    if not options.files and options.without is None and not options.refit:
        raise typer.BadParameter("there is nothing to do; give a NEW_FILE, --without or --refit")
    target = options.save_model or options.model
    if os.path.realpath(target) == os.path.realpath(options.model):
        options = replace(options, save_model=None)
    with console.stage(f"reading {options.model}"):
        model = load_model(options.model)
    target = options.save_model or options.model
    refuse_bad_outputs(options, *(options.files or ()), *(options.old or ()), options.model)
    check_place(Path(target), overwrite=options.force or options.save_model is None)
    notices: list[str] = []
    with console.note_warnings(notices):
        updated = _updated(options, model, console, notices)
        kept = model_of(updated.grown)
    summary = _summary(options, updated) | {"notices": command_texts(notices)}
    if options.output is not None:
        _write_points(options, updated.grown, model, summary)
    with console.stage(f"writing {target}"):
        save_model(target, kept, overwrite=options.force or options.save_model is None)
    lines = _lines(options, updated)
    summary |= {"model": target, "seconds": perf_counter() - begin}
    console.finish(summary, lines, as_json=options.as_json)
    if options.strict and updated.verdict.word == "fit again":
        raise typer.Exit(UNCERTIFIED_EXIT)


def _updated(
    options: UpdateOptions, model: Model, console: Console, notices: list[str]
) -> UpdatedModel:
    """Read the new rows, extend the map, judge it, and fit it again where that is wanted."""
    old = _rows(options, model, options.old or (), console, notices)
    new = [_rows(options, model, [file], console, notices) for file in options.files or ()]
    with console.stage("placing"):
        grown = updated_map_of(model, old)
        n_before, without = grown.n_rows, _numbers(options.without, grown.n_rows)
        grown = grown.extend(_all_rows(new), without=without)
    with console.stage("comparing new rows with old ones"):
        new_rows = grown.new_rows_
    staleness = None
    if options.staleness:
        with console.stage("certifying how stale the map is"):
            staleness = grown.staleness_
    verdict = grown.verdict(
        max_gap=options.max_gap,
        max_foreign=options.max_foreign,
        level=options.level,
        certified=options.staleness,
    )
    left = len(set(without))
    added = grown.n_rows - n_before + left
    if options.refit:
        with console.stage("fitting again"):
            grown = grown.refit()
    return UpdatedModel(grown, added, left, verdict, staleness, new_rows)


def _rows(
    options: UpdateOptions, model: Model, files: Sequence[str], console: Console, notices: list[str]
) -> Any:
    """Rows of some tables in the units that the map takes; None for no table."""
    tables = []
    for file in files:
        reading = options.reading
        if options.old and file in options.old and reading.missing == "auto":
            reading = replace(reading, missing=model.preparation.reading.missing)
        with console.stage(f"reading {file}"):
            rows = model.prepared_rows(file, reading)
        others = [name for name in rows.table.labels if name not in rows.values]
        tables.append(rows.X)
        remarks = list(rows.notices)
        if others:
            plural = "s" if len(others) > 1 else ""
            remarks.append(f"the map has no column{plural} {quoted_names(others)}: not used")
        for notice in remarks:
            console.note(f"{file}: {notice}" if len(files) > 1 else notice)
        notices += remarks
    return _all_rows(tables)


def _all_rows(tables: list[Matrix]) -> Matrix | None:
    """All rows of some tables; None for no table."""
    if not tables:
        return None
    whole = tables[0]
    for one in tables[1:]:
        whole = stacked_rows(whole, one)
    return whole


def _numbers(text: str | None, n: int) -> list[int]:
    """3,7,20-40 as numbers that begin at 0."""
    numbers: list[int] = []
    for word in (text or "").replace(" ", "").split(",") if text else ():
        first, _, last = word.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()) or word.endswith("-"):
            raise typer.BadParameter(
                f"{word!r} names no rows; write them as 3,7,20-40", param_hint="--without"
            )
        begin, end = int(first), int(last or first)
        if not 1 <= begin <= end <= n:
            raise InvalidInput(
                Argument("without", word), f" names rows that the map has not; it has 1 to {n}"
            )
        numbers += range(begin - 1, end)
    return numbers


def _summary(options: UpdateOptions, updated: UpdatedModel) -> dict[str, object]:
    grown, stale, new = updated.grown, updated.staleness, updated.new_rows
    moved = grown.registration_
    return {
        "schema": "dualfold.update/1",
        "dualfold": __version__,
        "sources": options.files or [],
        "rows": grown.n_rows,
        "added": updated.added,
        "left": updated.left,
        "staleness": None if stale is None else stale.to_dict(),
        "new_rows": None if new is None else new.to_dict(),
        "verdict": updated.verdict.to_dict(),
        "refit": None
        if moved is None
        else {"registration": moved.to_dict(), "certificate": grown.certificate_.to_dict()},
        "map": options.output,
    }


def _lines(options: UpdateOptions, updated: UpdatedModel) -> list[str]:
    """Lines on what was done and found."""
    grown, target = updated.grown, options.save_model or options.model
    gone = f", {updated.left:,} left" if updated.left else ""
    rows = f"{grown.n_rows:,} rows on the map → {target}"
    lines = [f"{counted(updated.added, 'row')} added{gone}: {rows}"]
    if options.output is not None:
        lines.append(f"Points in {options.output}")
    if updated.staleness is not None:
        lines.append(f"Staleness: {updated.staleness}")
    if updated.new_rows is not None:
        lines.append(str(updated.new_rows))
    lines.append(f"Verdict: {updated.verdict}.")
    if grown.registration_ is not None:
        lines.append(f"Fitted again: {grown.certificate_}. {grown.registration_}")
    return lines


def _write_points(
    options: UpdateOptions, grown: UpdatedMap, model: Model, summary: dict[str, object]
) -> None:
    """The points of all rows, with their numbers and the update that each came with."""
    columns: dict[str, Array] = {"row": np.arange(grown.n_rows) + 1, "update": grown.batch_}
    for axis in range(grown.embedding_.shape[1]):
        columns[f"{model.method}_{axis + 1}"] = grown.embedding_[:, axis]
    write_table(str(options.output), columns, overwrite=options.force, metadata=summary)
