"""`dualfold.explore`: a table in, a map that is judged out."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dualfold.data.reading import Reading
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.exploration.axis_remarks import map_with_arrows, variance_line
from dualfold.exploration.fitted_map import FittedMap, fit_map
from dualfold.exploration.input_table import refuse_images, refuse_labels, refuse_weight
from dualfold.exploration.listener import Listener, NoteCollector
from dualfold.exploration.map_judgement import judgement_of_map
from dualfold.exploration.map_page import maps_content
from dualfold.exploration.method_choice import chosen_plan
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.plan import SCORED_NEIGHBORS, Plan
from dualfold.exploration.summary import model_of_map, output_columns, summary_of
from dualfold.exploration.table_meaning import axis_titles, first_color, values_of_column
from dualfold.exploration.verdict_words import both_parts
from dualfold.methods.descriptions import DESCRIPTIONS, description_of
from dualfold.notebook import shown_html
from dualfold.view import make_page
from dualfold.view.figures import map_figure
from dualfold.view.group_labels import draw_group_names, untested_note
from dualfold.view.inline_page import InlinePage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.judging import Judgement
    from dualfold.judging.recommendation import Recommendation
    from dualfold.models import Model
    from dualfold.view import PageContent


@dataclass(frozen=True, eq=False, repr=False)
class Exploration:
    """A table, a map of it, and what is known of both; `explore` makes it, `print` it.

    Attributes
    ----------
    data : Prepared
        The table as the method took it, with its labels and names.
    fitted : FittedMap
        The map with its method and options.
    judgement : Judgement
        What the map shows of the table (overall order, who is near whom, groups), what axes and
        groups mean in the words of its columns, and what not to read from it.
    cache : NeighborCache
        The neighbours of the rows, which are searched once.

    Examples
    --------
    >>> import dualfold
    >>> from dualfold.data import swiss_roll
    >>> found = dualfold.explore(swiss_roll(300, random_state=0).points, "isomap")
    >>> print(repr(found).split("\\n")[0])
    300 rows × 3 columns of the ndarray → 2 coordinates of isomap
    >>> list(found.to_frame())
    ['isomap_1', 'isomap_2']
    """

    data: Prepared
    fitted: FittedMap
    judgement: Judgement
    cache: NeighborCache

    @property
    def points(self) -> Array:
        """The map: a row of coordinates for each row of `data`."""
        points: Array = self.fitted.points
        return points

    @property
    def embedding_(self) -> Array:
        """Map as fitted estimators call it: `points`."""
        return self.points

    @property
    def estimator(self) -> Any:
        """The fitted estimator of the method."""
        return self.fitted.estimator

    @property
    def certificate(self) -> Any:
        """Bound on how far from the best map of this method it can be."""
        return self.fitted.certificate

    @property
    def advice(self) -> Recommendation | None:
        """Recommendation that decided `method="auto"`; None where nobody asked."""
        return self.fitted.plan.advice

    @property
    def verdict(self) -> str:
        """The two answers: what the map shows of the table, and what was solved."""
        return both_parts(self.fitted.solved, self.judgement)

    @property
    def findings(self) -> list[str]:
        """All that is told of the map: what axes explain and follow, its groups, the two answers.

        Returns
        -------
        list of str
            Lines of text.
        """
        fitted, meaning, groups = self.fitted, self.judgement.meaning, self.judgement.groups
        explains, filled = fitted.plan.method.explains, self.data.filled_share
        lines = variance_line(fitted.variance_shares, filled, explains)
        lines += [] if meaning is None else meaning.lines
        lines += [] if groups is None else groups.lines
        return [*lines, self.verdict]

    @property
    def sampled(self) -> int:
        """Number of rows that the share of neighbours kept was counted on."""
        near = self.judgement.neighborhoods
        return len(self.points) if near is None else near.sampled

    @property
    def caption(self) -> str:
        """The two answers, a sentence each, as pictures have them."""
        headline = [self.judgement.headline] if self.judgement.is_measured else []
        return "\n".join([*headline, self.fitted.solved])

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about everything that was decided or needs attention, first the table's."""
        return (*self.data.notices, *self.fitted.notices, *self.judgement.remarks)

    def to_frame(self) -> Any:
        """The coordinates, with what names and colours the rows.

        Returns
        -------
        pandas.DataFrame
            A row for each row of `data`; the coordinates are the last columns.
        """
        import pandas as pd

        return pd.DataFrame(output_columns(self.data, self.fitted))

    def to_dict(self) -> dict[str, object]:
        """Settings, judgement and certificate, as `dualfold embed` stores them.

        Returns
        -------
        dict
            Settings, verdict, certificate and notices, ready for JSON.
        """
        return summary_of(self)

    def plot(self, *, title: str = "", verdict: str | None = None) -> Figure:
        """The map as a figure of matplotlib, coloured as the table was asked to be.

        Parameters
        ----------
        title : str, default=""
            Above the map; "" stands for the table and the method.
        verdict : str or None, default=None
            Under the map; None stands for `self.caption`.

        Returns
        -------
        matplotlib.figure.Figure
            The map: a strip, a plane or a space.
        """
        method, d = self.fitted.plan.method, self.points.shape[1]
        more = f" (first two of {d} coordinates)" if d > 3 else ""
        color, _ = first_color(self.data, self.judgement.meaning)
        caption = [self.caption if verdict is None else verdict]
        groups = self.judgement.groups if self.fitted.column_points is None else None
        if groups is not None:
            caption.append(untested_note(groups))
        figure = map_figure(
            self.points,
            values_of_column(self.data, color),
            title=title or self._title + more,
            verdict="\n".join(filter(None, caption)),
            color_name=color or "",
            axis_names=axis_titles(self.fitted, self.judgement.meaning)[:3],
            equal=method.lengths,
            columns=self.fitted.column_points,
            names=[str(name) for values in self.data.row_names.values() for name in values],
        )
        if groups is not None:
            draw_group_names(figure, groups)
        return figure

    def biplot(self, *, title: str = "") -> Figure:
        """The map with the columns as arrows: loadings of its axes, else correlations.

        Parameters
        ----------
        title : str, default=""
            Above the map; "" stands for the table and the method.

        Returns
        -------
        matplotlib.figure.Figure
            The first two coordinates with the arrows.
        """
        words = {"title": title or self._title, "verdict": self.caption}
        return map_with_arrows(self.fitted, self.data, **words)

    @property
    def _title(self) -> str:
        source = "standard input" if self.data.source == "-" else Path(self.data.source).name
        return f"{source}, {self.fitted.plan.method.name}"

    def page(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        images: tuple[int, int] | None = None,
        with_text: bool = True,
        overwrite: bool = False,
    ) -> InlinePage:
        """Make a page to explore the map with its table, that works offline.

        Parameters
        ----------
        path : str, PathLike or None, default=None
            Where it is written, whole or not at all; None writes nothing.
        images : tuple or None, default=None
            The shape of the rows (height, width), where each row is a picture.
        with_text : bool, default=True
            Whether the page holds the texts of the rows; their total is limited.
        overwrite : bool, default=False
            Whether a file that is there is replaced.

        Returns
        -------
        InlinePage
            It shows itself in a notebook.
        """
        refuse_images(self.data, images)
        content = self.page_content(NoteCollector(), images=images, with_text=with_text)
        made = make_page(content)
        page = InlinePage(made.html, made.notices)
        if path is not None:
            page.write(path, overwrite=overwrite)
        return page

    def page_content(
        self,
        listener: Listener,
        *,
        images: tuple[int, int] | None = None,
        with_text: bool = True,
    ) -> PageContent:
        """Content of the page: the map with its measures, the table, the notes.

        Parameters
        ----------
        listener : Listener
            Who hears that the map is measured.
        images : tuple or None, default=None
            The shape of the rows (height, width), where each row is a picture.
        with_text : bool, default=True
            Whether the page holds the texts of the rows.

        Returns
        -------
        PageContent
            What `dualfold.view.make_page` takes.
        """
        return maps_content(
            self.data,
            [self.fitted],
            [self.judgement],
            self.cache,
            listener,
            notes=self.notes,
            images=images,
            with_text=with_text,
        )

    @property
    def model(self) -> Model:
        """The map with all that places new rows; `dualfold.saved.save_model` keeps it."""
        return model_of_map(self)

    def transform(self, table: Any, *, vectors: Any = ()) -> Array:
        """The places of new rows on the map.

        Parameters
        ----------
        table : str, path, data frame or array
            Rows with the columns of the first table, found by their names.
        vectors : str or sequence of str, default=()
            Columns or a .npy file with the vectors of these rows; (): those that the map was made
            of. A file needs a row for each row of the table.

        Returns
        -------
        ndarray of shape (n_rows, n_coordinates)
            A point for each of the new rows.
        """
        model = self.model
        return model.map(model.prepared_rows(table, Reading(vectors=vectors)).X)

    def __repr__(self) -> str:
        rows, d = self.points.shape
        lines = [
            f"{counted(rows, 'row')} × {counted(len(self.data.sources), 'column')} of "
            f"{self.data.source} → {counted(d, 'coordinate')} of {self.fitted.plan.method.name}",
            *self.findings,
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        first, *lines = repr(self).split("\n")
        return shown_html(first, "", [[line] for line in lines])


def explored(
    plan: Plan, data: Prepared, listener: Listener, *, for_page: bool = False
) -> Exploration:
    """Fit, certify, judge: from a plan and a table to a map and what is known of it.

    for_page : whether there will be a page, which shows more neighbours
    """
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=for_page)
    cache = NeighborCache(data, [plan], listener, least)
    fitted = fit_map(plan, data, listener, cache)
    judgement = judgement_of_map(fitted, data, cache, listener)
    return Exploration(data, fitted, judgement, cache)


def explore(
    table: Any,
    method: str | None = None,
    *,
    n_components: int | str | None = None,
    n_neighbors: int | None = None,
    **choices: Any,
) -> Exploration:
    """A table becomes a map that is certified and judged: what `dualfold embed` does, in Python.

    Numbers, categories and dates are used. Columns whose scales differ are standardised, missing
    values are imputed, and columns without information are left out. Each of these decisions is
    a sentence in `notes`, with the argument that changes it, if there is one.

    Parameters
    ----------
    table : data frame, str, path or array
        A data frame of pandas or polars, the name of a file that `dualfold.data.read_table`
        reads, or an array or sparse matrix of n rows.
    method : str or None, default=None
        One of `dualfold methods`; None is "pca", or "famd" where there are categories; "auto"
        tries some, as `dualfold.recommend` does.
    n_components : int, str or None, default=None
        How many coordinates, or "auto" where a method takes it; None is 2, or 1 where the table
        allows no more.
    n_neighbors : int or None, default=None
        For methods with a graph; None is their default.
    **choices
        The fields of `dualfold.data.Reading` (`color`, `identifier`, `exclude`, `keep`,
        `category`, `missing`, …), and the options of the method (`perplexity`, `landmarks`, …).

    Returns
    -------
    Exploration
        With `points`, `verdict`, `notes`, `certificate`, `estimator`, `data`; `plot()`, `page()`
        and `transform(new_rows)`.

    Examples
    --------
    >>> import pandas as pd
    >>> import dualfold
    >>> shops = pd.DataFrame({"size": [1.0, 2.0, 3.0, 9.0] * 5, "staff": [1, 2, 2, 6] * 5})
    >>> found = dualfold.explore(shops, method="pca")
    >>> found.points.shape, found.certificate.level
    ((20, 2), 'proved')
    >>> found.transform(shops[:3]).shape
    (3, 2)
    """
    listener = NoteCollector()
    known = {one.name for one in fields(Reading)}
    reading = Reading(**{name: value for name, value in choices.items() if name in known})
    options = {name: value for name, value in choices.items() if name not in known}
    if n_neighbors is not None:
        options["n_neighbors"] = n_neighbors
    named = _method_name(method, options)
    plan = chosen_plan(table, named, reading, n_components, listener)
    _refuse_foreign(options, plan.method.name)
    plan = plan.with_choices(n_components, options)
    if reading.mixed == "gower":
        plan = plan.by_manhattan()
    refuse_labels(reading.labels, plan)
    refuse_weight(reading.weight, plan)
    return explored(plan, plan.read(table, plan.reading_of(reading), listener), listener)


def _method_name(method: str | None, options: dict[str, object]) -> str | None:
    """The method as its description calls it; options without a method are those of pca."""
    if method == "auto":
        own = [name for name in options if name != "n_neighbors"]
        if own:
            raise InvalidInput(
                Argument(own[0]),
                " is an option of one method; name it instead of ",
                Argument("method", "auto"),
            )
        return method
    if method is None:
        return "pca" if options else None
    try:
        return description_of(method).name
    except LookupError as error:
        raise InvalidInput(Argument("method", method), f": {error.args[0]}") from None


def _refuse_foreign(options: dict[str, object], method: str) -> None:
    """Choices that are neither of the reading nor of the method."""
    for name in options:
        if name in DESCRIPTIONS[method].options:
            continue
        owners = [row.name for row in DESCRIPTIONS.values() if name in row.options]
        of_others = f" is an option of {', '.join(owners[:4])}, not of {method}"
        nothing = f" is neither a field of dualfold.data.Reading nor an option of {method}"
        takes = ", ".join(DESCRIPTIONS[method].options) or "no options"
        raise InvalidInput(
            Argument(name), of_others if owners else nothing, f"; {method} takes {takes}"
        )
