"""Fisher's discriminant."""

from __future__ import annotations

from typing import Any, Literal

from dualfold.data.labels import labels_of
from dualfold.errors import Argument, InvalidInput
from dualfold.maps.linear import ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.class_scatter import ClassScatter, class_scatter, ledoit_wolf_scatter
from dualfold.weights.row_passes import table

Shrinkage = float | Literal["auto"] | None


def fisher_discriminant(
    X: Any, labels: Any, *, n_components: int | None = None, shrinkage: Shrinkage = None
) -> TraceProblem:
    """The directions along which classes lie apart, measured by the spread within them (LDA).

        maximise tr(VᵀS_bV)  subject to  VᵀS_wV = I,   points HXV

    S_w is the mean covariance of the classes, S_t the covariance of all rows of X, and
    S_b = S_t − S_w that of the class means. c classes have c − 1 such directions at most, and
    `n_components`=None takes as many. Preserves what tells the classes of `labels` apart if all
    of them spread alike; fails where they differ by their spread and not by their means, or lie
    around one another. With few rows for many features S_w is singular: `shrinkage` moves S_w
    and S_t towards (tr S/D)·I by a share between 0 and 1, or by Ledoit and Wolf's estimate
    for each class and for all rows ("auto"). Both as in scikit-learn.

    Fisher, "The use of multiple measurements in taxonomic problems" (1936); Ledoit and Wolf,
    "A well-conditioned estimator for large-dimensional covariance matrices" (2004).
    """
    data = table(X)
    classes = labels_of(labels, data.shape[0]).of_two_or_more(
        "the spread within a class is not known from one row"
    )
    if shrinkage == "auto":
        found = ledoit_wolf_scatter(data, classes)
    else:
        found = class_scatter(data, classes, float(shrinkage or 0.0))
    return discriminant_problem(found, len(classes.classes), n_components, data)


def discriminant_problem(
    found: ClassScatter, classes: int, n_components: int | None, data: Any = None
) -> TraceProblem:
    """The problem of these matrices, of so many classes; without `data` it has a map, no points."""
    most = min(classes - 1, len(found.within))
    count = most if n_components is None else n_components
    if count > most:
        raise InvalidInput(
            Argument("n_components", count),
            f" asks for too many directions; {classes} classes in {len(found.mean)} "
            f"features have {most} at most; lower ",
            Argument("n_components"),
            f" to {most}",
        )
    lift = ProjectionLift(data, found.mean, space=found.space)
    return TraceProblem(found.between, found.within, count, "max", lift=lift)
