"""Names inside the rooms that tests of the command line need, each with its reason.

Everything else is tested as a user would: words in, text, files and an exit code out.
"""

from __future__ import annotations

# Warnings end where the console sends them.
from dualfold.cli import console

# What is typed becomes a reading, and a reading the words that are typed for it.
from dualfold.cli.commands import as_command, reading_flag, reading_words

# Work in threads where no signal comes.
from dualfold.cli.exit_codes import interruptible

# Every option of every method is tried, by its own constraints.
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

# When counts are offered, and which columns name rows: many tables, no command for each.
from dualfold.data.counts import looks_like_counts
from dualfold.data.identifiers import names_of_rows
from dualfold.data.reading import DEFAULT_READING, DEFAULT_VALUES, READING_OPTIONS, reading_of

# What is stored beside coordinates.
from dualfold.data.table_writer import read_metadata, write_table
from dualfold.exploration.input_table import duplicate_counts, read_input
from dualfold.exploration.plan import Plan

# The default that the help names; the rows by which maps of counts are judged.
from dualfold.methods.descriptions.graph_methods import DEFAULT_N_NEIGHBORS
from dualfold.methods.maps.profile_map import chi_square_rows

# A certificate is made to fail.
from dualfold.trace import certificate as certificates
from dualfold.view.colors import coloring_of
