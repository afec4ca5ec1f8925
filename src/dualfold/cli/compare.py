"""`dualfold compare`: several methods on one table, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import typer

from dualfold import __version__
from dualfold.cli import options as o
from dualfold.cli.commands import COMPARED_METHODS, embed_words, plans_of, try_next
from dualfold.cli.console import Console, print_table
from dualfold.cli.exit_codes import UNCERTIFIED_EXIT
from dualfold.cli.html_page import write_content
from dualfold.cli.output_files import refuse_bad_outputs, stem, write_picture, written_lines
from dualfold.cli.wording import command_text, command_texts
from dualfold.data.reading import DEFAULT_READING, Reading
from dualfold.errors import DualfoldError, InvalidInput
from dualfold.exploration.fitted_map import FittedMap, fit_map
from dualfold.exploration.input_table import (
    read_input,
    reading_for,
    refuse_labels,
    refuse_scaled_distances,
    refuse_weight,
)
from dualfold.exploration.map_page import maps_content, refuse_images
from dualfold.exploration.neighbor_cache import NeighborCache, neighbors_to_measure
from dualfold.exploration.plan import SCORED_NEIGHBORS, Plan
from dualfold.exploration.summary import coordinate_columns
from dualfold.exploration.verdict_words import short_verdict

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.judging import Judgement
    from dualfold.quality import QualityReport

MAPS_PER_LINE = 4  # of the picture
COMPARED_MEASURES = ("t_similarity", "trustworthiness", "continuity", "distance_correlation")
NUMBER_HEADS = ("neighbours kept", "trustworthiness", "continuity", "distances", "seconds")
# What each map shows, in words.
WORD_HEADS = ("order", "neighbours", "groups")


@dataclass(frozen=True)
class CompareOptions:
    """What is typed after `dualfold compare`."""

    file: str
    methods: str = o.own_option(
        "--methods",
        "Methods with commas between them.",
        "A,B,…",
        section=o.METHOD_SECTION,
        default=COMPARED_METHODS,
        autocompletion=o.next_method,
    )
    n_components: str = "2"
    n_neighbors: int | None = None
    reading: Reading = DEFAULT_READING
    output: str | None = o.own_output("All coordinates in one table.")
    picture: str | None = None
    html: str | None = None
    html_mb: float = 20
    images: str | None = None
    force: bool = False
    spreadsheet: bool = False
    strict: bool = False
    as_json: bool = False
    quiet: bool = False
    method_options: Mapping[str, Any] = field(default_factory=dict)


def compare(options: CompareOptions) -> None:
    """Several methods on one table, side by side.

    \b
    Examples:
      dualfold compare iris.csv --color species --picture iris.png
      dualfold compare roll.csv --methods pca,isomap,lle,mvu --html roll.html
      dualfold compare cells.parquet --methods pca,eigenmaps -o all.parquet
      dualfold compare roll.csv --methods pca,isomap,lle -k 12 --pieces separate

    For each method: what its map keeps, what is proved, how long it took.
    An option of a method (`dualfold methods NAME`) goes to all of the methods that have it.
    """
    plans = plans_of(_method_names(options.methods), options)
    if options.reading.mixed == "gower":
        plans = tuple(plan.by_manhattan() for plan in plans)
    with o.usage_errors():
        refuse_labels(options.reading.labels, *plans)
        refuse_weight(options.reading.weight, *plans)
    if options.output == "-":
        raise typer.BadParameter("the table of results goes to standard output; give -o a file")
    options = replace(options, reading=reading_for(options.reading, *plans))
    console = Console(quiet=options.quiet)
    o.picture_shape(options.images)  # refused before any work
    refuse_bad_outputs(options, options.file)
    comparison = _compared(options, plans, console)
    _write(options, comparison, console)
    if not options.as_json:
        heads = ("method", *NUMBER_HEADS, *WORD_HEADS, "certificate")
        rows = [row.cells for row in comparison.rows]
        print_table(heads, rows, pipe_width=150, numbers=len(NUMBER_HEADS))
    summary, lines = _summary(options, comparison), _last_lines(options, plans, comparison)
    console.finish(summary, lines, as_json=options.as_json)
    if options.strict and not all(row.holds for row in comparison.rows):
        raise typer.Exit(UNCERTIFIED_EXIT)


def _method_names(text: str) -> list[str]:
    """Names with commas between them, each once."""
    names = [o.method_name(word.strip(), "--methods") for word in text.split(",") if word.strip()]
    if not names:
        usual = "name one method or more, with commas: pca,isomap,lle"
        raise typer.BadParameter(usual, param_hint="--methods")
    return list(dict.fromkeys(names))


@dataclass(frozen=True, eq=False)
class ComparedMap:
    """Map of one method, measured and judged."""

    fitted: FittedMap
    quality: QualityReport
    judgement: Judgement

    @property
    def method(self) -> str:
        return self.fitted.plan.method.name

    @property
    def kept(self) -> float:
        """Share of the nearest neighbours that it keeps."""
        return float(self.quality.measures["t_similarity"])

    @property
    def holds(self) -> bool:
        """Whether the method's problem is solved to the tolerance."""
        return bool(self.fitted.certificate.holds)

    @property
    def cells(self) -> list[str]:
        """In the table on standard output."""
        measures = [f"{float(self.quality.measures[name]):.3f}" for name in COMPARED_MEASURES]
        words = [answer.cell for answer in self.judgement.answers if answer.column]
        proof = short_verdict(self.fitted.certificate)
        return [self.method, *measures, f"{self.fitted.seconds:.2f}", *words, proof]

    def to_dict(self, others: Mapping[str, float]) -> dict[str, Any]:
        """JSON-ready.

        others : what the maps of other methods keep, by name
        """
        fitted, quality = self.fitted, self.quality
        picture = replace(quality.picture, rivals=others)
        return {
            "method": self.method,
            **{name: float(quality.measures[name]) for name in COMPARED_MEASURES},
            "sampled": quality.sampled,
            "picture_quality": picture.to_dict() | {"sampled": quality.sampled},
            "map_verdict": self.judgement.to_dict(),
            "certificate": fitted.certificate.to_dict(),
            "short_verdict": short_verdict(fitted.certificate),
            "verdict": fitted.solved,
            "explained_variance_ratio": fitted.variance_shares,
            "settings": fitted.plan.settings(),
            "seconds": fitted.seconds,
        }


@dataclass(frozen=True)
class FailedMap:
    """Method that gave no map, and why."""

    method: str
    reason: str
    holds: bool = False

    @property
    def cells(self) -> list[str]:
        """In the table on standard output."""
        empty = [""] * len(NUMBER_HEADS + WORD_HEADS)
        return [self.method, *empty, f"no map: {self.reason}"]

    def to_dict(self, others: Mapping[str, float]) -> dict[str, Any]:
        """JSON-ready."""
        return {"method": self.method, "error": self.reason}


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one table.

    rows : a map of each method, or why there is none
    """

    data: Prepared
    neighbors: NeighborCache
    rows: list[ComparedMap | FailedMap]

    @property
    def maps(self) -> list[ComparedMap]:
        return [row for row in self.rows if isinstance(row, ComparedMap)]

    @property
    def best(self) -> ComparedMap:
        """The map that keeps most neighbours."""
        return max(self.maps, key=lambda row: row.kept)

    @property
    def results(self) -> list[dict[str, Any]]:
        """JSON-ready: each map beside the others."""
        kept = {row.method: row.kept for row in self.maps}
        return [
            row.to_dict({name: share for name, share in kept.items() if name != row.method})
            for row in self.rows
        ]

    @property
    def verdict(self) -> str:
        """Which map answers which of the three questions best."""
        from dualfold.quality.map_layout import SHOWN_GRADES
        from dualfold.quality.picture import percent

        near, picture = self.best.method, self.best.quality.picture
        numbers = f"({percent(picture.kept)}; a random map: {percent(picture.chance)})"
        if picture.grade in SHOWN_GRADES:
            parts = [f"Who is near whom: {near} keeps most neighbours {numbers}"]
        else:
            parts = [f"None of these maps keeps many neighbours; {near} keeps most {numbers}"]
        order = max(self.maps, key=_order_rank)
        word = order.judgement.order_grade
        shows = f"{order.method} shows most ({word})"
        parts.append(f"Overall order: {shows if word in SHOWN_GRADES else 'none of them shows it'}")
        first = max(self.maps, key=lambda row: row.judgement.group_counts[0])
        found, visible = first.judgement.group_counts
        if found:
            counts = f"{found} of {visible} visible ones are in the data"
            parts.append(f"Groups: {first.method} shows most ({counts})")
        return ". ".join(parts) + "."


def _order_rank(row: ComparedMap) -> tuple[int, float]:
    """By which maps are compared for overall order: the grade first, then its number."""
    from dualfold.quality.map_layout import LAYOUT_WORDS

    return -LAYOUT_WORDS.index(row.judgement.order_grade), row.judgement.order_strength


def _compared(options: CompareOptions, plans: tuple[Plan, ...], console: Console) -> Comparison:
    """Read the table, run each method, measure and judge its map."""
    data = read_input(options.file, options.reading, console)
    refuse_images(data, o.picture_shape(options.images))
    if data.X.shape[0] <= 2 * SCORED_NEIGHBORS + 1:
        raise InvalidInput(
            f"comparing needs more than {2 * SCORED_NEIGHBORS + 1} rows, so that neighbours mean "
            f"something, but {options.file} has {data.X.shape[0]}"
        )
    refuse_scaled_distances(options.reading, *plans)
    least = neighbors_to_measure(data, SCORED_NEIGHBORS, whole=True)
    cache = NeighborCache(data, plans, console, least)
    rows = list[ComparedMap | FailedMap]()
    for number, plan in enumerate(plans):
        name = plan.method.name
        console.prefix = f"{number + 1} of {len(plans)}, "
        try:
            earlier = [row.fitted for row in rows if isinstance(row, ComparedMap)]
            fitted = fit_map(plan, data, console, cache, earlier)
        except (DualfoldError, MemoryError) as error:
            reason = "out of memory"
            if isinstance(error, DualfoldError):
                reason = command_text(error.message)
            rows.append(FailedMap(name, reason))
            console.note(f"{name}: {reason}")
            continue
        named = options.html is not None
        rows.append(_measured_map(fitted, data, cache, console, named=named))
    console.prefix = ""
    comparison = Comparison(data, cache, rows)
    if not comparison.maps:
        raise InvalidInput("none of the methods gave a map; see the notes above")
    return comparison


def _measured_map(
    fitted: FittedMap, data: Prepared, cache: NeighborCache, console: Console, *, named: bool
) -> ComparedMap:
    """All measures of a map and its judgement; with names of axes and groups where `named`."""
    from dualfold.exploration.map_judgement import table_evidence
    from dualfold.judging.judgement import judged_map
    from dualfold.quality import report
    from dualfold.quality.estimate import sample_size
    from dualfold.quality.quality_report import mean_report

    points = fitted.points
    with console.stage(f"measuring {fitted.plan.method.name}"):
        each = [
            report(
                space,
                points,
                n_neighbors=SCORED_NEIGHBORS,
                sample=sample_size(len(points)),
                kruskal=False,
                sample_weight=data.weights,
            )
            for space in cache.spaces
        ]
        quality = mean_report(each, data.filled_share, data.doubt)
    evidence = table_evidence(data, cache, of_distances=fitted.plan.of_distances)
    near = quality.picture
    judgement = judged_map(evidence, points, near=near, named=named, stage=console.stage)
    return ComparedMap(fitted, quality, judgement)


def _summary(options: CompareOptions, comparison: Comparison) -> dict[str, Any]:
    """What `--json` prints."""
    data = comparison.data
    return {
        "schema": "dualfold.compare/1",
        "dualfold": __version__,
        "source": options.file,
        "reading": options.reading.settings(),
        "rows": len(data.table.rows),
        "features": list(data.table.names),
        "results": comparison.results,
        "scales_differ": data.scales_differ,
        "notices": command_texts(data.notices),
        "verdict": comparison.verdict,
        "output": options.output,
        "picture": options.picture,
        "html": options.html,
    }


def _write(options: CompareOptions, comparison: Comparison, console: Console) -> None:
    """The picture, the coordinates, the page."""
    from dualfold.data.table_writer import write_table

    data, maps = comparison.data, comparison.maps
    if options.picture is not None:
        with console.stage("drawing"), console.note_warnings([]):
            picture = _picture(options, comparison)
        write_picture(options.picture, picture, force=options.force)
    if options.output is not None:
        columns: dict[str, Any] = dict(data.row_names)
        if options.reading.color is not None:
            columns[options.reading.color] = data.label(options.reading.color)
        for row in maps:
            columns |= coordinate_columns(row.fitted)
        results = comparison.results
        write_table(
            options.output,
            columns,
            overwrite=options.force,
            metadata={"schema": "dualfold.compare/1", "dualfold": __version__, "results": results},
            spreadsheet=options.spreadsheet,
        )
    if options.html is not None:
        content = maps_content(
            data,
            [row.fitted for row in maps],
            [row.judgement for row in maps],
            comparison.neighbors,
            console,
            notes=[*data.notices, *(notice for row in maps for notice in row.fitted.notices)],
            images=o.picture_shape(options.images),
        )
        write_content(options, content, console)


def _picture(options: CompareOptions, comparison: Comparison) -> bytes:
    from dualfold.view.figures import figure_bytes, gallery

    data = comparison.data
    panels = [
        row.fitted.panel(data.colors, row.judgement.short.replace("; ", "\n"))
        for row in comparison.maps
    ]
    starts = range(0, len(panels), MAPS_PER_LINE)
    lines = [panels[start : start + MAPS_PER_LINE] for start in starts]
    names = [data.color_name or ""] * len(lines)
    return figure_bytes(gallery(lines, color_names=names), str(options.picture))


def _last_lines(
    options: CompareOptions, plans: tuple[Plan, ...], comparison: Comparison
) -> list[str]:
    """What the numbers are, what was written where, and the next command."""
    quality, n = comparison.maps[0].quality, len(comparison.data.table.rows)
    space, sampled = quality.picture.space, quality.sampled
    by = f" {space}" if space else ""
    on = "" if sampled == n else f", measured on {sampled:,} of {n:,} points"
    lines = [
        "Except for seconds, 1 is the best number in each column; neighbours are the "
        f"{SCORED_NEIGHBORS} nearest{by}{on}."
    ]
    lines += written_lines(
        {"Coordinates": options.output, "Picture": options.picture, "Page": options.html}
    )
    best = comparison.best.method
    settings = next(plan.settings() for plan in plans if plan.method.name == best)
    differ = comparison.data.scales_differ
    words = embed_words(options.file, settings, options.reading, standardize=differ)
    words += ["--picture", f"{stem(options.file)}.{best}.png"]
    return [*lines, comparison.verdict, try_next(words)]
