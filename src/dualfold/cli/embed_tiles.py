"""`dualfold embed` of tables larger than memory: in tiles, here or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import plans_of
from dualfold.cli.console import Console
from dualfold.cli.exit_codes import finish_certified
from dualfold.cli.output_files import stem
from dualfold.cli.wording import command_texts
from dualfold.data.atomic_files import check_folder_place
from dualfold.data.scales import different_units
from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.input_table import reading_for, refuse_weight
from dualfold.exploration.verdict_words import verdict
from dualfold.scale.engine import SchedulerLost, require_module
from dualfold.scale.tile_moments import standardized
from dualfold.scale.tiled_table import DEFAULT_LANDMARKS, drawn_row_numbers, gather_rows, table
from dualfold.scale.writing import refuse_ending, write
from dualfold.weights.row_weights import validated_weights

if TYPE_CHECKING:
    from dualfold.cli.embed import EmbedOptions
    from dualfold.exploration.plan import Plan

# How a table in tiles can be read; the other fields of `Reading` need all rows.
USED_FIELDS = ("identifier", "weight", "exclude", "standardize", "format", "plain", "tails")
# They decide whether the scales of the columns differ.
SCALE_SAMPLE_ROWS = 10_000


def embed_tiles(options: EmbedOptions, console: Console) -> None:
    """Fit, place all rows, write."""
    _refuse_all_points(options)
    (plan,) = plans_of([options.method or "pca"], options)
    _refuse_fields(options)
    reading_for(options.reading, plan)  # refuses what would change counts
    with o.usage_errors():
        refuse_weight(options.reading.weight, plan)
    output = options.output or _default_output(options.file, plan.method.name)
    refuse_ending(Path(output))
    check_folder_place(Path(output), overwrite=options.force)
    begin = perf_counter()
    with _cluster(options.scheduler, console):
        rows = _open_table(options, plan, console)
        estimator = plan.estimator()
        if plan.method.name == "famd":  # tiles have columns as the file has them, not prepared ones
            estimator.set_params(columns="mixed")
        with console.note_warnings(rows.notices), console.stage(plan.method.name):
            lazy = estimator.fit_transform(rows.table, **rows.weights)
        fitted = perf_counter()
        points = _with_names(lazy, rows.names, plan.method.name)
        solved = verdict(plan.method, estimator.certificate_, int(estimator._n_features_out))
        summary = _summary(options, plan, rows, estimator, solved)
        with console.stage("placing and writing rows"):
            limit = options.memory_limit
            write(
                points, Path(output), overwrite=options.force, metadata=summary, memory_limit=limit
            )
    seconds = {"fit": fitted - begin, "total": perf_counter() - begin}
    finish_certified(
        console,
        options,
        summary | {"output": output, "seconds": seconds},
        [solved, f"Coordinates in {output}"],
        certificate=estimator.certificate_,
        verdict=solved,
    )


def _refuse_all_points(options: EmbedOptions) -> None:
    """Refuse what is drawn or stored of all points together."""
    if options.method == "auto":
        raise InvalidInput(
            Argument("method", "auto"), " looks at all rows; name a method for a table in tiles"
        )
    drawn = (options.picture, options.html, options.images, options.biplot)
    if any(one is not None for one in (*drawn, options.save_model, options.loadings)):
        raise InvalidInput(
            "pictures, pages, models and loadings are made of all points at once, and this is a "
            "table in tiles; make them of a sample of its rows"
        )


def _refuse_fields(options: EmbedOptions) -> None:
    """Choices of reading that need all rows."""
    others = [name for name in options.reading.non_default() if name not in USED_FIELDS]
    if others:
        raise InvalidInput(
            Argument(others[0]), " is not for tables in tiles; leave it out, or change the file"
        )


def _default_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory."""
    ending = ".zarr" if Path(source).suffix == ".zarr" else ".parquet"
    return f"{stem(source)}.{method}{ending}"


@dataclass(frozen=True, eq=False)
class OpenedTiles:
    """A table in tiles as a method takes it.

    names : of its rows, a lazy column, or None
    weights : of its rows, by the argument of `fit` that takes them; {} for none
    notices : what was decided about it; warnings of the fit are added
    """

    table: Any
    names: Any
    weights: dict[str, object]
    notices: list[str]


def _open_table(options: EmbedOptions, plan: Plan, console: Console) -> OpenedTiles:
    """The columns of numbers, or all for FAMD, without those that are excluded."""
    reading, notices = options.reading, list[str]()
    limits: dict[str, Any] = {
        "memory_limit": options.memory_limit,
        "landmarks": options.landmark_rows or DEFAULT_LANDMARKS,
    }
    whole = table(options.file, **limits)
    if not whole.is_frame:
        named = [one for one in ("exclude", "identifier", "weight") if getattr(reading, one)]
        if named:
            raise InvalidInput(
                Argument(named[0]),
                f" names a column, and {options.file} is an array without names",
            )
        scaled = _scaled_table(whole, options, plan, console, notices)
        return OpenedTiles(scaled, None, {}, notices)
    columns = [str(name) for name in whole.meta.columns]
    for name in (*reading.exclude, *filter(None, [reading.identifier, reading.weight])):
        if name not in columns:
            raise InvalidInput(f"there is no column {name!r} in {options.file}")
    left_out = {*reading.exclude, reading.identifier, reading.weight}
    if plan.method.name != "famd":
        numbers = set(whole.meta.select_dtypes("number").columns.astype(str))
        text = [name for name in columns if name not in numbers and name not in left_out]
        if text:
            notices.append(f"{', '.join(text)}: no numbers, left out; famd uses categories, too")
            left_out |= set(text)
    names = None if reading.identifier is None else whole.collection[reading.identifier]
    kept = [name for name in columns if name not in left_out]
    rows = table(options.file, columns=kept, **limits)
    for notice in notices:
        console.note(notice)
    weights = _weights_of(whole, reading.weight)
    scaled = _scaled_table(rows, options, plan, console, notices, weights)
    return OpenedTiles(scaled, names, plan.with_weights(weights), notices)


def _weights_of(whole: Any, name: str | None) -> Any:
    """The column of weights, 8 bytes a row in memory; None for none."""
    if name is None:
        return None
    return validated_weights(whole.collection[name].compute(), whole.n_rows, "weight")


def _scaled_table(
    rows: Any,
    options: EmbedOptions,
    plan: Plan,
    console: Console,
    notices: list[str],
    weights: Any = None,
) -> Any:
    """The table, standardised where that is wanted or where scales differ much."""
    wanted = options.reading.standardize
    if plan.method.name == "famd" or plan.method.counts or wanted is False:
        return rows
    if wanted is None and not _scales_differ(rows):
        return rows
    if wanted is None:
        notice = (
            "columns are in different units and get the same weight; --no-standardize keeps them"
        )
        notices.append(notice)
        console.note(notice)

    with console.stage("standardizing"):
        return standardized(rows, weights)[0]


def _scales_differ(rows: Any) -> bool:

    some = gather_rows(rows, drawn_row_numbers(rows.n_rows, SCALE_SAMPLE_ROWS, 0))
    names = [str(name) for name in rows.meta.columns] if rows.is_frame else []
    return different_units(some, names) is not None


def _with_names(lazy: Any, names: Any, method: str) -> Any:
    """The points with the names of their axes, and of their rows where there are some."""
    if not hasattr(lazy, "columns"):
        return lazy
    axes = {name: f"{method}_{axis + 1}" for axis, name in enumerate(lazy.columns)}
    lazy = lazy.rename(columns=axes)
    if names is None:
        return lazy
    import dask.dataframe as dd

    return dd.concat([names.to_frame(), lazy], axis=1, ignore_unknown_divisions=True)


def _summary(
    options: EmbedOptions, plan: Plan, rows: OpenedTiles, estimator: Any, solved: str
) -> dict[str, object]:
    table, certificate = rows.table, estimator.certificate_
    ratios = getattr(estimator, "explained_variance_ratio_", None)
    cost = getattr(estimator, "placing_cost_", None)
    width = int(estimator._n_features_out)
    return {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": options.file,
        "settings": plan.settings(),
        "reading": replace(options.reading, plain=True).settings(),  # in tiles nothing is guessed
        "rows": table.n_rows,
        "tiles": len(table.tiles),
        "columns": [str(name) for name in table.meta.columns] if table.is_frame else table.width,
        "coordinates": [f"{plan.method.name}_{axis + 1}" for axis in range(width)],
        "notices": command_texts(rows.notices),
        "verdict": solved,
        "solved": solved,
        "certificate": certificate.to_dict(),
        "eigenvalues": [float(value) for value in getattr(estimator, "eigenvalues_", ())],
        "explained_variance_ratio": None if ratios is None else [float(one) for one in ratios],
        "placing_cost": None if cost is None else vars(cost),
    }


@contextlib.contextmanager
def _cluster(address: str | None, console: Console) -> Iterator[None]:
    """The cluster of that address as long as the work lasts; None is threads of this process."""
    if address is None:
        yield
        return

    distributed = require_module("distributed")
    try:
        client = distributed.Client(address)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerLost(
            f"no Dask scheduler answers at {address} ({error}); start one (dask scheduler) and its "
            "workers (dask worker), or leave out ",
            Argument("scheduler"),
        ) from error
    with client:
        console.say(f"{len(client.scheduler_info()['workers'])} workers at {address}")
        yield
