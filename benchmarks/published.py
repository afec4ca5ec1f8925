"""What README, RESULTS.md and pages show of the published numbers (`python docs/generated.py`)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from benchmarks.cases import CASES
from benchmarks.cases.neighbour_maps import BOUNDED_MAPS
from benchmarks.measured import Made, published, runs, values
from benchmarks.tables import Results, page
from benchmarks.turns import turns_table
from benchmarks.verdicts import GIB, Run

RESULTS_PAGE = Path(__file__).with_name("RESULTS.md")
GROWTH = "## Growth"
README_ROWS = 6
# Case, what it is in README, the peer beside ours. README shows the first six that were measured;
# `python -m benchmarks --readme` measures all of them.
COMPARED = (
    ("pca-mnist", "PCA, 70,000×784 → 50", "scikit-learn"),
    ("tsne-mnist", "t-SNE, 70,000 images (KL: lower is better)", "openTSNE"),
    ("isomap-roll", "Isomap, swiss roll, 10,000 points", "scikit-learn"),
    ("lle-mnist", "LLE, 10,000 images", "scikit-learn"),
    ("eigenmaps-roll", "eigenmaps, swiss roll, 100,000 points", "scikit-learn arpack"),
    ("unfolding-100", "unfolding, swiss roll, 100 points", "CVXPY Clarabel"),
    ("trustworthiness-mnist", "trustworthiness, 20,000 images", "scikit-learn"),
    ("tsne-mnist-10k", "t-SNE, 10,000 images (KL: lower is better)", "openTSNE"),
)
README_PACKAGES = ("numpy", "scipy", "scikit-learn", "cvxpy", "cvxpy-base", "clarabel", "openTSNE")
PEERS = {"scikit-learn arpack": "scikit-learn", "CVXPY Clarabel": "CVXPY with Clarabel"}


def readme_table() -> str:
    """The first six rows that were measured on both sides, and when and where that was."""
    found = published()
    arrived = {
        (case, side)
        for case, sides in found.items()
        for side, run in sides.items()
        if run.get("status") == "done"
    }
    rows = [row for row in COMPARED if {(row[0], "dualfold"), (row[0], row[2])} <= arrived]
    rows = rows[:README_ROWS]
    lines = ["| work | dualfold | others |", "|---|---|---|"]
    for case, words, peer in rows:
        ours, theirs = found[case]["dualfold"], found[case][peer]
        both = ours["facts"].keys() & theirs["facts"].keys()
        cells = words, _result(ours, both), f"{PEERS.get(peer, peer)} {_result(theirs, both)}"
        lines.append(f"| {' | '.join(cells)} |")
    shown = {(case, side) for case, _, peer in rows for side in ("dualfold", peer)}
    made = runs()
    used = {value.run for value in values() if (value.key, value.side) in shown}
    return "\n".join([*lines, "", *(_where(made[name]) for name in sorted(used))])


def _result(run: Run, both: Collection[str]) -> str:
    """The time, and how good the answer is: by a fact that both sides have, or by our level."""
    facts, time = run["facts"], seconds(run["seconds"])
    if "kl" in both:
        return f"{time}, KL {facts['kl']:.2f}"
    if "gap" in both:
        return f"{time} to a gap of {facts['gap']:.0e}".replace("e-0", "e-")
    return f"{time}, {facts['certificate']}" if "certificate" in facts else time


def seconds(value: float) -> str:
    """Two digits, and no more than hundredths."""
    return f"{value:#.2g} s" if value < 10 else f"{value:.0f} s"


def _where(made: Made) -> str:
    """When and by what; of the machine all but packages that only other sides need."""
    place, python, packages = made.machine.split("; ")[:3]
    known = [words for words in packages.split(", ") if words.split()[0] in README_PACKAGES]
    return f"Measured on {made.date}: {place}; {python}; {', '.join(known)}."


def results_page() -> str:
    """RESULTS.md: cases from the data file; ladders stay as `--growth --publish` wrote them."""
    found = published()
    cases: dict[str, dict[str, Run]] = {}
    for name, case in CASES.items():
        sides: dict[str, Run] = {}
        for side, job in case.sides.items():
            if job.cannot:
                sides[side] = {"status": "cannot", "why": job.cannot}
            elif side in found.get(job.shown_from or name, {}):
                sides[side] = found[job.shown_from or name][side]
        if any(run["status"] != "cannot" for run in sides.values()):
            cases[name] = sides
    growth = GROWTH + RESULTS_PAGE.read_text(encoding="utf-8").partition(GROWTH)[2]
    return page(cases, where=_results_where(cases), growth=growth.rstrip())


def _results_where(cases: Results) -> str:
    """Every run behind the table, and its cases where it is not the one of all others."""
    by_run: dict[str, list[str]] = {}
    for value in values():
        if value.key in cases and value.key not in by_run.setdefault(value.run, []):
            by_run[value.run].append(value.key)
    made, lines = runs(), []
    most = max(by_run, key=lambda name: len(by_run[name]))
    for name, keys in by_run.items():
        which = "all others" if name == most and len(by_run) > 1 else ", ".join(keys)
        which = "all" if len(by_run) == 1 else which
        one = made[name]
        lines.append(f"* {one.date}, `{one.command}` ({which}): {one.machine}.")
    return "\n".join(lines)


def neighbour_maps_table() -> str:
    """t-SNE beside others, one thread each, in turns."""
    found = published()
    return turns_table(
        {key.removeprefix("turns/"): found[key] for key in found if key.startswith("turns/")},
        "processor seconds",
    )


def bounded_maps_table() -> str:
    """Neighbour maps, how far from the best they can be, and the neighbours they keep."""
    found = published()
    lines = [
        "| data | processor seconds | peak memory | KL | bound | gap | kept |",
        "|" + "---|" * 7,
    ]
    for case in BOUNDED_MAPS:
        run, words = found[case]["dualfold"], CASES[case].title.split(", ", 1)[1]
        facts = run["facts"]
        cells = [words.rpartition(", ")[0], f"{run['cpu']:#.2g}", f"{run['peak'] / GIB:.2f} GiB"]
        cells += [f"{facts['kl']:.3f}", f"{facts['bound']:.3f}"]
        cells += [f"{facts['gap']:.1%}, {facts['certificate']}", f"{run['quality']:.1%}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


# What `docs/generated.py` writes between <!-- filled: NAME --> and <!-- end -->.
PARTS: dict[str, Callable[[], str]] = {
    "readme": readme_table,
    "neighbour maps in turns": neighbour_maps_table,
    "neighbour maps with a bound": bounded_maps_table,
}
