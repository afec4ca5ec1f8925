"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

from dualfold.errors import InvalidInput
from tests.data.door import atomic_folder, folder_writers, write_table


def test_a_part_that_is_written_when_another_fails_is_waited_for(tmp_path):
    begun = threading.Event()

    def slow(folder):
        with folder_writers:
            begun.set()
            time.sleep(0.1)
            (folder / "c").mkdir(parents=True, exist_ok=True)  # as Zarr makes its folders

    def fails():
        with atomic_folder(tmp_path / "out.zarr", overwrite=False) as folder:
            threading.Thread(target=slow, args=(folder,)).start()
            begun.wait()
            raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        fails()
    time.sleep(0.2)
    assert not list(tmp_path.iterdir())


class InterruptedHereError(Exception):
    pass


def interrupted(*_, **__):
    raise InterruptedHereError


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.npy", "o.parquet"])
@pytest.mark.parametrize("there_before", [True, False])
def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch, name, there_before):
    before = {name: b"old", name + ".json": b"{}"} if there_before else {}
    for old, content in before.items():
        (tmp_path / old).write_bytes(content)
    # Interrupted after the content and before the name.
    monkeypatch.setattr("dualfold.data.atomic_files.os.fsync", interrupted)
    with pytest.raises(InterruptedHereError):
        write_table(tmp_path / name, {"a": [1.0]}, overwrite=True, metadata={"k": 1})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_interrupted_in_the_middle_of_the_content(tmp_path, monkeypatch):
    def half(self, file, **_):
        file.write("a,b\n1,")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", half)
    with pytest.raises(KeyboardInterrupt):
        write_table(tmp_path / "o.csv", {"a": [1.0]}, metadata={"k": 1})
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "o.csv"
    write_table(path, {"a": [1.5]})
    with pytest.raises(InvalidInput, match="overwrite=True"):
        write_table(path, {"a": [2.5]})
    assert path.read_text() == "a\n1.5\n"
    path.chmod(0o640)
    write_table(path, {"a": [2.5]}, overwrite=True)
    assert path.read_text() == "a\n2.5\n"
    assert path.stat().st_mode & 0o777 == 0o640
    # The metadata's file counts, too, and neither is left half done.
    other = tmp_path / "p.csv"
    (tmp_path / "p.csv.json").write_text("mine")
    with pytest.raises(InvalidInput, match=r"p\.csv\.json exists"):
        write_table(other, {"a": [2.5]}, metadata={"k": 1})
    assert not other.exists()


def test_a_file_that_appears_meanwhile_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "o.csv"
    original = pd.DataFrame.to_csv

    def slow(self, file, **options):
        path.write_text("someone else's")
        original(self, file, **options)

    monkeypatch.setattr(pd.DataFrame, "to_csv", slow)
    with pytest.raises(InvalidInput, match="exists already"):
        write_table(path, {"a": [1.5]})
    assert path.read_text() == "someone else's"
    assert [file.name for file in tmp_path.iterdir()] == ["o.csv"]
