"""Run one side of one case in this process and print its outcome as JSON."""

from __future__ import annotations

import json
import resource
import sys

from benchmarks.cases import CASES


def main() -> None:
    case = CASES[sys.argv[1]]
    X = case.data()
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, KiB elsewhere
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    seconds, facts = case.sides[sys.argv[2]](X)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"seconds": seconds, "facts": facts, "peak": peak, "before": before}))


if __name__ == "__main__":
    main()
