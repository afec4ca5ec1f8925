"""A tape of kernel calls: what tests asked of C, and every bit that it answered.

    python -m tests.tools.kernel_tape TAPE [test files]

does small work (`kernel_work.py`), or runs tests, and writes down some calls of every kernel:
arguments before, written arrays after.
`kernel_replay.py` plays a tape to the same C built otherwise (for another processor or system, or
with sanitizers), each array in a block of memory of its own and exactly its size.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from dualfold import kernels
from tests.tools.kernel_work import work

# So many calls of a kernel with so many bytes; and so many whose arrays have about equal sizes.
MOST = ((1 << 16, 30), (1 << 20, 4), (1 << 23, 2))
MOST_ALIKE = 2
NULL = -1


def header(calls):
    """The beginning of a tape."""
    return kernels.interface()[0].encode() + struct.pack("<q", calls)


def refuse_other(path):
    """SystemExit where a tape was recorded with other kernels, whose numbers mean others."""
    with Path(path).open("rb") as file:
        if file.read(16) != kernels.interface()[0].encode():
            raise SystemExit(f"{path} was recorded with other kernels; record it again")


def of_type(argument):
    """The type of an argument and what follows it: ("float32", "[]=")."""
    stated = argument.split(":")[1]
    kind, array, rest = stated.partition("[]")
    return kind, array + rest


def scalar_bytes(kind, value):
    """A number as eight bytes."""
    return struct.pack("<q", int(value)) if "int" in kind else struct.pack("<d", float(value))


def array_bytes(value):
    """An array as its length in bytes and its bytes."""
    if value is None:
        return struct.pack("<q", NULL)
    data = value.tobytes()
    return struct.pack("<q", len(data)) + data


def asked(arguments, values):
    """The arguments of a call, as the tape has them."""
    parts = []
    for argument, value in zip(arguments, values, strict=True):
        kind, array = of_type(argument)
        parts.append(array_bytes(value) if array else scalar_bytes(kind, value))
    return b"".join(parts)


def answered(arguments, values, kind, result):
    """What a call answered: its result, and the arrays that it may have written."""
    parts = [scalar_bytes(kind, result) if kind != "void" else bytes(8)]
    parts += [
        array_bytes(value)
        for argument, value in zip(arguments, values, strict=True)
        if "=" in of_type(argument)[1]
    ]
    return b"".join(parts)


class Tape:
    """Calls that were written down, at most so many of a kernel and of a size."""

    def __init__(self):
        self.names = sorted(kernels.interface()[1])
        self.calls, self.count, self.alike = [], Counter(), Counter()

    def wants(self, name, values):
        """Whether a call is small and unlike those that are there."""
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        size = sum(array.nbytes for array in arrays)
        room = max((count for most, count in MOST if size <= most), default=0)
        if self.count[name] >= room or self._shared(name, values):
            return False
        sizes = (
            value.size.bit_length() if isinstance(value, np.ndarray) else str(value)[:3]
            for value in values
        )
        key = (name, *sizes)
        self.alike[key] += 1
        self.count[name] += self.alike[key] <= MOST_ALIKE
        return self.alike[key] <= MOST_ALIKE

    @staticmethod
    def _shared(name, values):
        """Whether an array that is written lies in the memory of another one."""
        kinds = [of_type(argument)[1] for argument in kernels.interface()[1][name][1:]]
        arrays = [(v, "=" in k) for v, k in zip(values, kinds, strict=True) if np.size(v) and k]
        return any(
            np.may_share_memory(one, other)
            for at, (one, writes) in enumerate(arrays)
            for other, written in arrays[:at]
            if writes or written
        )

    def add(self, name, before, after):
        """Write down one call."""
        self.calls.append(struct.pack("<q", self.names.index(name)) + before + after)

    def save(self, path):
        """The calls, behind the fingerprint of the C sources and their number."""
        Path(path).write_bytes(header(len(self.calls)) + b"".join(self.calls))


class Listening(ctypes.CDLL):
    """The kernels, with somebody who writes down what they are asked and answer."""

    def listen(self):
        self.tape, self.lock = Tape(), threading.Lock()
        return self

    def __getitem__(self, name):
        return Listened(self, name, super().__getitem__(name))


class Listened:
    """One kernel that is listened to."""

    def __init__(self, library, name, function):
        object.__setattr__(self, "parts", (library, name, function))

    def __setattr__(self, name, value):
        setattr(self.parts[2], name, value)

    def __call__(self, *values):
        library, name, function = self.parts
        result, *arguments = kernels.interface()[1][name]
        with library.lock:  # nobody else writes while the arrays are copied
            wanted = library.tape.wants(name, values)
            before = asked(arguments, values) if wanted else b""
            answer = function(*values)
            if wanted:
                library.tape.add(name, before, answered(arguments, values, result, answer))
        return answer


def record(path, files=()):
    """Do the work, or run these tests, and save the tape: (calls, kernels nobody asked)."""
    library = Listening(kernels._library()._name).listen()
    kernels._library = lambda: library
    code = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *files]) if files else work()
    if code:
        raise SystemExit(f"the tests that are recorded failed ({code})")
    tape = library.tape
    tape.save(path)
    return len(tape.calls), sorted(set(tape.names) - set(tape.count) - {"instruction_level"})


if __name__ == "__main__":
    number, missing = record(sys.argv[1], sys.argv[2:])
    print(f"{number} calls; nobody asked {', '.join(missing) or 'nothing of no kernel'}")
