"""What each method is, stated once: a row of one of the tables beside this.

The exports, the command line with its options, the saved models and the tables of the docs are
made from these rows (`docs/generated.py` writes the last). Nothing here needs numerics.
"""

from __future__ import annotations

from dualfold.descriptions.description import Description
from dualfold.descriptions.forces import FORCES
from dualfold.descriptions.graphs import GRAPHS
from dualfold.descriptions.linear import LINEAR
from dualfold.descriptions.projections import PROJECTIONS

__all__ = ["DESCRIPTIONS", "ESTIMATORS", "FUNCTIONS", "SIZES_MEAN", "Description", "described"]

# Variants of a method stand after all that are shown first.
DESCRIPTIONS: dict[str, Description] = {
    row.name: row
    for row in sorted((*LINEAR, *GRAPHS, *FORCES, *PROJECTIONS), key=lambda row: not row.in_demo)
}
# Public names, with the modules below dualfold.methods (with an underscore before) they are from.
ESTIMATORS = {row.class_name: row.estimator.partition(":")[0] for row in DESCRIPTIONS.values()}
FUNCTIONS = {
    name: module
    for row in DESCRIPTIONS.values()
    for module, _, name in (function.partition(":") for function in row.functions)
}
SIZES_MEAN = (
    "Practical size: what was measured on 2 cores, neighbours and certificate included "
    "(benchmarks/RESULTS.md; ~ is a single run on a busy machine, not a benchmark). A sheet is a "
    "swiss roll, 3 columns; images are MNIST, 784 columns. Larger tables: "
    "just try, Ctrl-C leaves no files."
)
# What people ask for by name and other programs have.
ELSEWHERE = ("umap", "phate", "trimap", "pacmap", "som", "autoencoder", "vae")


def described(name: str) -> Description:
    """The method of that name; LookupError with the close ones otherwise."""
    import difflib
    import re

    if name.lower() in DESCRIPTIONS:
        return DESCRIPTIONS[name.lower()]
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain in DESCRIPTIONS:  # t-SNE is tsne
        return DESCRIPTIONS[plain]
    if plain in ELSEWHERE:
        raise LookupError(
            f"{name} is not among the methods; tsne keeps neighbours at least as well, with "
            "--attraction 4 in a map that looks like UMAP's, and `dualfold report` measures a map "
            "that another program made."
        )
    close = difflib.get_close_matches(name.lower(), DESCRIPTIONS, n=1, cutoff=0.5)
    raise LookupError(
        f"there is no method {name!r}"
        + (f"; did you mean {close[0]}?" if close else f"; there are {', '.join(DESCRIPTIONS)}.")
        + " `dualfold methods` says what each one does."
    )
