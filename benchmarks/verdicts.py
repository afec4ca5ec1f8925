"""What is wanted of ours, and whether the measured numbers say it was reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Run = Mapping[str, Any]
Runs = Mapping[str, Run]  # by side
OURS = "dualfold"
GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One wish, what was reached, and whether that is enough (None: it cannot be said)."""

    wanted: str
    reached: str
    met: bool | None


class Wanted(Protocol):
    """Something that a table of runs either shows or does not."""

    def finding(self, runs: Runs) -> Finding: ...


def trouble(runs: Runs, side: str) -> str:
    """Why a side has no numbers, or nothing."""
    if side not in runs:
        return f"{side} was not run"
    status = runs[side]["status"]
    return "" if status == "done" else f"{side}: {runs[side].get('why') or status}"


def _best(runs: Runs, sides: tuple[str, ...]) -> tuple[str, float, bool] | None:
    """(side, seconds, whether it finished) of the fastest; unfinished ones count as their limit."""
    known = [
        (side, float(runs[side]["seconds"]), runs[side]["status"] == "done")
        for side in sides
        if side in runs and runs[side]["status"] in ("done", "limit")
    ]
    return min(known, key=lambda found: found[1]) if known else None


@dataclass(frozen=True)
class Faster:
    """At least `times` as fast as the fastest of the peers."""

    times: float
    peers: tuple[str, ...]
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"{self.side}: ≥ {self.times:g}× {' or '.join(self.peers)}"
        why = trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        best = _best(runs, self.peers)
        if best is None:
            return Finding(wanted, "; ".join(trouble(runs, p) for p in self.peers), None)
        peer, seconds, finished = best
        ratio = seconds / runs[self.side]["seconds"]
        if finished:
            return Finding(wanted, f"{ratio:.1f}× {peer}", ratio >= self.times)
        return Finding(wanted, f"> {ratio:.1f}× {peer}", True if ratio >= self.times else None)


@dataclass(frozen=True)
class NoMoreThan:
    """At most `ratio` times the seconds of the fastest of the others."""

    ratio: float
    others: tuple[str, ...]
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"{self.side}: ≤ {self.ratio:g}× the time of {' or '.join(self.others)}"
        found = Faster(1 / self.ratio, self.others, self.side).finding(runs)
        best = _best(runs, self.others)
        if best is None or trouble(runs, self.side):
            return Finding(wanted, found.reached, found.met)
        ratio = runs[self.side]["seconds"] / best[1]
        return Finding(wanted, f"{'' if best[2] else '< '}{ratio:.2f}× {best[0]}", found.met)


@dataclass(frozen=True)
class Memory:
    """Peak memory of the whole process, data and interpreter included."""

    gib: float
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted, why = f"≤ {self.gib:g} GiB", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        peak = runs[self.side]["peak"] / GIB
        return Finding(wanted, f"{peak:.2f} GiB", peak <= self.gib)


@dataclass(frozen=True)
class LessMemory:
    """At most `share` of the peak memory of another side."""

    share: float
    other: str
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"{self.side}: ≤ {self.share:g} of the memory of {self.other}"
        why = trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        if trouble(runs, self.other):
            return Finding(wanted, trouble(runs, self.other), None)
        here, there = (runs[side]["peak"] / GIB for side in (self.side, self.other))
        return Finding(wanted, f"{here:.2f} of {there:.2f} GiB", here <= self.share * there)


@dataclass(frozen=True)
class NoCopy:
    """Memory beyond what was there before stays under half of the data."""

    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted, why = "no copy of X", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        run = runs[self.side]
        share = (run["peak"] - run["before"]) / run["given bytes"]
        return Finding(wanted, f"{share:.2f} of X more than before", share < 0.5)


@dataclass(frozen=True)
class Seconds:
    """At most so many seconds."""

    most: float
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted, why = f"{self.side}: ≤ {self.most:g} s", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        seconds = runs[self.side]["seconds"]
        return Finding(wanted, f"{seconds:.2f} s", seconds <= self.most)


@dataclass(frozen=True)
class Certified:
    """Proved or measured on every seed; with `about`, it names what it is about."""

    side: str = OURS
    about: str = ""

    def finding(self, runs: Runs) -> Finding:
        wanted = "certified" + (f", naming {self.about}" if self.about else "")
        why = trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        facts = runs[self.side]["facts"]
        level, about = facts.get("certificate", "none"), facts.get("about", "")
        levels = runs[self.side].get("levels", [level])
        good = sum(one in ("proved", "measured") for one in levels)
        reached = f"{level}, gap {facts.get('gap', float('nan')):.1g}"
        if len(levels) > 1:
            reached += f", on {good} of {len(levels)} runs"
        if about:
            reached += f" (about {about})"
        met = good == len(levels) and self.about in about
        return Finding(wanted, reached, met)


@dataclass(frozen=True)
class Fact:
    """A measured fact within bounds."""

    name: str
    least: float | None = None
    most: float | None = None
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        bound = f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"
        wanted, why = f"{self.side}: {self.name} {bound}", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        value = runs[self.side]["facts"].get(self.name)
        if value is None:
            return Finding(wanted, "not measured", None)
        met = (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )
        return Finding(wanted, f"{value:.3g}", met)


@dataclass(frozen=True)
class AsMuch:
    """A fact is that of another side, up to `within`: the same work was done."""

    name: str
    other: str
    within: float
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"{self.name} within {self.within:g} of {self.other}"
        why = trouble(runs, self.side) or trouble(runs, self.other)
        here, there = (
            runs.get(side, {}).get("facts", {}).get(self.name) for side in (self.side, self.other)
        )
        if why or here is None or there is None:
            return Finding(wanted, why or "not measured", None)
        return Finding(wanted, f"off by {abs(here - there):.1g}", abs(here - there) <= self.within)


@dataclass(frozen=True)
class NoHigher:
    """A fact is at most `ratio` times that of another side: an objective that is minimised."""

    name: str
    other: str
    ratio: float = 1.01
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"{self.name} ≤ {self.ratio:g} × {self.other}"
        why = trouble(runs, self.side) or trouble(runs, self.other)
        here, there = (
            runs.get(side, {}).get("facts", {}).get(self.name) for side in (self.side, self.other)
        )
        if why or here is None or there is None:
            return Finding(wanted, why or "not measured", None)
        return Finding(wanted, f"{here / there:.3f} ×", here <= self.ratio * there)


@dataclass(frozen=True)
class NoWiderGap:
    """The gap is at most that of every one of the peers that arrived."""

    peers: tuple[str, ...]
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted, why = f"gap ≤ that of {' and '.join(self.peers)}", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        gaps = {
            side: runs[side]["facts"].get("gap")
            for side in (self.side, *self.peers)
            if not trouble(runs, side)
        }
        own, theirs = gaps.pop(self.side), [gap for gap in gaps.values() if gap is not None]
        missing = [trouble(runs, peer) for peer in self.peers if peer not in runs]
        if own is None or not theirs or missing:
            return Finding(wanted, "; ".join(missing) or "not measured", None)
        reached = f"{own:.1g} against {' and '.join(f'{gap:.1g}' for gap in theirs)}"
        return Finding(wanted, reached, own <= min(theirs))


@dataclass(frozen=True)
class SameQuality:
    """The t-similarity is no more than `within` below that of another side; above is no harm."""

    other: str
    within: float = 0.01
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted = f"t-similarity within {self.within:g} of {self.other}, or better"
        why = trouble(runs, self.side) or trouble(runs, self.other)
        here, there = (runs.get(side, {}).get("quality") for side in (self.side, self.other))
        if why or here is None or there is None:
            return Finding(wanted, why or "not measured", None)
        lost = there - here
        return Finding(wanted, f"{here:.3f} against {there:.3f}", lost <= self.within)


@dataclass(frozen=True)
class TimesStage:
    """The whole takes at most `ratio` times one of its own stages."""

    ratio: float
    stage: str
    side: str = OURS

    def finding(self, runs: Runs) -> Finding:
        wanted, why = f"≤ {self.ratio:g}× its own {self.stage}", trouble(runs, self.side)
        if why:
            return Finding(wanted, why, False if self.side in runs else None)
        run = runs[self.side]
        part = run["stages"].get(self.stage)
        if not part:
            return Finding(wanted, f"no stage {self.stage} was timed", None)
        ratio = run["seconds"] / part
        return Finding(wanted, f"{ratio:.2f}×", ratio <= self.ratio)
