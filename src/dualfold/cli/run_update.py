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
from dualfold.cli.wording import command_texts
from dualfold.data.atomic_files import check_place
from dualfold.data.notices import quoted_names
from dualfold.data.table_writer import write_table
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.growth import stacked_rows
from dualfold.models import load_model, model_of, save_model, updated_map_of

if TYPE_CHECKING:
    from dualfold.models import MapVerdict, Model, UpdatedMap
from dualfold.cli.update import UpdateOptions


def run_update(options: UpdateOptions) -> None:
    """Let a stored map grow, judge it, write."""
    console = Console(quiet=options.quiet)
    if not options.files and options.without is None and not options.refit:
        raise typer.BadParameter("there is nothing to do; give a NEW_FILE, --without or --refit")
    target = options.save_model or options.model
    if os.path.realpath(target) == os.path.realpath(options.model):
        options = replace(options, save_model=None)
    summary, lines = _update(options, console)
    console.finish(summary, lines, as_json=options.as_json)
    if options.strict and summary["verdict"]["word"] == "fit again":
        raise typer.Exit(UNCERTIFIED_EXIT)


def _update(options: UpdateOptions, console: Console) -> tuple[dict[str, Any], list[str]]:
    """Read, extend, judge, write; returns what `--json` prints, and the last lines."""
    begin = perf_counter()
    with console.stage(f"reading {options.model}"):
        model = load_model(options.model)
    target = options.save_model or options.model
    refuse_bad_outputs(options, *(options.files or ()), *(options.old or ()), options.model)
    check_place(Path(target), overwrite=options.force or options.save_model is None)
    notices: list[str] = []
    with console.note_warnings(notices):
        old = _rows(options, model, options.old or (), console, notices)
        new = [_rows(options, model, [one], console, notices) for one in options.files or ()]
        with console.stage("placing"):
            grown = updated_map_of(model, old)
            n_before = grown.n_rows
            grown = grown.extend(_all_rows(new), without=_numbers(options.without, n_before))
        judged = _judgement_of(options, grown, console)
        if options.refit:
            with console.stage("fitting again"):
                grown = grown.refit()
        kept = model_of(grown)
    summary = _summary(options, grown, judged, n_before) | {"notices": command_texts(notices)}
    if options.output is not None:
        _write_points(options, grown, model, summary)
    with console.stage(f"writing {target}"):
        save_model(target, kept, overwrite=options.force or options.save_model is None)
    lines = _lines(options, grown, judged, summary)
    return summary | {"model": target, "seconds": perf_counter() - begin}, lines


def _rows(
    options: UpdateOptions, model: Model, files: Any, console: Console, notices: list[str]
) -> Any:
    """Rows of some tables in the units that the map takes; None for no table."""
    found = []
    for file in files:
        reading = options.reading
        if options.old and file in options.old and reading.missing == "auto":
            reading = replace(reading, missing=model.preparation.reading.missing)
        with console.stage(f"reading {file}"):
            rows = model.prepared_rows(file, reading)
        others = [name for name in rows.table.labels if name not in rows.values]
        found.append(rows.X)
        said = list(rows.notices)
        if others:
            plural = "s" if len(others) > 1 else ""
            said.append(f"the map has no column{plural} {quoted_names(others)}: not used")
        for notice in said:
            console.note(f"{file}: {notice}" if len(files) > 1 else notice)
        notices += said
    return _all_rows(found)


def _all_rows(tables: list[Any]) -> Any:
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


@dataclass(frozen=True, eq=False)
class _Judgement:
    """What is said of the map before it is fitted again; None where nobody asked."""

    verdict: MapVerdict
    staleness: Any
    new_rows: Any


def _judgement_of(options: UpdateOptions, grown: UpdatedMap, console: Console) -> _Judgement:
    with console.stage("comparing new rows with old ones"):
        new = grown.new_rows_
    stale = None
    if options.staleness:
        with console.stage("certifying how stale the map is"):
            stale = grown.staleness_
    verdict = grown.verdict(
        max_gap=options.max_gap,
        max_foreign=options.max_foreign,
        level=options.level,
        certified=options.staleness,
    )
    return _Judgement(verdict, stale, new)


def _summary(
    options: UpdateOptions, grown: UpdatedMap, judged: _Judgement, n_before: int
) -> dict[str, Any]:
    moved = grown.registration_
    left = len(set(_numbers(options.without, n_before)))
    n_rows = grown.n_rows
    return {
        "schema": "dualfold.update/1",
        "dualfold": __version__,
        "sources": options.files or [],
        "rows": n_rows,
        "added": n_rows - n_before + left,
        "left": left,
        "staleness": None if judged.staleness is None else judged.staleness.to_dict(),
        "new_rows": None if judged.new_rows is None else judged.new_rows.to_dict(),
        "verdict": judged.verdict.to_dict(),
        "refit": None
        if moved is None
        else {"registration": moved.to_dict(), "certificate": grown.certificate_.to_dict()},
        "map": options.output,
    }


def _lines(
    options: UpdateOptions, grown: UpdatedMap, judged: _Judgement, summary: dict[str, Any]
) -> list[str]:
    """What was done and found, in sentences."""
    added, left = summary["added"], summary["left"]
    target = options.save_model or options.model
    gone = f", {left:,} left" if left else ""
    lines = [f"{counted(added, 'row')} added{gone}: {grown.n_rows:,} rows on the map → {target}"]
    if options.output is not None:
        lines.append(f"Points in {options.output}")
    if judged.staleness is not None:
        lines.append(f"Staleness: {judged.staleness}")
    if judged.new_rows is not None:
        lines.append(str(judged.new_rows))
    lines.append(f"Verdict: {judged.verdict}.")
    if grown.registration_ is not None:
        lines.append(f"Fitted again: {grown.certificate_}. {grown.registration_}")
    return lines


def _write_points(
    options: UpdateOptions, grown: UpdatedMap, model: Model, summary: dict[str, Any]
) -> None:
    """The points of all rows, with their numbers and the update that each came with."""
    columns: dict[str, Any] = {"row": np.arange(grown.n_rows) + 1, "update": grown.batch_}
    for axis in range(grown.embedding_.shape[1]):
        columns[f"{model.method}_{axis + 1}"] = grown.embedding_[:, axis]
    write_table(str(options.output), columns, overwrite=options.force, metadata=summary)
