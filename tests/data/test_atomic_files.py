"""Folders that are written whole or not at all."""

from __future__ import annotations

import threading
import time

import pytest

from dualfold.data.atomic_files import atomic_folder, folder_writers


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
