"""How much memory a process holds, and held at most."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path

# ru_maxrss: bytes there, KiB elsewhere.
UNIT = 1 if sys.platform == "darwin" else 1024


def _status(process: str, field: str) -> int | None:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), None)


def held(process: int | str = "self") -> int:
    """Bytes in memory now (0 when the system does not tell)."""
    return _status(str(process), "VmRSS") or 0


def forget_peak() -> None:
    """Begin to measure the peak anew, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """The most bytes ever held, by this process or one it waited for."""
    own = _status("self", "VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT)
