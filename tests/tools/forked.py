"""Programs in processes of their own, forked from one that has imported everything already.

Pipes, signals, exit codes and terminals are those of any process; what is saved is two seconds of
imports for each. Where the start or the end of Python itself is tested, tests use `subprocess`, and
so they do on systems that cannot fork.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

MAIN = "from dualfold.cli import main; main()"
_LOADED = [
    "dualfold.cli",
    "dualfold.cli.embed",
    "dualfold.methods.fitting.graph_estimator",
    "pandas",
]
_LOADED += ["dualfold.data.table_writer", "dualfold.methods._isomap", "dualfold.methods._pca"]


class Forked:
    """As much of `subprocess.Popen` as these tests use; text, and pipes unless an fd is given.

    code : what runs, as the main module; words : its arguments
    stdout, stderr : a file descriptor to write to
    environment : in place of this process's
    """

    def __init__(
        self,
        code: str,
        *words: Any,
        stdout: int | None = None,
        stderr: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_LOADED)
        child_in, self._stdin = context.Pipe(duplex=False)
        self.stdout, child_out = _way_out(context, stdout)
        self.stderr, child_err = _way_out(context, stderr)
        ends = (child_in, child_out, child_err)
        settings = dict(os.environ if environment is None else environment)
        argv = ["dualfold", *map(str, words)]
        self._process = context.Process(target=_run, args=(code, argv, ends, os.getcwd(), settings))
        self._process.start()
        for end in ends:
            end.close()

    def send_signal(self, number: int) -> None:
        os.kill(self._process.pid or 0, number)

    def communicate(self, text: str = "", timeout: float = 60) -> tuple[str, str]:
        with os.fdopen(os.dup(self._stdin.fileno()), "w") as stdin:
            self._stdin.close()
            stdin.write(text)
        said: dict[str, str] = {"out": "", "err": ""}
        readers = [
            threading.Thread(target=lambda key=key, end=end: said.update({key: end.read()}))
            for key, end in (("out", self.stdout), ("err", self.stderr))
            if end is not None
        ]
        for reader in readers:
            reader.start()
        self._process.join(timeout)
        if self._process.exitcode is None:
            self._process.kill()
            raise subprocess.TimeoutExpired("a forked program", timeout)
        for reader in readers:
            reader.join()
        return said["out"], said["err"]

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode


def run(code: str, *words: Any, text: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
    """The program from its start to its end."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        start = [sys.executable, "-c", code, *map(str, words)]
        return subprocess.run(start, input=text, capture_output=True, text=True, timeout=60)
    program = Forked(code, *words, **more)
    out, err = program.communicate(text)
    return subprocess.CompletedProcess(words, program.returncode or 0, out, err)


def _way_out(context: Any, given: int | None) -> tuple[io.TextIOWrapper | None, Connection]:
    if given is not None:
        return None, Connection(os.dup(given), readable=False)
    ours, theirs = context.Pipe(duplex=False)
    reader = os.fdopen(os.dup(ours.fileno()), "r")
    ours.close()
    return reader, theirs


def _run(
    code: str,
    argv: list[str],
    ends: tuple[Connection, ...],
    folder: str,
    environment: dict[str, str],
) -> None:
    """In the child: its place, its streams, then the program."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = argv
    exec(compile(code, "<forked>", "exec"), {"__name__": "__main__"})
