"""Names inside the room that its tests need, each with its reason."""

from __future__ import annotations

from dualfold.cli.app import app
from dualfold.cli.console import Console
from dualfold.data.table_writer import read_metadata
from dualfold.exploration.copies import copied_rows
from dualfold.exploration.listener import NoteCollector
from dualfold.exploration.table_meaning import first_color
from dualfold.exploration.verdict_words import short_verdict, verdict
from dualfold.methods.maps.parts import Parts
