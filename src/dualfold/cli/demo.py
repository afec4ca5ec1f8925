"""`dualfold demo`: every method on two data sets that need no download."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from dualfold import __version__
from dualfold.cli.console import Console
from dualfold.cli.job import Job
from dualfold.cli.verdict_words import short_verdict, verdict
from dualfold.descriptions import DESCRIPTIONS, Description

N_NEIGHBORS = 10
ROLL_POINTS = 3000
# Rounds of t-SNE for which the demo's twenty seconds have room; its forces balance after them.
OPTIONS = {"tsne": {"max_iter": 600}}
PICTURE, PAGE = "demo.png", "digits.html"
# On the page: two to compare; measuring a map takes as long as making eight.
ON_PAGE = ("tsne", "isomap")
ACROSS = 5  # panels in a row of the picture: as wide as a page or a screen


@dataclass(frozen=True, eq=False)
class Example:
    """A data set of the demo: its features, a column to colour by, how to show the data."""

    name: str
    title: str
    X: Any
    features: tuple[str, ...]
    color: Any
    color_name: str
    image: Any = None


@dataclass(frozen=True, eq=False)
class Result:
    """One method on one data set."""

    example: Example
    method: Description
    estimator: Any
    points: Any
    kept: float
    seconds: float

    def words(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "data": self.example.name,
            "method": self.method.name,
            "verdict": verdict(self.method, self.estimator.certificate_, 2),
            "t_similarity": self.kept,
            "seconds": self.seconds,
            "certificate": self.estimator.certificate_.to_dict(),
        }


def examples() -> list[Example]:
    """A swiss roll, whose right answer everybody knows, and real images."""
    import numpy as np

    from dualfold.data import digits, swiss_roll

    roll, images = swiss_roll(ROLL_POINTS, random_state=0), digits()
    tiles = np.pad(images.points[:64].reshape(8, 8, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
    return [
        Example("swiss_roll", "swiss roll", roll.points, ("x", "y", "z"), roll.color, "angle"),
        Example(
            "digits",
            "digits",
            images.points,
            images.names,
            images.labels,
            "digit",
            image=tiles.transpose(0, 2, 1, 3).reshape(80, 80),
        ),
    ]


def shown() -> list[Description]:
    """The methods of the demo."""
    return [method for method in DESCRIPTIONS.values() if method.in_demo]


def results(example: Example, console: Console, notices: list[str]) -> Iterator[Result]:
    """Every method on one data set."""
    from dualfold.quality import t_similarity
    from dualfold.quality.space import space_of

    space: Any = space_of(example.X)
    for method in shown():
        begin = perf_counter()
        with console.noting_warnings(notices):
            estimator = Job(method, options=OPTIONS.get(method.name, {})).estimator()
            if method.needs_graph:  # searched for the first of them, then known
                estimator.set_params(graph=space.neighbors(N_NEIGHBORS))
            points = estimator.fit_transform(example.X)
        seconds = perf_counter() - begin
        kept = float(t_similarity(space, points, N_NEIGHBORS))
        yield Result(example, method, estimator, points, kept, seconds)


def in_a_line(result: Result) -> str:
    """Data set, method, kept neighbours, time and verdict."""
    from dualfold.quality import Picture

    grade = Picture(result.kept, len(result.points), N_NEIGHBORS).grade
    return (
        f"{result.example.title:<11} {result.method.name:<10} "
        f"t-similarity {result.kept:.2f} {grade.split()[0]:<4}  {result.seconds:6.3f} s  "
        f"{verdict(result.method, result.estimator.certificate_, 2)}"
    )


def picture(found: list[list[Result]]) -> bytes:
    """All maps side by side, the data first."""
    from dualfold.view.figures import Panel, figure_bytes, gallery

    rows, names, keys = [], [], []
    for line in found:
        example = line[0].example
        first = (
            Panel(example.X, example.color, "the data")
            if example.image is None
            else Panel(image=example.image, title="the data")
        )
        maps = [
            Panel(
                result.points,
                example.color,
                result.method.name,
                f"{short_verdict(result.estimator.certificate_)}\n"
                f"{100 * result.kept:.0f} % of neighbours kept",
                result.method.lengths,
            )
            for result in line
        ]
        panels = [first, *maps]
        for start in range(0, len(panels), ACROSS):
            rows.append(panels[start : start + ACROSS])
            names.append("" if start else example.title)
            keys.append(example.color_name)
    figure = gallery(rows, row_names=names, color_names=keys)
    return figure_bytes(figure, PICTURE)


def page(line: list[Result]) -> str:
    """One page to explore: the digits by some of the methods, with a picture of each row."""
    from dualfold.quality.space import space_of
    from dualfold.view.page import PageContent, make_page
    from dualfold.view.page_map import Map, measured_map

    example = line[0].example
    space = space_of(example.X)  # searched for the first map, then known
    maps = [
        measured_map(
            Map(
                result.method.name,
                result.points,
                values=result.estimator.eigenvalues_ if result.method.values else None,
                certificate=result.estimator.certificate_,
                equal=result.method.lengths,
            ),
            space,
            labels=example.color,
        )
        for name in ON_PAGE
        for result in line
        if result.method.name == name
    ]
    pictures = (8, 8, example.X)
    columns = {example.color_name: example.color}
    content = PageContent(maps, "Handwritten digits", columns=columns, images=pictures)
    return make_page(content).html


def write(folder: Path, found: list[list[Result]], drawn: bytes, shown: str) -> list[Path]:
    """The picture, the page, the data and the coordinates; the demo replaces its own files."""
    from dualfold.data import write_table
    from dualfold.data.atomic_files import atomic_file

    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / PICTURE, folder / PAGE]
    for path, content in zip(written, (drawn, shown.encode()), strict=True):
        with atomic_file(path, overwrite=True) as file:
            file.write(content)
    for line in found:
        example = line[0].example
        data = dict(zip(example.features, example.X.T, strict=True))
        written.append(folder / f"{example.name}.csv")
        # The angle is the roll's answer: beside the features it would be taken for one of them.
        classes = {} if example.image is None else {example.color_name: example.color}
        write_table(written[-1], data | classes, overwrite=True)
        columns: dict[str, Any] = {example.color_name: example.color}
        for result in line:
            for axis in range(2):
                columns[f"{result.method.name}_{axis + 1}"] = result.points[:, axis]
        metadata = {
            "schema": "dualfold.demo/1",
            "dualfold": __version__,
            "settings": {"n_components": 2, "n_neighbors": N_NEIGHBORS},
            "methods": {
                r.method.name: {k: v for k, v in r.words().items() if k != "seconds"} for r in line
            },
        }
        written.append(folder / f"{example.name}.maps.csv")
        write_table(written[-1], columns, overwrite=True, metadata=metadata)
    return written


def next_command(folder: Path) -> str:
    """Something to run at once, on what the demo wrote."""
    table, chart = folder / "digits.csv", folder / "digits.eigenmaps.png"
    words = ["dualfold", "embed", str(table), "--method", "eigenmaps", "--color", "digit"]
    return shlex.join([*words, "--n-neighbors", "20", "--picture", str(chart)])
