"""One file of named arrays and a JSON header: data, never code.

A zip archive with `dualfold.json` first and one .npy file an array, so that any language can
read it. Nothing in it is ever unpickled or run.
"""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from dualfold.arrays import Array
from dualfold.errors import InvalidInput

HEADER = "dualfold.json"
SCHEMA, VERSION = "dualfold.model", 1
# Models up to this size are read whatever they were squeezed to; arrays of numbers shrink to a
# tenth, and those that are nearly all zeros to a hundredth.
SMALL, MOST_SQUEEZED = 2**28, 200
# Zip knows no time before 1980; a fixed one makes equal models equal files.
NO_TIME = (1980, 1, 1, 0, 0, 0)


def write_archive(file: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a header (JSON-ready) and arrays of numbers."""
    stated = {"schema": SCHEMA, "version": VERSION, **header}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_entry(HEADER), json.dumps(stated, indent=2, ensure_ascii=False))
        for name, array in arrays.items():
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a model file."""
    if not path.is_file():
        raise InvalidInput(f"there is no model file {path}; `--save-model {path}` makes one")
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_bombs(archive, path)
            header = _checked_header(archive, path)
            arrays = {}
            for entry in archive.infolist():
                if entry.filename.endswith(".npy"):
                    arrays[entry.filename.removesuffix(".npy")] = _array(archive, entry)
    except zipfile.BadZipFile as error:
        raise InvalidInput(
            f"{path} is no readable model file; `embed --save-model` and save_model make them"
        ) from error
    except (EOFError, ValueError, OSError, MemoryError, RuntimeError, zlib.error) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path} is no readable model file ({error}); save it again") from error
    return header, arrays


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    """One array of real numbers, whose header states no more than the file has."""
    with archive.open(entry) as stream:
        major = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if major == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = header(stream)
    size = math.prod(shape) * kind.itemsize
    if kind.kind not in "fiub" or size > entry.file_size:
        raise ValueError(f"{entry.filename} holds {kind} of shape {shape} in {entry.file_size} B")
    with archive.open(entry) as stream:
        return np.asarray(npy.read_array(stream, allow_pickle=False))


def _refuse_bombs(archive: zipfile.ZipFile, path: Path) -> None:
    """Names that occur twice, and archives that unpack to far more than arrays ever do."""
    entries = archive.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two parts have the same name")
    whole = sum(entry.file_size for entry in entries)
    if whole > max(SMALL, MOST_SQUEEZED * path.stat().st_size):
        raise ValueError(f"it unpacks to {whole / 1e9:.0f} GB")


def _checked_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    header = json.loads(archive.read(HEADER)) if HEADER in archive.namelist() else None
    if not isinstance(header, dict) or header.get("schema") != SCHEMA:
        raise InvalidInput(
            f"{path} is a zip file but no model of dualfold; one is made by --save-model"
        )
    if header.get("version") != VERSION:
        raise InvalidInput(
            f"{path} has version {header.get('version')} of the model format and this dualfold "
            f"reads version {VERSION}; save the model again, or use the dualfold that made it "
            f"({header.get('dualfold', 'unknown')})"
        )
    return header


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, NO_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
