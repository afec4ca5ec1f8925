"""The one door between the command line and the HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dualfold.cli.reading import Data
from dualfold.cli.solving import Made
from dualfold.cli.talk import Voice
from dualfold.errors import InvalidInput, MissingDependency

# Beyond, the page's measures come from that many points drawn.
MOST_ROWS_WHOLE, DRAWN = 5_000, 1_000


def check_page() -> None:
    """Refuse --html now if the page cannot be written later."""
    try:
        import dualfold.view.page  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise MissingDependency(
            f"--html needs the page of dualfold.view, which is not there ({error}); --picture "
            "draws the map without it"
        ) from error


def write_html(
    path: str,
    data: Data,
    maps: Sequence[Made],
    voice: Voice,
    *,
    images: tuple[int, int] | None,
    force: bool,
) -> None:
    """One page with these maps of one table."""
    check_page()
    from dualfold.graph import nearest
    from dualfold.quality import report
    from dualfold.view.page import Map, write_page

    n = data.X.shape[0]
    k = min(SHOWN_NEIGHBORS, n - 1)
    with voice.doing("measuring the map for the page"):
        near = nearest(data.X, k).indices
        shown = []
        for made in maps:
            points = made.embedding.points
            quality = None
            if n > 2 * k + 1:
                drawn = None if n <= MOST_ROWS_WHOLE else DRAWN
                quality = report(data.X, points, n_neighbors=k, sample=drawn)
            history = None if made.unfolding is None else made.unfolding.solution.history
            certificate, values = made.embedding.certificate, made.embedding.values
            name = made.job.method.name
            shown.append(Map(name, points, values, certificate, quality, near, history))
    with voice.doing("writing the page"):
        write_page(
            Path(path),
            shown,
            title="table" if data.reading.source == "-" else Path(data.reading.source).name,
            columns=dict(data.table.labels),
            names=data.label(data.reading.identifier),
            images=_pictures(data, images),
            force=force,
        )


SHOWN_NEIGHBORS = 10


def _pictures(data: Data, shape: tuple[int, int] | None) -> Any:
    if shape is None:
        return None
    n, width = data.table.X.shape
    if shape[0] * shape[1] != width:
        raise InvalidInput(
            f"pictures of {shape[0]}×{shape[1]} have {shape[0] * shape[1]} pixels, but a row has "
            f"{width} columns; give --images the shape of a row"
        )
    import numpy as np

    dense = data.table.X if isinstance(data.table.X, np.ndarray) else data.table.X.toarray()
    return dense.reshape(n, *shape)
