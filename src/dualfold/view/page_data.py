"""Everything the page shows, as one JSON text that is safe inside HTML."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold import __version__
from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.judging.judgement import Judgement
from dualfold.judging.map_meaning import MapMeaning
from dualfold.quality import QualityReport
from dualfold.quality.estimate import Estimate
from dualfold.quality.picture import MEASURE_MEANINGS
from dualfold.quality.ranks import NeighborRanks
from dualfold.view.colors import FEW_COLORS, MANY_COLORS
from dualfold.view.drawing import strip_density
from dualfold.view.page_columns import (
    Column,
    RowImages,
    base64_of,
    column_of,
    packed_numbers,
    scale_of,
    values_of,
)
from dualfold.view.page_map import Map
from dualfold.view.page_names import RowTerms, groups_content
from dualfold.view.page_terms import terms

# Arrows of columns that can be told apart, and from where on one says something.
MAX_ARROWS = 12
MIN_ARROW_CORRELATION = 0.3
SHEPARD_CELLS = 72  # a side: finer ones than a panel has room for would only make it slow
AXIS_STEPS = 65_535  # of a coordinate in 16 bits
# Neighbourhood sizes of the trustworthiness curve, even steps on a logarithmic axis.
CURVE_SIZES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)


def as_json(content: dict[str, object]) -> str:
    r"""ASCII, with <, > and & as \u escapes: it can neither close its element nor open one."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@dataclass(frozen=True, eq=False)
class PageParts:
    """Content of a page, its rows and what is known of them.

    total : how many rows were given; the maps may show some of them
    notices, notes : what was left out; what was decided about the table
    audit : what an audit found, as `page_parts/audit.js` reads it; None without one
    rows : the number of each row in its table, counted from 1; None for 1, 2, 3, …
    large : whether coordinates are kept in 16 bits
    """

    title: str
    maps: list[Map]
    columns: list[Column]
    names: list[str] | None
    images: RowImages | None
    color: str | None
    seed: int
    total: int
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    audit: dict[str, object] | None = None
    rows: Array | None = None
    color_reason: str = ""
    row_terms: RowTerms | None = None
    large: bool = False

    @property
    def n(self) -> int:
        """Number of rows that are shown."""
        return len(self.maps[0].points)

    @property
    def content(self) -> dict[str, object]:
        """JSON-ready; `page_parts/data.js` reads it."""
        maps = self.maps
        return {
            "schema": "dualfold.page/2",
            "version": __version__,
            "title": self.title,
            "n": self.n,
            "total": self.total,
            "seed": int(self.seed),
            "names": self.names,
            "rows": None if self.rows is None else packed_numbers(self.rows),
            "color": self.color,
            "color_reason": self.color_reason,
            "columns": [column.content for column in self.columns],
            "images": None if self.images is None else self.images.content,
            "meanings": {name: meaning.short for name, meaning in MEASURE_MEANINGS.items()},
            "terms": terms(),
            "palette": list(FEW_COLORS if len(maps) <= len(FEW_COLORS) else MANY_COLORS),
            "notices": list(self.notices),
            "notes": [str(note) for note in self.notes],
            "audit": self.audit,
            "row_terms": None if self.row_terms is None else self.row_terms.content,
            "maps": [
                _map(shown, self.n, maps[:place], large=self.large)
                for place, shown in enumerate(maps)
            ],
        }

    def json(self) -> str:
        """As the browser gets it."""
        return as_json(self.content)

    @property
    def size(self) -> int:
        """Bytes in the page."""
        return len(self.json())

    @property
    def neighbors(self) -> Any:
        """Neighbours of the first map that has them."""
        return next((m.neighbors for m in self.maps if m.neighbors is not None), None)

    def of_rows(self, rows: Array) -> PageParts:
        """These rows alone. Neighbours go, since most of them would not be there."""
        return replace(
            self,
            maps=[shown.of_rows(rows) for shown in self.maps],
            columns=[column.of_rows(rows) for column in self.columns],
            names=None if self.names is None else [self.names[row] for row in rows],
            rows=rows + 1 if self.rows is None else self.rows[rows],
            images=None if self.images is None else RowImages(self.images.pixels[rows]),
            row_terms=None if self.row_terms is None else self.row_terms.of_rows(rows),
        )


def _map(shown: Map, n: int, before: list[Map], *, large: bool = False) -> dict[str, object]:
    points = np.asarray(shown.points, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    points = points[:, :2] if points.shape[1] > 3 else points
    strip = points.shape[1] == 1
    density = strip_density(points[:, 0]) if strip else None
    if strip:  # heights keep points apart and mean nothing, as in `view.drawing`
        points = np.column_stack([points, np.random.default_rng(1).uniform(-1, 1, n)])
    return {
        "name": str(shown.name),
        "strip": strip,
        "density": None if density is None else [part.tolist() for part in density],
        "dimensions": points.shape[1],
        **(_steps(points) if large else {"points": base64_of(points, np.float64)}),
        "equal": bool(shown.equal) and not strip,
        "pieces": shown.pieces,
        "explained": None if shown.explained is None else [_finite(e) for e in shown.explained],
        "certificate": None if shown.certificate is None else _certificate_entry(shown.certificate),
        "spectrum": _spectrum(shown.values, shown.certificate),
        "neighbors": None if shown.neighbors is None else _neighbors_or_same(shown, n, before),
        "tied": None if shown.tied is None or not len(shown.tied[0]) else _tied_entries(shown.tied),
        "scores": _scores(shown, n),
        "history": _history(shown.history),
        "quality": None if shown.quality is None else _quality(shown.quality),
        "trust": None if shown.ranks is None else _trust(shown.ranks),
        **_judgement_entries(shown),
        "columns": _column_points(shown, points.shape[1], strip=strip),
    }


def _steps(points: Array) -> dict[str, object]:
    """Coordinates in 16 bits: steps between the ends of each axis, finer than a screen."""
    low, high = points.min(axis=0), points.max(axis=0)
    high = np.where(high > low, high, low + np.maximum(np.abs(low), 1.0))
    steps = np.round((points - low) / (high - low) * AXIS_STEPS)
    return {"points": base64_of(steps, np.uint16), "box": [low.tolist(), high.tolist()]}


def _column_points(shown: Map, dimensions: int, *, strip: bool) -> list[dict[str, object]]:
    """Points of columns, each with its name; those of a strip lie under it."""
    height = [-1.5] if strip else []
    return [
        {
            "name": str(name),
            "at": [*map(float, np.ravel(at)[: 1 if strip else dimensions]), *height],
        }
        for name, at in (shown.columns or {}).items()
    ]


def _judgement_entries(shown: Map) -> dict[str, object]:
    """Verdict on the map, the words at its axes, its groups; null where unknown."""
    judgement = Judgement() if shown.judgement is None else shown.judgement
    verdict = None
    if judgement.is_measured:
        verdict = {
            "headline": judgement.headline,
            "shows_nothing": judgement.shows_nothing,
            "parts": [one.page_entry for one in judgement.answers],
        }
    meaning, groups = judgement.meaning, judgement.groups
    return {
        "verdict": verdict,
        "meaning": None if meaning is None else _meaning_entries(meaning),
        "explains": shown.explains,
        "groups": None if groups is None else groups_content(groups),
    }


def _meaning_entries(meaning: MapMeaning) -> dict[str, object]:
    """Words at the axes, arrows of columns."""
    arrows = [one for one in meaning.directions if one.is_beyond_chance]
    arrows = [one for one in arrows if one.correlation >= MIN_ARROW_CORRELATION]
    arrows = sorted(arrows, key=lambda one: -one.correlation)[:MAX_ARROWS]
    return {
        # In the text of the second axis, which is turned, an arrow to the right points up.
        "axes": [one.text("→", "←") for one in meaning.axes] if meaning.directions else [],
        "arrows": [[one.title, *map(float, one.direction), one.correlation] for one in arrows],
    }


def _certificate_entry(certificate: Any) -> dict[str, object]:
    words = certificate.to_dict()
    return {
        "level": words["level"],
        "gap": words["gap"],
        "text": words["verdict"],
        "about": words.get("about", ""),
        "lower": _finite(words.get("lower")),
        "upper": _finite(words.get("upper")),
    }


def _spectrum(values: Any, certificate: Any) -> dict[str, object] | None:
    """The eigenvalues, and the next one where the certificate knows the gap to it."""
    if values is None:
        return None
    found = np.asarray(values, dtype=float).ravel()
    if len(found) == 0 or not np.isfinite(found).all():
        return None
    gap = _finite(getattr(certificate, "eigengap", None))
    sense = getattr(certificate, "sense", None)
    after = None
    if gap is not None and sense in ("min", "max"):
        after = float(found[-1] + gap if sense == "min" else found[-1] - gap)
    return {"values": found.tolist(), "gap": gap, "next": after}


def _scores(shown: Map, n: int) -> list[dict[str, object]]:
    """Scores to colour this map alone by: the quality of each point, and what was given."""
    found = {} if shown.quality is None else shown.quality.per_point
    measured = [
        {"name": name, "kind": "number", **scale_of(np.asarray(values, float), rounded=True)}
        for name, values in found.items()
    ]
    given = [
        column_of(str(name), values_of(values), n, "score").content
        for name, values in (shown.scores or {}).items()
    ]
    return [*given, *measured]


def _neighbors_or_same(shown: Map, n: int, before: list[Map]) -> dict[str, object]:
    """Neighbours, or the number of an earlier map that has the same ones."""
    for place, other in enumerate(before):
        if other.neighbors is shown.neighbors or (
            other.neighbors is not None and np.array_equal(other.neighbors, shown.neighbors)
        ):
            return {"same": place}
    return _neighbors(shown.neighbors, n)


def _tied_entries(tied: Any) -> dict[str, object]:
    rows, others = (packed_numbers(np.asarray(part)) for part in tied)
    return {"rows": rows, "others": others}


def _neighbors(neighbors: Any, n: int) -> dict[str, object]:
    rows = np.asarray(neighbors)
    if rows.ndim != 2 or len(rows) != n or rows.dtype.kind not in "iu":
        raise InvalidInput(
            Argument("neighbors"),
            f" must be n×k row numbers with n = {n}; they have shape {rows.shape} and type "
            f"{rows.dtype}",
        )
    if rows.size and not (rows.min() >= 0 and rows.max() < n):
        raise InvalidInput(Argument("neighbors"), f" must be row numbers from 0 to {n - 1}")
    return {"k": rows.shape[1], **packed_numbers(rows)}


def _history(history: Any) -> dict[str, object] | None:
    """Records (iteration, lower, upper, gap), or rows of (value, gap)."""
    if history is None or len(history) < 2:
        return None
    if hasattr(history[0], "gap"):
        return {
            "steps": [int(record.iteration) for record in history],
            "gap": [_finite(record.gap) for record in history],
            "lower": [_finite(getattr(record, "lower", None)) for record in history],
            "upper": [_finite(getattr(record, "upper", None)) for record in history],
        }
    rows = np.asarray(history, dtype=float)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise InvalidInput(
            Argument("history"),
            " must be a solver's records or rows of (value, relative gap); its shape is "
            f"{rows.shape}",
        )
    return {
        "steps": list(range(len(rows))),
        "gap": [_finite(gap) for gap in rows[:, 1]],
        "lower": [_finite(value) for value in rows[:, 0]],
        "upper": [None] * len(rows),
    }


def _quality(quality: QualityReport) -> dict[str, object]:
    curve = quality.curve
    sizes, bands = curve.sizes, curve.bands()
    return {
        "verdict": quality.verdict,
        "picture": quality.picture.to_dict(),
        "k": quality.n_neighbors,
        "sampled": quality.sampled,
        "measures": {
            name: {
                "value": _finite(value),
                "low": _finite(value.low) if isinstance(value, Estimate) else None,
                "high": _finite(value.high) if isinstance(value, Estimate) else None,
            }
            for name, value in quality.measures.items()
        },
        "curve": {
            "sizes": sizes.tolist(),
            "r": [_finite(r) for r in curve.r_nx],
            "low": [_finite(r) for r in bands[0]],
            "high": [_finite(r) for r in bands[1]],
            "area": _finite(curve.auc),
        },
        "shepard": _shepard(quality),
    }


def _shepard(quality: QualityReport) -> dict[str, object]:
    diagram = quality.shepard
    step = [max(1, -(-size // SHEPARD_CELLS)) for size in diagram.counts.shape]
    counts = np.add.reduceat(diagram.counts, np.arange(0, diagram.counts.shape[0], step[0]), 0)
    counts = np.add.reduceat(counts, np.arange(0, diagram.counts.shape[1], step[1]), 1)
    widths = [float(diagram.before[1]) * step[0], float(diagram.after[1]) * step[1]]
    pairs = counts.sum(axis=1)
    means = counts @ (np.arange(counts.shape[1]) + 0.5) * widths[1] / np.maximum(pairs, 1)
    # The mean of a handful of pairs is noise that draws the eye (as in `view.shepard_figure`).
    means[pairs < max(10.0, 1e-5 * pairs.sum())] = np.nan
    return {
        "shape": list(counts.shape),
        "widths": widths,
        "counts": base64_of(counts, np.float64),
        "mean": [_finite(value) for value in means],
        "pairs": int(pairs.sum()),
    }


def _trust(ranks: NeighborRanks) -> dict[str, object]:
    most = min(ranks.before.shape[1], (ranks.n - 1) // 2)
    sizes = sorted({size for size in CURVE_SIZES if size <= most} | {most})
    return {
        "sizes": sizes,
        "trustworthiness": [float(ranks.trustworthiness(size)) for size in sizes],
        "continuity": [float(ranks.continuity(size)) for size in sizes],
        "sampled": len(ranks.before),
    }


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
