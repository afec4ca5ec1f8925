"""The whole curve of neighbour maps: neighbours kept against the proved gap.

    python -m benchmarks.neighbor_maps             # 400 digits: docs/pictures/neighbor-map.csv
    python -m benchmarks.neighbor_maps --rows 100

Prints, for every spread, KL of the map, its proved bound, the gap and the share of the ten nearest
neighbours kept, beside eigenmaps.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from benchmarks.measured import Value, record
from benchmarks.tables import machine_words
from dualfold import LaplacianEigenmaps, NeighborMap
from dualfold.data import digits
from dualfold.quality import t_similarity

SPREADS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
KEY = "neighbor-map-spreads"
OUT = Path(__file__).parent.parent / "docs" / "pictures" / "neighbor-map.csv"


def main() -> None:
    """Measure, print, write the numbers of the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument(
        "--write", action="store_true", help="the numbers of the figure and of measured.csv anew"
    )
    asked = parser.parse_args()
    X = digits().points[: asked.rows].astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = LaplacianEigenmaps(constraint="identity", left_out=()).fit(X)
    print(
        "| spread | KL of the map | proved bound | gap | neighbours kept |\n|---|---|---|---|---|"
    )
    kept = float(t_similarity(X, plain.embedding_))
    print(f"| eigenmaps | – | – | – | {kept:.1%} |")
    measured = [Value(KEY, "eigenmaps", "kept", f"{kept:.4g}", "share")]
    lines = ["spread,value,bound,kept"]
    for spread in SPREADS:
        model = NeighborMap(spread=spread).fit(X)
        verdict, kept = model.certificate_, float(t_similarity(X, model.embedding_))
        gap = f"{verdict.gap:.2%}" if verdict.bound > 0 else "–"
        print(
            f"| {spread:g} | {verdict.value:.4f} | {verdict.bound:.4f} | {gap} | {kept:.1%} |",
            flush=True,
        )
        told = {"kl": (verdict.value, ""), "bound": (verdict.bound, "")}
        told |= {"gap": (verdict.gap, "share"), "kept": (kept, "share")}
        side = f"spread {spread:g}"
        measured += [Value(KEY, side, name, f"{x:.6g}", unit) for name, (x, unit) in told.items()]
        lines.append(f"{spread:g},{verdict.value:.6f},{verdict.bound:.6f},{kept:.6f}")
    if asked.write:
        OUT.write_text("\n".join(lines) + "\n")
        record(measured, "python -m benchmarks.neighbor_maps --write", machine_words())


if __name__ == "__main__":
    main()
