"""The files of a map that `dualfold embed` makes: coordinates, pictures, model, loadings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dualfold.cli.console import Console
from dualfold.cli.output_files import UNNAMED_ENDINGS, write_map, write_picture
from dualfold.cli.wording import command_texts
from dualfold.data.table_writer import write_table
from dualfold.data.written_columns import written_columns
from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.axis_remarks import loadings_columns
from dualfold.exploration.summary import appended_columns, output_columns, summary_of
from dualfold.models import save_model
from dualfold.view.figures import figure_bytes

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.cli.embed import EmbedOptions
    from dualfold.exploration import Exploration


def write_files(
    options: EmbedOptions, explored: Exploration, console: Console
) -> dict[str, object]:
    """Write coordinates, pictures, model and loadings; what is stored beside the coordinates.

    All are made before the first is written.
    """
    force = options.force
    pictures = _pictures(options, explored, console)
    # Not every rule of new points can be stored in a file.
    model: Any = None if options.save_model is None else explored.model
    columns = _output_columns(options, explored)
    names = list(columns)[-explored.points.shape[1] :]
    notices = command_texts(explored.notes)
    summary = summary_of(explored, coordinates=names, appended=options.append, notices=notices)
    with console.stage("writing"):
        write_map(options, columns, summary, explored.data.rows)
    for path, content in pictures.items():
        write_picture(path, content, force=force)
    if options.save_model is not None:
        save_model(options.save_model, model, overwrite=force)
    if options.loadings is not None:
        loadings = loadings_columns(explored.fitted, explored.data)
        apostrophes = options.spreadsheet
        write_table(options.loadings, loadings, overwrite=force, spreadsheet=apostrophes)
    return summary


def _output_columns(options: EmbedOptions, explored: Exploration) -> dict[str, Array]:
    """The columns of the output: FILE's own and the coordinates, or names and coordinates."""
    if options.append and explored.data.table.crossed:
        raise InvalidInput(
            Argument("append"),
            f" needs a row of {options.file} for each point, and these are levels of a long table; "
            "leave it out",
        )
    if options.append:
        source = written_columns(options.file, explored.data.reading)
        return appended_columns(source, explored.data, explored.fitted)
    data = explored.data
    if str(options.output).lower().endswith(UNNAMED_ENDINGS):
        data = replace(data, table=replace(data.table, row_names={}))
    return output_columns(data, explored.fitted)


def _pictures(options: EmbedOptions, explored: Exploration, console: Console) -> dict[str, bytes]:
    """The files of --biplot and --picture, not yet written."""
    if options.picture is None and options.biplot is None:
        return {}

    drawn = {}
    # matplotlib warns of letters its font lacks and of tight layouts; neither is for a user
    with console.stage("drawing"), console.note_warnings([]):
        if options.biplot is not None:
            drawn[options.biplot] = figure_bytes(explored.biplot(), options.biplot)
        if options.picture is not None:
            drawn[options.picture] = figure_bytes(explored.plot(), options.picture)
    return drawn
