"""Limits of what is read, and errors for files that cannot be read.

A small packed file can unpack to more than any memory has, and standard input need not end.
The limits are far above every real table that was tried.
"""

from __future__ import annotations

import contextlib
import io
import json
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dualfold.errors import Argument, DamagedFile, DualfoldError, InvalidInput

# Packed files may unpack to the first, or to the ratio times their size if that is more: arrays of
# numbers shrink to a tenth, those that are nearly all zeros to a hundredth.
FREE_UNPACKED_BYTES = 2**28
MAX_COMPRESSION_RATIO = 200
# Of standard input, pipes and devices.
MAX_STREAM_BYTES = 2**30
# A line of text: a million columns of 60 characters.
MAX_LINE_BYTES = 2**26
# Of the message of another library.
MAX_QUOTED_CHARACTERS = 200

# How files of other kinds begin, in small letters, and what they are; those that can be read say by
# which format.
FOREIGN_STARTS: dict[bytes, tuple[str, str]] = {
    b"pk\x03\x04": ("a zip archive, as spreadsheets are", "xlsx"),
    b"par1": ("a Parquet file", "parquet"),
    b"\x93numpy": ("an array of NumPy", "npy"),
    b"\x89hdf": ("an HDF5 file", "h5ad"),
    b"%pdf": ("a PDF document", ""),
    b"\xd0\xcf\x11\xe0": ("a document of an old Office", ""),
    b"sqlite format 3": ("an SQLite database", ""),
    b"{\\rtf": ("a document in rich text", ""),
    b"<!doctype html": ("a web page", ""),
    b"<html": ("a web page", ""),
    b"<table": ("a web page", ""),
    b"<?xml": ("XML", ""),
}


def refuse_foreign_kind(file: Path | io.BytesIO, name: str, kind: str) -> None:
    """Refuse a file whose first bytes show that it is no text or sheet, as its name says."""
    with file.open("rb") if isinstance(file, Path) else io.BytesIO(file.getvalue()) as stream:
        start = stream.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for first, (what, format) in FOREIGN_STARTS.items():
        if start.startswith(first) and format != kind:
            tried = ("say so, as ", Argument("format", format), ", or ") if format else ()
            raise InvalidInput(
                f"{name} is no {kind} file, but {what}; ", *tried, "save its table as CSV or .xlsx"
            )


def unpacked_limit(packed: int) -> int:
    """Number of bytes that a packed file of this size may become."""
    return max(FREE_UNPACKED_BYTES, MAX_COMPRESSION_RATIO * packed)


class LimitedStream(io.RawIOBase):
    """An unpacked stream that ends with an error where it becomes too long."""

    def __init__(self, stream: Any, packed: int, name: str) -> None:
        self._stream, self._name = stream, name
        self._limit, self._seen = unpacked_limit(packed), 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As of any stream."""
        try:
            size: int = self._stream.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedFile(f"{self._name} cannot be read ({error}); is it damaged?") from error
        self._seen += size
        if self._seen > self._limit:
            raise InvalidInput(
                f"{self._name} unpacks to more than {self._limit / 1e6:,.0f} MB, which is more "
                f"than {MAX_COMPRESSION_RATIO} times its size; unpack it first if that is meant"
            )
        return size

    def close(self) -> None:
        """Close what lies below, too."""
        self._stream.close()
        super().close()


def read_stream(stream: Any, name: str) -> io.BytesIO:
    """All of a stream that can be read once; refused where it does not end in time."""
    content = stream.read(MAX_STREAM_BYTES + 1)
    if len(content) > MAX_STREAM_BYTES:
        raise InvalidInput(
            f"{name} is longer than {MAX_STREAM_BYTES / 1e9:.1f} GB, the most that is read of what "
            "is no file; save it as a file first"
        )
    if not content:
        raise InvalidInput(f"{name} is empty; a table was expected there")
    return io.BytesIO(content)


def is_stream(path: Path) -> bool:
    """Whether it can be read only once: a pipe, a device or a socket."""
    mode = path.stat().st_mode
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def refuse_oversized_archive(file: Path | io.BytesIO, name: str, kind: str) -> None:
    """Refuse a zip file (`kind`: .npz, .xlsx) that would unpack to far more than it should."""
    size = file.stat().st_size if isinstance(file, Path) else len(file.getvalue())
    with unreadable_as_damaged(name, kind), zipfile.ZipFile(file) as archive:
        whole = sum(entry.file_size for entry in archive.infolist())
    if whole > unpacked_limit(size):
        raise InvalidInput(
            f"{name} unpacks to {whole / 1e9:.1f} GB, more than {MAX_COMPRESSION_RATIO} times its "
            "size; save it without compression if that is meant"
        )
    if isinstance(file, io.BytesIO):
        file.seek(0)


@contextlib.contextmanager
def unreadable_as_damaged(name: str, kind: str) -> Iterator[None]:
    """While another library reads the file `name`, what it raises becomes `DamagedFile`.

    Libraries raise their own errors, those of their parsers and of Python, of many types, for
    files that were cut or altered. Only they run inside, no code of this package.
    """
    try:
        yield
    except (DualfoldError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise  # no right to read it, and the like
        reason = " ".join(str(error).split())
        reason = (
            reason if len(reason) <= MAX_QUOTED_CHARACTERS else f"{reason[:MAX_QUOTED_CHARACTERS]}…"
        )
        raise DamagedFile(
            f"{name} is not a readable {kind} file: {reason or type(error).__name__}; if it is of "
            "another format, say which, as ",
            Argument("format", "csv"),
        ) from error


def parse_json(text: bytes) -> Any:
    """Value that the text states; ValueError where it is no JSON, or half of a character is in it.

    JSON can spell such halves (\\ud800); no file can be written and nothing printed with them.
    """
    value = json.loads(text)
    if b"\\ud" in text.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("it holds half of a character (a surrogate)") from error
    return value
