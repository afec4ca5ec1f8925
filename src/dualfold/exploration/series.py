"""What `dualfold series` does with tables of the same rows at several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold import AlignedMaps
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.listener import NoteCollector, sentence
from dualfold.exploration.series_moves import Exchange, RowMove, exchanges_of, moves_of
from dualfold.exploration.series_tables import SeriesTables, read_series
from dualfold.exploration.table_meaning import label_columns
from dualfold.methods.descriptions import SERIES_METHODS, SeriesMethod
from dualfold.view.series_page import SeriesContent

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.exploration.listener import Listener

# Moves that a series lists; the page shows all of them.
MAX_MOVES = 50


@dataclass(frozen=True, eq=False)
class Series:
    """Maps of tables of the same rows at several times; `explore_series` makes it.

    Attributes
    ----------
    tables : SeriesTables
        Tables as they were read: `names` of the slices, `ids` of the rows, the joined `data`.
    aligned : AlignedMaps
        The fitted maps, with their certificate and the weight `mu_` of staying near.
    method : str
        Method of the maps.
    moves : tuple of RowMove
        The largest moves, with the columns that changed.
    exchanges : tuple of Exchange
        Who came and went between slices that follow each other.
    notes : tuple of str
        What was decided or needs attention.

    See Also
    --------
    explore_series : Makes it.

    Examples
    --------
    >>> from dualfold.data.customers import customers_by_month
    >>> from dualfold.exploration import explore_series
    >>> import pandas as pd
    >>> months = [pd.DataFrame(columns) for columns in customers_by_month(60, 0).values()]
    >>> series = explore_series(months, id="customer", method="pca")
    >>> len(series.points), series.exchanges[0].after
    (3, 'slice 2')
    """

    tables: SeriesTables
    aligned: Any
    method: str
    moves: tuple[RowMove, ...]
    exchanges: tuple[Exchange, ...]
    notes: tuple[str, ...]

    @property
    def points(self) -> list[Array]:
        """Coordinates of each slice.

        Returns
        -------
        list of ndarray
            One array for each slice, its rows in the order of `tables.ids_by_slice`.
        """
        return [np.asarray(one, dtype=float) for one in self.aligned.embeddings_]

    @property
    def verdict(self) -> str:
        """Certificate, and the number of rows that moved beyond chance.

        Returns
        -------
        str
            Two sentences.
        """
        moved = sum(int(np.sum(one)) for one in self.aligned.drift_)
        linked = sum(len(one) for one in self.aligned.links_)
        proof = sentence(str(self.aligned.certificate_))
        return f"{proof} {moved:,} of {linked:,} steps go beyond resampling."

    def columns(self) -> dict[str, Array]:
        """Coordinates of all slices as one table.

        Returns
        -------
        dict
            Slice, id, the column to colour by and coordinates, one value for each row.
        """
        data, reading = self.tables.data, self.tables.data.reading
        names = np.array(self.tables.names, dtype=object)
        columns: dict[str, Array] = {"slice": names[self.tables.slice_of_row]}
        columns[str(reading.identifier)] = self.tables.ids
        if reading.color is not None:
            columns[reading.color] = data.labels[reading.color]
        points = np.concatenate(self.points)
        prefix = self.method.replace("-", "_")
        return columns | {f"{prefix}_{k + 1}": points[:, k] for k in range(points.shape[1])}

    def to_dict(self) -> dict[str, object]:
        """All of it but the rows, ready for JSON.

        Returns
        -------
        dict
            Slices, settings, certificate, moves, who came and went, notices.
        """
        aligned = self.aligned
        return {
            "schema": "dualfold.series/1",
            "method": self.method,
            "slices": [
                {"name": name, "rows": len(ids)}
                for name, ids in zip(self.tables.names, self.tables.ids_by_slice, strict=True)
            ],
            "reading": self.tables.data.reading.settings(),
            "columns": self.tables.data.sources,
            "mu": float(aligned.mu_),
            "mu_reason": str(aligned.mu_reason_),
            "certificate": aligned.certificate_.to_dict(),
            "moved": [int(np.sum(one)) for one in aligned.drift_],
            "linked": [len(one) for one in aligned.links_],
            "moves": [
                {
                    "id": one.id,
                    "from": one.before,
                    "to": one.after,
                    "movement": one.movement,
                    "beyond_resampling": one.beyond_chance,
                    "reasons": list(one.reasons),
                }
                for one in self.moves
            ],
            "exchanges": [
                {
                    "from": one.before,
                    "to": one.after,
                    "came": list(one.came),
                    "went": list(one.went),
                }
                for one in self.exchanges
            ],
            "verdict": self.verdict,
        }

    def page_content(self, title: str = "series") -> SeriesContent:
        """Content of the page with the slider; `dualfold.view.series_page` makes it.

        Parameters
        ----------
        title : str, default="series"
            Title of the page.

        Returns
        -------
        SeriesContent
            Names, ids, points, columns, moves and words.
        """
        data = self.tables.data
        names, numbers = data.numbers
        columns = label_columns(data)
        columns.pop(str(data.reading.identifier), None)
        if isinstance(numbers, np.ndarray):
            used = {name: numbers[:, place] for place, name in enumerate(names)}
            columns |= {name: used[name] for name in used if name not in columns}
        return SeriesContent(
            title=title,
            names=self.tables.names,
            slice_of_row=self.tables.slice_of_row,
            ids=self.tables.ids,
            points=np.concatenate(self.points),
            columns=columns,
            color=data.color_name,
            moves=self.moves,
            exchanges=self.exchanges,
            verdict=self.verdict,
            weight=str(self.aligned.mu_reason_),
            method=self.method,
            notes=self.notes,
        )


def explore_series(
    tables: Sequence[Any],
    id: str | None = None,
    *,
    method: SeriesMethod = "eigenmaps",
    mu: float | str = "auto",
    reading: Reading = DEFAULT_READING,
    listener: Listener | None = None,
    **settings: Any,
) -> Series:
    """Map tables of the same rows at several times; say which rows moved and which columns changed.

    All tables are read as one: the same encoding, scale and imputation for every slice.

    Parameters
    ----------
    tables : sequence of str, path or data frame
        Two tables or more, in the order of time.
    id : str or None, default=None
        Column that names the rows; None: `reading.identifier`.
    method : {"eigenmaps", "diffusion-maps", "lpp", "pca", "tsne"}, default="eigenmaps"
        Method of the maps.
    mu : float or "auto", default="auto"
        Weight of staying near from slice to slice.
    reading : Reading, default=Reading()
        How the tables are read.
    listener : Listener or None, default=None
        Who hears stages and notes; None: nobody.
    **settings : dict
        Further parameters of `AlignedMaps`.

    Returns
    -------
    Series
        The maps with moves, reasons, and who came and went.

    Raises
    ------
    InvalidInput
        If ids are missing, repeated, or shared by no two neighbouring tables.

    See Also
    --------
    explore : The same for one table.

    Examples
    --------
    >>> from dualfold.data.customers import customers_by_month
    >>> from dualfold.exploration import explore_series
    >>> import pandas as pd
    >>> months = [pd.DataFrame(columns) for columns in customers_by_month(60, 0).values()]
    >>> explore_series(months, id="customer", method="pca").method
    'pca'
    """
    listener = NoteCollector() if listener is None else listener
    if method not in SERIES_METHODS:
        raise InvalidInput(
            Argument("method", method),
            f" has no series; those that have: {', '.join(SERIES_METHODS)}",
        )
    reading = reading if id is None else replace(reading, identifier=id)
    read = read_series(tables, reading, listener)
    warned: list[str] = []
    with listener.stage("fitting the maps"), listener.note_warnings(warned):
        aligned = _aligned_maps(read, method, mu, settings)
    moves = moves_of(read, aligned, MAX_MOVES)
    exchanges = exchanges_of(read.names, read.ids_by_slice)
    notes = (*read.notices, *read.data.notices, *warned)
    return Series(read, aligned, method, moves, exchanges, notes)


def _aligned_maps(read: SeriesTables, method: str, mu: Any, settings: dict[str, Any]) -> Any:

    slices = [read.data.X[rows] for rows in read.rows_by_slice]
    return AlignedMaps(method=method, mu=mu, **settings).fit(slices, ids=read.ids_by_slice)
