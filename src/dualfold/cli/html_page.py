"""The one door between the command line and the HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.input_table import notices_of
from dualfold.cli.job import FittedMap
from dualfold.cli.neighbor_cache import Surroundings
from dualfold.errors import Argument, InvalidInput, MissingDependency

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.view.page import Page

# Neighbours of a point that the page shows.
SHOWN_NEIGHBORS = 10


def check_page() -> None:
    """Refuse --html now if the page cannot be written later."""
    try:
        import dualfold.view.page  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            Argument("html"),
            f" needs the page of dualfold.view, which is not there ({error}); ",
            Argument("picture"),
            " draws the map without it",
        ) from error


def write_html(
    path: str,
    data: Prepared,
    maps: Sequence[FittedMap],
    around: Surroundings,
    console: Console,
    *,
    images: tuple[int, int] | None,
    force: bool,
    most_mb: float,
) -> None:
    """One page with these maps of one table, and all of its columns.

    most_mb : megabytes of the file; 0 for no limit
    """
    check_page()
    from dualfold.data.prepared import colors_of
    from dualfold.view.page import PageContent, make_page
    from dualfold.view.page_map import Map, measured_map

    k = min(SHOWN_NEIGHBORS, (data.X.shape[0] - 1) // 2)
    with console.doing("measuring the map for the page"):
        near = around.nearest(k)
        shown = [
            measured_map(
                Map(
                    fitted.job.method.name,
                    fitted.points,
                    values=fitted.values or None,
                    certificate=fitted.certificate,
                    neighbors=near,
                    history=fitted.estimator.history_ if fitted.job.method.dual else None,
                    pieces=fitted.pieces,
                    equal=fitted.job.method.lengths,
                    explained=fitted.explained,
                ),
                around.space,
                n_neighbors=SHOWN_NEIGHBORS,
            )
            for fitted in maps
        ]
    with console.doing("making the page"):
        content = PageContent(
            shown,
            title="table" if data.source == "-" else Path(data.source).name,
            columns={name: colors_of(values) for name, values in data.table.labels.items()},
            features=data.numbers,
            names=data.label(data.reading.identifier),
            images=_pictures(data, images),
            # A column that looks like the answer is what somebody wants to see first.
            color=data.reading.color or next(iter(data.answers), None),
            most_mb=most_mb or None,
            notes=notices_of(data),
        )
        page = make_page(content)
    put(page, path, console, force=force)


def put(page: Page, path: str, console: Console, *, force: bool) -> None:
    """Write a page; what was left out and how large it is are said before."""
    for notice in page.notices:
        console.note(notice)
    console.say(f"The page takes {page.megabytes}.")
    with console.doing("writing the page"):
        page.write(Path(path), overwrite=force)


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
