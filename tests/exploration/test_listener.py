"""What happens between a table and its map is heard by a console, or collected in silence."""

from __future__ import annotations

import warnings

from dualfold.errors import Argument, Message, PiecesJoined
from tests.exploration.door import Console, NoteCollector


def test_a_collector_is_silent_and_keeps_notes_and_warnings_of_dualfold(capfd):
    collector, notices = NoteCollector(), []
    with collector.stage("working", 3.0), collector.note_warnings(notices):
        warnings.warn(PiecesJoined("3 pieces; ", Argument("n_neighbors", 9)), stacklevel=1)
        warnings.warn("of another package", stacklevel=1)
    collector.note("twice")
    collector.note("twice")
    collector.say("nothing")
    assert collector.notes == ["3 pieces; n_neighbors=9", "twice"]
    assert notices == ["3 pieces; n_neighbors=9."]
    assert capfd.readouterr() == ("", "")


def test_a_message_names_arguments_until_somebody_shows_it(capfd):
    console, notices = Console(), list[str]()
    with console.note_warnings(notices):
        warnings.warn(PiecesJoined("3 pieces; ", Argument("n_neighbors", 9)), stacklevel=1)
    assert isinstance(notices[0], Message)
    assert notices[0].arguments == ("n_neighbors",)
    assert "note: 3 pieces; --n-neighbors 9." in capfd.readouterr().err
