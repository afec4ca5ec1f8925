"""The pictures of the documentation, one function each.

python docs/pictures/make.py          all of them
python docs/pictures/make.py trust    one
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from runpy import run_path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import dualfold
from dualfold import PCA, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold import MaximumVarianceUnfolding as Unfolding
from dualfold.data import digits, holed_swiss_roll, swiss_roll
from dualfold.graph import farthest_points
from dualfold.quality import t_similarity, trustworthiness
from dualfold.view.figures import Panel, figure_bytes, gallery

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from first_order import descent, game  # noqa: E402
from site_pictures import apply_style  # noqa: E402

INK, SOFT, BLUE, ORANGE, GREEN = "#222222", "#666666", "#0072B2", "#D55E00", "#009E73"


def kept(X: Any, points: Any) -> str:
    return f"{t_similarity(X, points):.0%} of neighbours kept"


def start() -> Figure:
    """A roll, its map, and how far each point of the map can be believed."""
    roll = swiss_roll(1_500, random_state=0)
    model = Isomap(n_neighbors=10).fit(roll.points)
    trust = trustworthiness(roll.points, model.embedding_, n_neighbors=10, per_point=True)
    gap = f"proved optimal, gap {model.certificate_.gap:.0e}"
    panels = [
        Panel(roll.points, roll.color, "the table: three columns"),
        Panel(model.embedding_, roll.color, "its map by Isomap", gap),
        Panel(
            model.embedding_,
            trust,
            "coloured by trustworthiness",
            kept(roll.points, model.embedding_),
        ),
    ]
    return gallery([panels], title="From a table to a map that was checked")


def which() -> Figure:
    """Three kinds of data by five methods; each map is the optimum of its own problem."""
    long, holed = swiss_roll(1_200, random_state=0), holed_swiss_roll(1_200, random_state=0)
    images = digits()
    methods: dict[str, Callable[[], Any]] = {
        "PCA": lambda: PCA(n_components=2),
        "Isomap": lambda: Isomap(n_neighbors=10),
        "LLE, modified": lambda: LocallyLinearEmbedding(n_neighbors=10, method="modified"),
        "eigenmaps": lambda: LaplacianEigenmaps(n_neighbors=10),
        "MVU": lambda: Unfolding(n_neighbors=6, tol=1e-3),
    }
    rows = []
    for X, color in (
        (long.points, long.color),
        (holed.points, holed.color),
        (images.points[:1_200], images.labels[:1_200]),
    ):
        row = []
        for name, method in methods.items():
            model = method()
            points = model.fit_transform(X)
            verdict = f"{model.certificate_.level} · {kept(X, points)}"
            equal = name in ("PCA", "Isomap", "MVU")
            row.append(Panel(points, color, "" if rows else name, verdict, equal=equal))
        rows.append(row)
    return gallery(
        rows,
        title="All of these are solved; which problem was the right one, the data decide",
        row_names=["a swiss roll", "a roll with a hole", "1,200 digits"],
        color_names=["along the roll", "along the roll", "digit"],
    )


def trust() -> Figure:
    """A problem solved but wrong, one solved and right, and one not solved at all."""
    roll = swiss_roll(1_500, random_state=0)
    X, graph = roll.points, dualfold.graph.knn(roll.points, 10)
    flat = PCA(n_components=2)
    flat_points = flat.fit_transform(X)
    sheet = Isomap(n_neighbors=10).fit(X)
    # The second direction is missed and the one across the roll taken: the picture gains by it.
    problem = dualfold.methods.eigenmaps(graph)
    several = dualfold.embed(dualfold.methods.eigenmaps(graph, n_components=6)).solution.vectors
    spread = [abs(np.corrcoef(column, roll.flat[:, 1])[0, 1]) for column in several.T]
    across = int(np.argmax(spread))
    mistaken = several[:, [0, across]]
    honest = several[:, :2]
    solved, judged = dualfold.certify(problem, honest), dualfold.certify(problem, mistaken)

    def panel(points: Any, title: str, level: str, *, equal: bool = True) -> Panel:
        return Panel(points, roll.color, title, f"{level} · {kept(X, points)}", equal=equal)

    panels = [
        panel(flat_points, "solved, the wrong problem: PCA", flat.certificate_.level),
        panel(honest, "solved, harmonics: eigenmaps", solved.level, equal=False),
        panel(
            mistaken,
            "not solved, and looks better",
            judged.level,
            equal=False,
        ),
        panel(sheet.embedding_, "solved, the right problem: Isomap", sheet.certificate_.level),
    ]
    figure = gallery(
        [panels],
        title="Was the problem solved (certificate)? Was it the right one (quality)?",
        color_names=["along the roll"],
    )
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.3)
    return figure


def theory() -> Figure:
    """The count of eigenvalues, the two sides of an unfolding, a game with its guarantee."""
    figure = Figure(figsize=(11.5, 3.9), dpi=110, layout="constrained")
    counting, sides, game = figure.subplots(1, 3)
    _count_below(counting)
    _two_sides(sides)
    _game(game)
    for axes in (counting, sides, game):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8, colors=SOFT)
        axes.title.set(fontsize=10.5, color=INK)
        axes.xaxis.label.set(fontsize=9, color=SOFT)
        axes.yaxis.label.set(fontsize=9, color=SOFT)
    title = "Three proofs: nothing was missed, nothing is higher, nothing is lower"
    figure.suptitle(title, x=0.012, ha="left", fontsize=13, color=INK)
    return figure


def _count_below(axes: Any) -> None:
    """The number of negative pivots of A − hB as a function of the height h."""
    import scipy.linalg

    problem = dualfold.methods.eigenmaps(dualfold.graph.knn(swiss_roll(500, random_state=0).points))
    A, B = problem.A.toarray(), np.diag(problem.B.times(np.ones((500, 1)))[:, 0])
    heights = np.linspace(1e-5, 0.012, 160)
    counts = [_negative_pivots(scipy.linalg.ldl(A - h * B)[1]) - 1 for h in heights]
    found = dualfold.embed(problem).values
    axes.step(heights, counts, where="post", color=BLUE, lw=1.8)
    axes.plot(found, [1, 2], "o", color=ORANGE, ms=7, zorder=3)
    height = (found[1] + heights[np.searchsorted(counts, 3)]) / 2
    axes.axvline(height, color=SOFT, lw=1, ls="--")
    axes.text(
        0.03,
        0.97,
        "at the dashed height:\n2 negative pivots,\n2 values found below it,\nso none was missed",
        transform=axes.transAxes,
        va="top",
        fontsize=8.5,
        color=INK,
    )
    axes.set(
        title="inertia counts eigenvalues",
        xlabel="height h",
        ylabel="negative pivots of A − hB, less the trivial one",
    )
    axes.set_ylim(-0.3, max(counts) + 0.6)
    axes.locator_params(nbins=4)


def _negative_pivots(D: Any) -> int:
    return int(np.sum(np.linalg.eigvalsh(D) < 0))


def _two_sides(axes: Any) -> None:
    """Lower and upper bound of an unfolding, iteration by iteration."""
    model = Unfolding(n_neighbors=6, solver="interior_point", tol=1e-9)
    model.fit(swiss_roll(150, random_state=0).points)
    turns = [record.iteration for record in model.history_]
    lower = np.array([record.lower for record in model.history_])
    upper = np.array([record.upper for record in model.history_])
    best = model.certificate_.upper
    axes.plot(turns, upper / best, color=ORANGE, lw=1.8)
    axes.plot(turns, lower / best, color=BLUE, lw=1.8)
    axes.fill_between(turns, lower / best, upper / best, color="#eeeeee", zorder=0)
    axes.text(turns[4], 1.3, "from above: edge weights", color=ORANGE, fontsize=8.5)
    axes.text(turns[4], 0.35, "from below: points", color=BLUE, fontsize=8.5)
    axes.set_ylim(0, 2)
    axes.set(title="both sides of an unfolding", xlabel="iteration", ylabel="variance / optimum")
    words = f"{model.certificate_.level}: gap {model.certificate_.gap:.0e}"
    axes.text(0.97, 0.04, words, transform=axes.transAxes, ha="right", fontsize=8.5, color=INK)


def _game(axes: Any) -> None:
    """The duality gap of two pairs of players, and what each was promised."""
    from dualfold.games import Quadratic, averaged_descent, nesterov

    f = Quadratic(np.diag([1.0, 100.0]), np.array([-1.0, 0.0]))
    for recipe, name, color in (
        (averaged_descent(f, np.zeros(2), radius=2.0), "averaged descent", ORANGE),
        (nesterov(f, np.zeros(2), radius=2.0), "Nesterov", BLUE),
    ):
        run = recipe.play(1_000)
        rounds = np.arange(1, run.rounds + 1)
        axes.loglog(rounds, run.gap, color=color, lw=1.8, label=name)
        promised = [recipe.bound(int(T)) for T in rounds]
        axes.loglog(rounds, promised, color=color, lw=1, ls=":", label="… promised")
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    axes.set(title="a game, with its gap at every round", xlabel="round", ylabel="duality gap")


def landmarks() -> Figure:
    """Landmarks of a large roll, and new points on an old map."""
    roll = swiss_roll(20_000, random_state=0)
    model = Isomap(n_neighbors=10, landmarks=150).fit(roll.points)
    old, new = swiss_roll(2_000, random_state=1), swiss_roll(150, random_state=2)
    sheet = Isomap(n_neighbors=10).fit(old.points)
    figure = Figure(figsize=(10.5, 2.3), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2)
    # The rule by which the estimator chose them, with its seed.
    corners = farthest_points(model.graph_, 150, random_state=0).indices
    left.scatter(*model.embedding_.T, c=roll.color, s=1.2, lw=0)
    left.scatter(*model.embedding_[corners].T, c=INK, s=7, lw=0)
    left.set_title("20,000 points by 150 landmarks (black)", fontsize=11, color=INK)
    certificate = (
        f"{model.certificate_.level}: gap {model.certificate_.gap:.0e}, about the landmarks"
    )
    left.set_xlabel(certificate, fontsize=9, color=SOFT)
    placed = sheet.transform(new.points)
    right.scatter(*sheet.embedding_.T, c="#d8d8d8", s=7, lw=0)
    right.scatter(*placed.T, c=new.color, s=26, edgecolors="white", lw=0.5)
    right.set_title("150 new points on the map of 2,000 old ones", fontsize=11, color=INK)
    right.set_xlabel("old points stay where they were (grey)", fontsize=9, color=SOFT)
    for axes in (left, right):
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_color("#e4e4e4")
    return figure


def neighbor_map() -> Figure:
    """Neighbours kept, and the divergence with its bound, against the spread: 400 digits."""
    import csv

    with (HERE / "neighbor-map.csv").open() as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    spreads = [row["spread"] for row in rows]
    left.plot(spreads, [row["value"] for row in rows], color="#1f6f8b", label="the map")
    bounds = [max(row["bound"], 0.0) for row in rows]
    left.plot(spreads, bounds, color="#c1443c", label="no white map has less, proved")
    left.fill_between(spreads, bounds, [row["value"] for row in rows], color="#1f6f8b", alpha=0.12)
    left.set(xscale="log", xlabel="spread", ylabel="KL in nats", ylim=(0, None))
    left.legend(frameon=False)
    gaps = [(row["value"] - row["bound"]) / row["bound"] for row in rows if row["bound"] > 0]
    kept_shares = [100 * row["kept"] for row in rows if row["bound"] > 0]
    right.plot([100 * gap for gap in gaps], kept_shares, "o-", color="#1f6f8b")
    right.set(xscale="log", xlabel="proved gap, %", ylabel="neighbours kept, %")
    beyond = [100 * row["kept"] for row in rows if row["bound"] <= 0]
    if beyond:
        right.axhline(beyond[-1], color="#999999", linestyle=":")
        words = f"spread {spreads[-1]:g}: no bound above 0"
        right.annotate(words, (0.03, beyond[-1]), xycoords=("axes fraction", "data"),
                       va="bottom", color="#666666")  # fmt: skip
    return figure


def of_example(name: str) -> Callable[[], Figure]:
    """The figure that an example of the gallery draws."""

    def draw() -> Figure:
        folder = HERE.parent / "gallery"
        with matplotlib.rc_context():
            apply_style({}, name)
            return run_path(str(folder / f"plot_{name}.py"))["figure"]

    return draw


PICTURES: dict[str, tuple[Callable[[], Figure], int]] = {  # with their dots per inch
    "proved-and-failed": (of_example("small_residuals"), 90),
    "start": (start, 100),
    "which-method": (which, 72),
    "trust": (trust, 90),
    "theory": (theory, 110),
    "landmarks": (landmarks, 100),
    "linear": (of_example("supervised"), 90),
    "graph-methods": (of_example("roll_by_six"), 80),
    "unfolding": (of_example("two_bounds"), 90),
    "coordinates": (of_example("overtones"), 90),
    "attraction": (of_example("attraction"), 80),
    "game": (game, 110),
    "descent": (descent, 110),
    "neighbor-map": (neighbor_map, 110),  # of neighbor-map.csv: python -m benchmarks.neighbor_maps
}


def main(names: list[str]) -> None:
    for name in names or PICTURES:
        draw, dots = PICTURES[name]
        path = HERE / f"{name}.png"
        drawn = Image.open(BytesIO(figure_bytes(draw(), path, dpi=dots))).convert("RGB")
        # A palette looks the same in such pictures and takes a third of the bytes.
        drawn.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
