"""Names inside the room that its tests need, each with its reason."""

from __future__ import annotations

from dualfold.cli.commands import as_command, reading_flag, reading_words
from dualfold.cli.exit_codes import interruptible
from dualfold.cli.method_options import (
    METHOD_OPTIONS,
    SWITCH_OPTIONS,
    as_word,
    coordinates_option,
    method_options,
    option_words,
)
from dualfold.cli.output_files import stem
from dualfold.cli.run_demo import demo_methods, next_command
from dualfold.cli.usage import GENERAL_SECTION
from dualfold.data.counts import looks_like_counts
from dualfold.data.identifiers import names_of_rows
from dualfold.data.reading import DEFAULT_READING, DEFAULT_VALUES, READING_OPTIONS, reading_of
from dualfold.data.table_writer import read_metadata, write_table
from dualfold.exploration.input_table import duplicate_counts, read_input
from dualfold.exploration.plan import Plan
from dualfold.methods.descriptions.graph_methods import DEFAULT_N_NEIGHBORS
from dualfold.methods.maps.profile_map import chi_square_rows
from dualfold.quality.map_axes import close_axes
from dualfold.quality.picture import percent
from dualfold.view.colors import coloring_of
