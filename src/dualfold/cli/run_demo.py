"""The demo's maps: what `dualfold demo` does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import typer

from dualfold import __version__
from dualfold.arrays import Array
from dualfold.cli.console import Console
from dualfold.cli.demo import DemoOptions
from dualfold.cli.wording import command_texts
from dualfold.data import digits, swiss_roll
from dualfold.data.atomic_files import atomic_file, check_folder
from dualfold.data.table_writer import write_table
from dualfold.exploration.fitted_map import FittedMap
from dualfold.exploration.plan import Plan
from dualfold.methods.descriptions import DESCRIPTIONS, Description
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import fit_with
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import space_of
from dualfold.view.figures import Panel, figure_bytes, gallery
from dualfold.view.page import PageContent, make_page
from dualfold.view.page_map import Map, measured_map

DEMO_NEIGHBORS = 10


ROLL_POINTS = 3000


# Iterations of t-SNE that fit into the demo's twenty seconds; after them its forces balance.
DEMO_OPTIONS = {"tsne": {"max_iter": 600}}


PICTURE_FILE = "demo.png"


PAGE_FILE = "digits.html"


# Two to compare, since measuring a map takes as long as making eight.
METHODS_ON_PAGE = ("tsne", "isomap")


PANELS_PER_LINE = 5  # panels in a row of the picture: as wide as a page or a screen


def run_demo(options: DemoOptions) -> None:
    """Make all maps of the demo, write and show them."""
    check_folder(options.output)  # before the work, not after
    console, notices = Console(quiet=options.quiet), list[str]()
    with console.stage("loading"):
        examples = _examples()
    lines_of_maps = []
    for example in examples:
        line = []
        for result in _results(example, console, notices):
            line.append(result)
            if not options.as_json:
                typer.echo(_line_of(result))
        lines_of_maps.append(line)
    with console.stage("drawing"):
        picture = _picture(lines_of_maps)
    with console.stage("making the page"):
        written = _write(options.output, lines_of_maps, picture, _page(lines_of_maps[1]))
    summary = {
        "results": [result.words() for line in lines_of_maps for result in line],
        "written": [str(path) for path in written],
        "notices": command_texts(notices),
    }
    names = ", ".join(path.name for path in written[2:])
    lines = [
        "\nt-similarity: the share of each point's 10 nearest neighbours that the map keeps.",
        f"\nAll maps in one picture:  {written[0]}",
        f"A page to explore:        {written[1]}  (open it in a browser)",
        f"Data and coordinates:     {names} beside it",
        f"\nTry next:  {next_command(options.output)}",
    ]
    console.finish(summary, lines, as_json=options.as_json)


@dataclass(frozen=True, eq=False)
class Example:
    """A data set of the demo: its features, a column to colour by, how to show the data."""

    name: str
    title: str
    X: Array
    features: tuple[str, ...]
    color: Array
    color_name: str
    image: Any = None


@dataclass(frozen=True, eq=False)
class Result:
    """Map of one data set by one method."""

    example: Example
    fitted: FittedMap
    picture: Any

    @property
    def kept(self) -> float:
        """The share of neighbours that the map keeps."""
        return float(self.picture.kept)

    @property
    def method(self) -> Description:
        return self.fitted.plan.method

    def words(self) -> dict[str, object]:
        """JSON-ready."""
        return {
            "data": self.example.name,
            "method": self.method.name,
            "verdict": self.fitted.solved,
            "t_similarity": self.kept,
            "seconds": self.fitted.seconds,
            "certificate": self.fitted.certificate.to_dict(),
        }


def _examples() -> list[Example]:
    """A swiss roll, whose unrolled sheet is known, and real images."""
    roll, images = swiss_roll(ROLL_POINTS, random_state=0), digits()
    tiles = np.pad(images.points[:64].reshape(8, 8, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
    image = tiles.transpose(0, 2, 1, 3).reshape(80, 80)
    return [
        Example("swiss_roll", "swiss roll", roll.points, ("x", "y", "z"), roll.color, "angle"),
        Example("digits", "digits", images.points, images.names, images.labels, "digit", image),
    ]


def demo_methods() -> list[Description]:
    """The methods of the demo."""
    return [method for method in DESCRIPTIONS.values() if method.in_demo]


def _results(example: Example, console: Console, notices: list[str]) -> Iterator[Result]:
    """Every method on one data set."""
    space: Any = space_of(example.X)
    space.neighbors(DEMO_NEIGHBORS + 1)  # as many as the measures need: searched once
    for method in demo_methods():
        begin = perf_counter()
        with console.note_warnings(notices):
            plan = Plan(method, options=DEMO_OPTIONS.get(method.name, {}))
            estimator = plan.estimator()
            if method.needs_graph:
                known = FitContext(graph=space.neighbors(DEMO_NEIGHBORS))
                points = fit_with(estimator, example.X, known).embedding_
            else:
                points = estimator.fit_transform(example.X)
        fitted = FittedMap(plan, estimator, points, (), perf_counter() - begin)
        yield Result(example, fitted, picture_of(space, points, DEMO_NEIGHBORS))


def _line_of(result: Result) -> str:
    """Data set, method, kept neighbours, time and verdict."""
    fitted, grade = result.fitted, result.picture.grade
    return (
        f"{result.example.title:<11} {result.method.name:<10} "
        f"t-similarity {result.kept:.2f} {grade:<10}  {fitted.seconds:6.3f} s  "
        f"{fitted.solved}"
    )


def _kept_words(result: Result) -> str:
    return f"{100 * result.kept:.0f} % of neighbours kept"


def _picture(lines_of_maps: list[list[Result]]) -> bytes:
    """All maps side by side, the data first."""
    rows, names, keys = [], [], []
    for line in lines_of_maps:
        example = line[0].example
        panels = [Panel(image=example.image, title="the data")]
        if example.image is None:
            panels = [Panel(example.X, example.color, "the data")]
        panels += [result.fitted.panel(example.color, _kept_words(result)) for result in line]
        for start in range(0, len(panels), PANELS_PER_LINE):
            rows.append(panels[start : start + PANELS_PER_LINE])
            names.append("" if start else example.title)
            keys.append(example.color_name)
    figure = gallery(rows, row_names=names, color_names=keys)
    return figure_bytes(figure, PICTURE_FILE)


def _page(line: list[Result]) -> str:
    """Page to explore: the digits by some of the methods, with a picture of each row."""
    example = line[0].example
    space = space_of(example.X)  # searched for the first map, then cached
    fitted, maps = {result.method.name: result.fitted for result in line}, []
    for name in METHODS_ON_PAGE:
        done = fitted[name]
        equal, values = done.plan.method.lengths, done.values or None
        shown = Map(name, done.points, values=values, certificate=done.certificate, equal=equal)
        maps.append(measured_map(shown, space, labels=example.color))
    columns, images = {example.color_name: example.color}, (8, 8, example.X)
    return make_page(PageContent(maps, "Handwritten digits", columns, images=images)).html


def _write(
    folder: Path, lines_of_maps: list[list[Result]], picture: bytes, page: str
) -> list[Path]:
    """The picture, the page, the data and the coordinates; the demo replaces its own files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / PICTURE_FILE, folder / PAGE_FILE]
    for path, content in zip(written, (picture, page.encode()), strict=True):
        with atomic_file(path, overwrite=True) as file:
            file.write(content)
    for line in lines_of_maps:
        example = line[0].example
        data = dict(zip(example.features, example.X.T, strict=True))
        written.append(folder / f"{example.name}.csv")
        # The angle is the roll's answer: beside the features it would be taken for one of them.
        classes = {} if example.image is None else {example.color_name: example.color}
        write_table(written[-1], data | classes, overwrite=True)
        columns: dict[str, Array] = {example.color_name: example.color}
        for result in line:
            columns |= dict(zip(result.fitted.axis_names, result.fitted.points.T, strict=True))
        metadata = {
            "schema": "dualfold.demo/1",
            "dualfold": __version__,
            "settings": {"n_components": 2, "n_neighbors": DEMO_NEIGHBORS},
            "methods": {
                r.method.name: {k: v for k, v in r.words().items() if k != "seconds"} for r in line
            },
        }
        written.append(folder / f"{example.name}.maps.csv")
        write_table(written[-1], columns, overwrite=True, metadata=metadata)
    return written


def next_command(folder: Path) -> str:
    """A command to try on what the demo wrote."""
    table, chart = folder / "digits.csv", folder / "digits.eigenmaps.png"
    words = ["dualfold", "embed", str(table), "--method", "eigenmaps", "--color", "digit"]
    return shlex.join([*words, "--n-neighbors", "20", "--picture", str(chart)])
