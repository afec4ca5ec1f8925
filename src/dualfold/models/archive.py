"""One file of named arrays and a JSON header: data, never code.

A zip archive with `dualfold.json` first and one .npy file an array, so that any language can
read it. Nothing in it is ever unpickled or run. The header holds a checksum (SHA-256) of each
array and of itself: what was cut, altered or lost on the way is noticed. A checksum is no
signature, and whoever writes a file can make it fit; so all that is read is checked besides
(`methods/maps/file_checks.py`).
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy

from dualfold.arrays import Array
from dualfold.data.limits import parse_json, unpacked_limit
from dualfold.errors import DamagedFile, InPython, InvalidInput

HEADER_NAME = "dualfold.json"
SCHEMA_NAME = "dualfold.model"
SCHEMA_VERSION = 1
# More than any model has; names of columns are most of a header.
MAX_HEADER_BYTES = 2**26
MAX_PARTS = 1_000_000
# Zip knows no time before 1980; a fixed one makes equal models equal files.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


class _HashedFile:
    """A file whose bytes are counted into a checksum while they pass."""

    def __init__(self, file: Any = None) -> None:
        self.file, self.sum = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content: bytes = self.file.read(size)
        self.sum.update(content)
        return content

    def write(self, content: bytes) -> int:
        self.sum.update(content)
        return len(content)


def write_archive(file: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a header (JSON-ready) and arrays of numbers."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    stated = {"schema": SCHEMA_NAME, "version": SCHEMA_VERSION, **header}
    stated["arrays"] = {name: _checksum(array) for name, array in plain.items()}
    stated["sha256"] = _header_checksum(stated)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(_entry(HEADER_NAME), json.dumps(stated, indent=2, ensure_ascii=False))
        for name, array in plain.items():
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a model file; DamagedFile where they do not fit together."""
    if not path.is_file():
        raise InvalidInput(f"there is no model file {path}; `--save-model {path}` makes one")
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_bombs(archive, path)
            header = _validated_header(archive, path)
            return header, _arrays(archive, header.get("arrays"))
    except zipfile.BadZipFile as error:
        raise DamagedFile(
            f"{path} is no readable model file, or a damaged one; `embed --save-model`",
            InPython(" or save_model"),
            " makes one",
        ) from error
    except RecursionError as error:
        raise DamagedFile(f"{path} is damaged: its header is nested too deep") from error
    except (EOFError, ValueError, KeyError, OSError, MemoryError, RuntimeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise _unreadable(path, error) from error
    except (SyntaxError, TokenError, TypeError, zlib.error) as error:  # of array headers, of bytes
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> DamagedFile:
    reason = " ".join(str(error).split())[:200]
    return DamagedFile(
        f"{path} is no readable model file but a damaged one: {reason}; save it again"
    )


def _arrays(archive: zipfile.ZipFile, stated: object) -> dict[str, Array]:
    """All arrays, once their checksums are those that the header states."""
    entries = archive.infolist()[1:] if archive.infolist()[0].filename == HEADER_NAME else None
    if entries is None or not all(entry.filename.endswith(".npy") for entry in entries):
        raise ValueError("it holds other parts than a header and arrays")
    named = {entry.filename.removesuffix(".npy"): entry for entry in entries}
    if not isinstance(stated, dict) or stated.keys() != named.keys():
        raise ValueError("it does not hold the arrays that its header names")
    return {name: _array(archive, entry, stated[name]) for name, entry in named.items()}


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, checksum: object) -> Array:
    """Array of real numbers, whose header states no more than the file has."""
    with archive.open(entry) as stream:
        major = npy.read_magic(stream)
        header = npy.read_array_header_1_0 if major == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = header(stream)
    size = math.prod(shape) * kind.itemsize
    if kind.kind not in "fiub" or min(shape, default=0) < 0 or size > entry.file_size:
        raise ValueError(f"{entry.filename} holds {kind} of shape {shape} in {entry.file_size} B")
    with archive.open(entry) as stream:
        hashed = _HashedFile(stream)
        array = npy.read_array(cast(BinaryIO, hashed), allow_pickle=False)
        if hashed.read(1):
            raise ValueError(f"{entry.filename} is longer than its array")
    if hashed.sum.hexdigest() != checksum:
        raise ValueError(f"{entry.filename} has another checksum than its header says")
    return np.asarray(array, dtype=array.dtype.newbyteorder("="))


def _refuse_bombs(archive: zipfile.ZipFile, path: Path) -> None:
    """Names that occur twice, and archives that unpack to far more than arrays ever do."""
    entries = archive.infolist()
    if not entries or len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two parts have the same name" if entries else "it holds nothing")
    total = sum(entry.file_size for entry in entries)
    if total > unpacked_limit(path.stat().st_size):
        raise ValueError(f"it unpacks to {total / 1e9:.1f} GB")
    if entries[0].file_size > MAX_HEADER_BYTES or len(entries) > MAX_PARTS:
        raise ValueError("its header is longer, or has more parts, than any model has")
    known = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    if any(entry.flag_bits & 1 or entry.compress_type not in known for entry in entries):
        raise ValueError("its parts are encrypted or packed in an unknown way")


def _validated_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    header = parse_json(archive.read(HEADER_NAME)) if HEADER_NAME in archive.namelist() else None
    if not isinstance(header, dict) or header.get("schema") != SCHEMA_NAME:
        raise DamagedFile(
            f"{path} is a zip file but no model of dualfold, or its header is damaged; one is "
            "made by --save-model"
        )
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"its version is {str(version)[:20]!r}")
    if version != SCHEMA_VERSION:
        raise InvalidInput(
            f"{path} has version {version} of the model format and this dualfold "
            f"reads version {SCHEMA_VERSION}; save the model again, or use the dualfold that made "
            f"it ({str(header.get('dualfold', 'unknown'))[:40]})"
        )
    if header.pop("sha256", None) != _header_checksum(header):
        raise ValueError("its header has another checksum than it says")
    return header


def _checksum(array: Array) -> str:
    sink = _HashedFile()
    npy.write_array(cast(BinaryIO, sink), array, allow_pickle=False)
    return sink.sum.hexdigest()


def _header_checksum(header: Mapping[str, Any]) -> str:
    """Checksum of the header's values, whatever the order and spaces they are written in."""
    text = json.dumps(header, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIXED_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
