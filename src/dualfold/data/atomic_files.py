"""Atomic writes: files and folders that get their name only when they are complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dualfold.errors import Argument, InvalidInput

_unfinished: set[Path] = set()


class FolderWriters:
    """Counts the threads that write parts of a folder; closed, it admits no more of them."""

    def __init__(self) -> None:
        self.moved, self.inside, self.closed = threading.Condition(), 0, False

    def __enter__(self) -> None:
        with self.moved:
            if self.closed:
                raise InterruptedError("this process ends; nothing is written any more")
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.moved:
            self.inside -= 1
            self.moved.notify_all()

    @contextlib.contextmanager
    def empty(self, seconds: float) -> Iterator[None]:
        """Wait at most this long for those inside, and admit none during the `with` block."""
        with self.moved:
            self.moved.wait_for(lambda: self.inside == 0, seconds)
            yield

    def close(self, seconds: float) -> None:
        """Wait at most this long for those inside, and admit no more."""
        with self.moved:
            self.closed = True
            self.moved.wait_for(lambda: self.inside == 0, seconds)


# `with folder_writers:` around the writing of one part, and around what makes a file or a folder;
# unfinished files are removed after waiting for it, so that none appears after that.
folder_writers = FolderWriters()
WRITER_WAIT_SECONDS = 5.0


@contextlib.contextmanager
def atomic_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file open for writing that takes the name `path` only once it is complete.

    It grows beside its target, so that the final rename stays in one file system
    and is atomic. An exception removes it and leaves what was there before.
    """
    target = Path(os.path.realpath(path))  # a link stays a link, to the new content
    _refuse(path, target, overwrite)
    growing = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    _unfinished.add(growing)
    try:
        # Not tempfile: its files are private (0600) and would stay so under their new name.
        with folder_writers:
            file = open(growing, "xb")  # noqa: SIM115
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists() and overwrite:
            shutil.copymode(target, growing)
        _rename(growing, target, path, overwrite)
    except InterruptedError:
        raise
    except OSError as error:
        # A full disk names no file, a forbidden folder names one that the caller does not know.
        if error.filename in (None, str(growing)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        with contextlib.suppress(OSError):
            growing.unlink(missing_ok=True)
        _unfinished.discard(growing)


@contextlib.contextmanager
def atomic_folder(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """A folder to write into that takes the name `path` only once it is complete.

    As `atomic_file`: it grows beside its target under a hidden name, and an exception removes it.
    """
    target = Path(os.path.realpath(path))
    check_folder_place(path, overwrite=overwrite)
    growing = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    _unfinished.add(growing)
    try:
        with folder_writers:
            growing.mkdir()
        yield growing
        before = None
        if target.exists():  # a folder cannot be replaced in one step
            before = target.with_name(f".{target.name}.{secrets.token_hex(6)}.old")
            os.rename(target, before)
        os.rename(growing, target)
        if before is not None:
            _remove(before)
    finally:
        if growing.exists():  # where one tile failed, threads may still write others
            with folder_writers.empty(WRITER_WAIT_SECONDS):
                _remove(growing)
        _unfinished.discard(growing)


def check_folder_place(path: Path, *, overwrite: bool) -> None:
    """Refuse now what `atomic_folder` would refuse after hours of work."""
    target = Path(os.path.realpath(path))
    check_folder(target.parent)
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent} to write {target.name} in; make it")
    if target.exists() and not overwrite:
        raise InvalidInput(
            f"{path} exists already and was left as it is; ",
            Argument("overwrite", True),
            " replaces it",
        )


def discard_unfinished() -> None:
    """Remove every file and folder that is not complete; for a process that ends now."""
    folder_writers.close(WRITER_WAIT_SECONDS)
    for growing in tuple(_unfinished):
        _remove(growing)


def _remove(path: Path) -> None:
    """A file or a folder, if it is there."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def check_place(path: Path, *, overwrite: bool) -> None:
    """Refuse now what `atomic_file` would refuse after hours of work."""
    _refuse(path, Path(os.path.realpath(path)), overwrite)


def check_folder(folder: Path) -> None:
    """Refuse now a folder that could not be made, or not be written to, after the work."""
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not there.is_dir():
        raise InvalidInput(f"{there} is a file, and a folder is needed; choose another name")
    if not os.access(there, os.W_OK):
        raise InvalidInput(f"the folder {there} cannot be written to; choose another")


def _refuse(path: Path, target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder; give the name of a file in it")
    if target.exists() and not target.is_file():  # a file would take its place
        raise InvalidInput(f"{path} is a pipe or a device, and only files are written; name a file")
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent} to write {target.name} in; make it")
    if not os.access(target.parent, os.W_OK):
        raise InvalidInput(
            f"the folder {target.parent} cannot be written to; choose another for {target.name}"
        )
    if target.exists() and not overwrite:
        raise InvalidInput(
            f"{path} exists already and was left as it is; ",
            Argument("overwrite", True),
            " replaces it",
        )


def _rename(growing: Path, target: Path, path: Path, overwrite: bool) -> None:
    if overwrite:
        os.replace(growing, target)
    else:
        try:
            # A hard link, unlike a rename, never replaces a file that appeared meanwhile.
            os.link(growing, target)
        except FileExistsError:
            _refuse(path, target, overwrite)
            raise
        except OSError:  # a file system without hard links
            _refuse(path, target, overwrite)
            os.replace(growing, target)
    if os.name == "posix":  # the new name itself must survive a power cut, too
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
