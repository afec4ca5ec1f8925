"""Names inside the room that its tests need, each with its reason.

Everything else is tested through `dualfold.explore` and the command line.
"""

from __future__ import annotations

from dualfold.cli.app import app

# Two listeners: the command line's and the one that collects.
from dualfold.cli.console import Console
from dualfold.data.table_writer import read_metadata

# Copies are held to a comparison of every pair of rows.
from dualfold.exploration.copies import copied_rows
from dualfold.exploration.listener import NoteCollector
from dualfold.exploration.table_meaning import first_color

# Words of certificates of every level, which no fit of a small table has.
from dualfold.exploration.verdict_words import short_verdict, verdict

# Searches are counted.
from dualfold.graph import neighbors

# Forged parts of a model file.
from dualfold.methods.maps.parts import Parts
