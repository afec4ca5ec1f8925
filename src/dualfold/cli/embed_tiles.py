"""`dualfold embed` of tables larger than memory: in tiles, here or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.output_files import stem
from dualfold.cli.verdict_words import verdict
from dualfold.errors import Argument, InvalidInput

if TYPE_CHECKING:
    from dualfold.cli.job import Job
    from dualfold.data import Reading

# How a table in tiles can be read; the other choices look at all rows.
HEEDED = ("identifier", "exclude", "standardize", "format")
# Rows that decide whether the scales of the columns differ.
LOOKED_AT = 10_000
SCORED_NEIGHBORS = 10


@dataclass(frozen=True)
class TilesRequest:
    """What `dualfold embed` was asked for, of a table in tiles.

    memory_limit : of this process, as "2GB"; scheduler : the address of a Dask scheduler
    landmarks : rows that graph methods are fitted on
    """

    source: str
    reading: Reading
    job: Job
    output: str
    memory_limit: str | None = None
    scheduler: str | None = None
    landmarks: int | None = None
    force: bool = False


def wanted(source: str, memory_limit: str | None, scheduler: str | None) -> bool:
    """Whether a command asks for tiles: by an option, or by a folder of files."""
    return memory_limit is not None or scheduler is not None or Path(source).is_dir()


def refuse_extras(method: str | None, *extras: Any) -> None:
    """What is drawn or kept from all points at once."""
    if method == "auto":
        raise InvalidInput(
            Argument("method", "auto"), " looks at all rows; name a method for a table in tiles"
        )
    if any(extra is not None for extra in extras):
        raise InvalidInput(
            "pictures, pages, models and loadings are made of all points at once, and this is a "
            "table in tiles; make them of a sample of its rows"
        )


def default_tiles_output(source: str, method: str) -> str:
    """The table's name with the method in it, in the working directory."""
    ending = ".zarr" if Path(source).suffix == ".zarr" else ".parquet"
    return f"{stem(source)}.{method}{ending}"


def embed_tiles(request: TilesRequest, console: Console) -> dict[str, Any]:
    """Fit, place all rows, write; returns what `--json` prints."""
    from dualfold.data.atomic_files import check_folder_place
    from dualfold.scale.writing import refuse_ending, write

    _refuse_others(request)
    place = Path(request.output)
    refuse_ending(place)
    check_folder_place(place, overwrite=request.force)
    begin = perf_counter()
    with _cluster(request.scheduler, console):
        rows, names, notices = _opened(request, console)
        estimator = request.job.estimator()
        with console.noting_warnings(notices), console.doing(request.job.method.name):
            lazy = estimator.fit_transform(rows)
        fitted = perf_counter()
        places = _named(lazy, names, request, rows)
        summary = _summary(request, rows, estimator, notices)
        with console.doing("placing and writing rows"):
            limit = request.memory_limit
            write(places, place, overwrite=request.force, metadata=summary, memory_limit=limit)
    seconds = {"fit": fitted - begin, "total": perf_counter() - begin}
    return summary | {"output": request.output, "seconds": seconds}


def _opened(request: TilesRequest, console: Console) -> tuple[Any, Any, list[str]]:
    """The table, the names of its rows (a lazy column, or None), and what is to be said."""
    from dualfold.scale.table import DEFAULT_LANDMARKS, table

    count = request.landmarks or DEFAULT_LANDMARKS
    limit, reading = request.memory_limit, request.reading
    whole = table(request.source, memory_limit=limit, landmarks=count)
    if not whole.is_frame:
        if reading.identifier or reading.exclude:
            raise InvalidInput(
                Argument("exclude" if reading.exclude else "identifier"),
                f" names a column, and {request.source} is an array without names",
            )
        notices: list[str] = []
        return _weighed(whole, request, console, notices), None, notices
    names, notices = None, []
    columns = [str(name) for name in whole.meta.columns]
    for name in (*reading.exclude, *filter(None, [reading.identifier])):
        if name not in columns:
            raise InvalidInput(f"there is no column {name!r} in {request.source}")
    left = {*reading.exclude, reading.identifier}
    if request.job.method.name != "famd":
        numbers = set(whole.meta.select_dtypes("number").columns.astype(str))
        text = [name for name in columns if name not in numbers and name not in left]
        if text:
            notices.append(f"{', '.join(text)}: no numbers, left out; famd uses categories, too")
            left |= set(text)
    if reading.identifier is not None:
        names = whole.collection[reading.identifier]
    kept = [name for name in columns if name not in left]
    rows = table(request.source, columns=kept, memory_limit=limit, landmarks=count)
    for notice in notices:
        console.note(notice)
    return _weighed(rows, request, console, notices), names, notices


def _weighed(rows: Any, request: TilesRequest, console: Console, notices: list[str]) -> Any:
    """The table with columns of the same weight, where asked for or where scales differ much."""
    asked = request.reading.standardize
    if request.job.method.name == "famd" or asked is False:
        return rows
    if asked is None and not _scales_differ(rows):
        return rows
    if asked is None:
        notice = (
            "columns are in different units and get the same weight; --no-standardize keeps them"
        )
        notices.append(notice)
        console.note(notice)
    from dualfold.scale.tile_moments import standardized

    with console.doing("standardizing"):
        return standardized(rows)[0]


def _scales_differ(rows: Any) -> bool:
    from dualfold.data.scales import different_units
    from dualfold.scale.table import drawn_row_numbers, gather_rows

    some = gather_rows(rows, drawn_row_numbers(rows.n_rows, LOOKED_AT, 0))
    names = [str(name) for name in rows.meta.columns] if rows.is_frame else []
    return different_units(some, names) is not None


def _named(lazy: Any, names: Any, request: TilesRequest, rows: Any) -> Any:
    """The places with the names of their axes, and of their rows where there are some."""
    if not hasattr(lazy, "columns"):
        return lazy
    method = request.job.method.name
    axes = {name: f"{method}_{axis + 1}" for axis, name in enumerate(lazy.columns)}
    lazy = lazy.rename(columns=axes)
    if names is None:
        return lazy
    import dask.dataframe as dd

    return dd.concat([names.to_frame(), lazy], axis=1, ignore_unknown_divisions=True)


def _summary(
    request: TilesRequest, rows: Any, estimator: Any, notices: list[str]
) -> dict[str, Any]:
    certificate = estimator.certificate_
    ratios = getattr(estimator, "explained_variance_ratio_", None)
    cost = getattr(estimator, "placing_cost_", None)
    width = int(estimator._n_features_out)
    said = verdict(request.job.method, certificate, width)
    return {
        "schema": "dualfold.embedding/1",
        "dualfold": __version__,
        "source": request.source,
        "settings": request.job.settings(),
        "reading": request.reading.settings(),
        "rows": rows.n_rows,
        "tiles": len(rows.tiles),
        "columns": [str(name) for name in rows.meta.columns] if rows.is_frame else rows.width,
        "coordinates": [f"{request.job.method.name}_{axis + 1}" for axis in range(width)],
        "notices": notices,
        "verdict": said,
        "solved": said,
        "certificate": certificate.to_dict(),
        "eigenvalues": [float(value) for value in getattr(estimator, "eigenvalues_", ())],
        "explained_variance_ratio": None if ratios is None else [float(one) for one in ratios],
        "placing_cost": None if cost is None else vars(cost),
    }


def _refuse_others(request: TilesRequest) -> None:
    """Choices of reading that need all rows at once."""
    others = [name for name in request.reading.non_default() if name not in HEEDED]
    if others:
        raise InvalidInput(
            Argument(others[0]), " is not for tables in tiles; leave it out, or change the file"
        )


@contextlib.contextmanager
def _cluster(address: str | None, console: Console) -> Iterator[None]:
    """The cluster of that address as long as the work lasts; None is threads of this process."""
    if address is None:
        yield
        return
    from dualfold.scale.engine import SchedulerLost, require_module

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
