"""The HTML page of a command: its maps measured, its table beside them, written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.options import picture_shape
from dualfold.cli.wording import command_texts
from dualfold.errors import Argument, InvalidInput, MissingDependency
from dualfold.exploration.job import FittedMap
from dualfold.exploration.neighbor_cache import NeighborCache

if TYPE_CHECKING:
    from dualfold.cli.audit import AuditOptions
    from dualfold.cli.compare import CompareOptions
    from dualfold.cli.embed import EmbedOptions
    from dualfold.data import Prepared
    from dualfold.view.page import PageContent

# Neighbours of a point that the page shows.
SHOWN_NEIGHBORS = 10


def refuse_missing_page() -> None:
    """Refuse --html now if the page cannot be made later."""
    try:
        import dualfold.view.page  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            Argument("html"),
            f" needs the page of dualfold.view, which is not there ({error}); ",
            Argument("picture"),
            " draws the map without it",
        ) from error


def write_maps(
    options: EmbedOptions | CompareOptions,
    data: Prepared,
    maps: Sequence[FittedMap],
    cache: NeighborCache,
    console: Console,
) -> None:
    """One page with these maps of one table, and all of its columns."""
    refuse_missing_page()
    from dualfold.view.page import PageContent
    from dualfold.view.page_map import Map, measured_map

    k = min(SHOWN_NEIGHBORS, (data.X.shape[0] - 1) // 2)
    with console.stage("measuring the map for the page"):
        near = cache.nearest(k)
        measured = []
        for fitted in maps:
            method = fitted.job.method
            shown = Map(
                method.name,
                fitted.points,
                values=fitted.values or None,
                certificate=fitted.certificate,
                neighbors=near,
                history=fitted.estimator.history_ if method.dual else None,
                pieces=fitted.pieces,
                equal=method.lengths,
                explained=fitted.variance_shares,
            )
            measured.append(measured_map(shown, cache.spaces[0], n_neighbors=SHOWN_NEIGHBORS))
    content = PageContent(
        measured,
        title="table" if data.source == "-" else Path(data.source).name,
        columns=label_columns(data),
        features=data.numbers,
        names=data.label(data.reading.identifier),
        rows=data.rows + 1,
        images=_pictures(data, picture_shape(options.images)),
        # A column that looks like the target is the one to show first.
        color=data.color_name,
        notes=command_texts(data.notices),
    )
    write_content(options, content, console)


def label_columns(data: Prepared) -> dict[str, Any]:
    """The labels of a table as a page colours by them."""
    from dualfold.data.prepared import colors_of

    return {name: colors_of(values) for name, values in data.table.labels.items()}


def write_content(
    options: EmbedOptions | CompareOptions | AuditOptions, content: PageContent, console: Console
) -> None:
    """Make the page of --html and write it; its size and what is left out are noted before."""
    from dualfold.view.page import make_page

    with console.stage("making the page"):
        page = make_page(replace(content, most_mb=options.html_mb or None))
    for notice in page.notices:
        console.note(notice)
    console.say(f"The page takes {page.megabytes}.")
    with console.stage("writing the page"):
        page.write(Path(str(options.html)), overwrite=options.force)


def refuse_images(data: Prepared, shape: tuple[int, int] | None) -> None:
    """Before any work: rows that are no pictures of this shape."""
    width = data.table.X.shape[1]
    if shape is not None and shape[0] * shape[1] != width:
        raise InvalidInput(
            f"pictures of {shape[0]}×{shape[1]} have {shape[0] * shape[1]} pixels, but a row has "
            f"{width} columns; give ",
            Argument("images"),
            " the shape of a row",
        )


def _pictures(data: Prepared, shape: tuple[int, int] | None) -> Any:
    if shape is None:
        return None
    import numpy as np

    dense = data.table.X if isinstance(data.table.X, np.ndarray) else data.table.X.toarray()
    return (*shape, dense)
