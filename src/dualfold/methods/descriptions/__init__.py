"""What each method is, stated once: a row of one of the tables beside this.

The exports, the command line with its options, the saved models and the tables of the docs are
made from these rows (`docs/generated.py` writes the last). Nothing here needs numerics.
"""

from __future__ import annotations

from typing import Literal, get_args

from dualfold.methods.descriptions.description import Description
from dualfold.methods.descriptions.feature_methods import LINEAR_METHODS, POINT_METHODS
from dualfold.methods.descriptions.graph_methods import GRAPH_METHODS, PROJECTION_METHODS

__all__ = [
    "DESCRIPTIONS",
    "ESTIMATOR_MODULES",
    "FUNCTION_MODULES",
    "SERIES_METHODS",
    "SIZES_MEAN",
    "Description",
    "SeriesMethod",
    "description_of",
]

# Variants of a method come last.
DESCRIPTIONS: dict[str, Description] = {
    row.name: row
    for row in sorted(
        (*LINEAR_METHODS, *GRAPH_METHODS, *POINT_METHODS, *PROJECTION_METHODS),
        key=lambda row: not row.in_demo,
    )
}
# Estimators and functions of two tables, "module:name"; the command line reads one.
TWO_TABLE_METHODS = (("cca:CCA", "cca:cca"),)
# Public names, with the modules below dualfold.methods (with an underscore before) they are from.
ESTIMATOR_MODULES = {
    row.class_name: row.estimator.partition(":")[0] for row in DESCRIPTIONS.values()
} | {name: module for row in TWO_TABLE_METHODS for module, _, name in (row[0].partition(":"),)}
FUNCTION_MODULES = {
    name: module
    for row in DESCRIPTIONS.values()
    for module, _, name in (function.partition(":") for function in row.functions)
} | {name: module for row in TWO_TABLE_METHODS for module, _, name in (row[1].partition(":"),)}
# Methods that map a series of tables (`AlignedMaps`).
SeriesMethod = Literal["eigenmaps", "diffusion-maps", "lpp", "pca", "tsne"]
SERIES_METHODS: tuple[str, ...] = get_args(SeriesMethod)
SIZES_MEAN = (
    "Practical size: rows that were measured to take less than two minutes on 2 cores, neighbours "
    "and certificate included. A sheet is a swiss roll, 3 columns; images are MNIST, 784 columns. "
    "Larger tables: just try, Ctrl-C leaves no files."
)
# Methods that people know from other programs.
METHODS_OF_OTHERS = ("umap", "phate", "trimap", "pacmap", "som", "autoencoder", "vae")


def description_of(name: str) -> Description:
    """Return the description of a method.

    Parameters
    ----------
    name : str
        Name of the method on the command line; other spellings are understood, such as "t-SNE".

    Returns
    -------
    Description
        What is known about the method.

    Raises
    ------
    LookupError
        If there is no such method; the message names a close one.

    Examples
    --------
    >>> from dualfold.methods.descriptions import description_of
    >>> description_of("t-SNE").class_name
    'TSNE'
    """
    import difflib
    import re

    if name.lower() in DESCRIPTIONS:
        return DESCRIPTIONS[name.lower()]
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain in DESCRIPTIONS:  # t-SNE is tsne
        return DESCRIPTIONS[plain]
    if plain in METHODS_OF_OTHERS:
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
