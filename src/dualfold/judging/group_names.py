"""Names of the groups of a map, by terms of texts or by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.judging.column_names import ColumnName, names_by_columns
from dualfold.judging.named_groups import NOT_FOUND, NamedGroups, NameFigure
from dualfold.judging.term_names import telling_terms

__all__ = ["with_names"]


def with_names(
    groups: NamedGroups,
    columns: Mapping[str, Any],
    *,
    terms: Sequence[str] = (),
    weights: Any = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    random_state: int = 0,
) -> NamedGroups:
    """The groups with their names, by terms, or by columns where there are none.

    columns : name → one value for each row; weights : of terms, sparse, or None
    orders : column → its levels from low to high, of columns that hold their places, from 0
    """
    by_columns = _names_by_columns(groups, columns, orders, random_state)
    present, overall = None, np.zeros(0)
    if weights is not None:
        present = sp.csr_array(weights, copy=True)
        present.data = np.ones_like(present.data)
        overall = np.asarray(present.sum(axis=0)).ravel()
    named = []
    for index, group in enumerate(groups):
        around = _surroundings(groups, index)
        inside = np.isin(around, group.rows, assume_unique=True)
        of_columns = by_columns[index]
        figures, has = of_columns.figures, of_columns.has_all
        if present is not None:
            chosen = telling_terms(present, terms, group.rows, around, overall, len(groups))
            figures, has = _figures_of_terms(present[around], terms, chosen, inside)
        if group.verdict == NOT_FOUND:
            figures = ()
        named.append(
            replace(
                group,
                name=" · ".join(figure.words for figure in figures),
                made_of="columns" if present is None else "terms",
                figures=figures,
                inside=int(has[inside].sum()) if figures else 0,
                outside=int(has[~inside].sum()) if figures else 0,
                around=len(around) - group.size,
                differences=() if group.verdict == NOT_FOUND else of_columns.differences,
            )
        )
    return replace(groups, groups=tuple(named))


def _surroundings(groups: NamedGroups, index: int) -> Array:
    """Rows of the group around one, with its own."""
    context = groups.surroundings(index)
    return np.arange(groups.n_rows) if context < 0 else groups[context].rows


def _figures_of_terms(
    present: sp.csr_array, terms: Sequence[str], chosen: list[int], inside: Array
) -> tuple[tuple[NameFigure, ...], Array]:
    """The terms with their counts, and which rows have any of them."""
    if not chosen:
        return (), np.zeros(len(inside), dtype=bool)
    has = present[:, chosen].toarray() > 0
    counts = zip(chosen, has[inside].sum(axis=0), has[~inside].sum(axis=0), strict=True)
    figures = (NameFigure(terms[term], int(own), int(other)) for term, own, other in counts)
    return tuple(figures), has.any(axis=1)


def _names_by_columns(
    groups: NamedGroups,
    columns: Mapping[str, Any],
    orders: Mapping[str, Sequence[str]] | None,
    seed: int,
) -> list[ColumnName]:
    """Differences of each group from the rest of its surroundings; siblings in one pass."""
    names: dict[int, ColumnName] = {}
    values = {name: np.asarray(column) for name, column in columns.items()}
    siblings: dict[tuple[int, int], list[int]] = {}
    for index, group in enumerate(groups):
        siblings.setdefault((group.level, groups.surroundings(index)), []).append(index)
    for indices in siblings.values():
        around = _surroundings(groups, indices[0])
        codes = np.full(len(around), -1)
        for code, index in enumerate(indices):
            codes[np.isin(around, groups[index].rows, assume_unique=True)] = code
        among = {name: column[around] for name, column in values.items()}
        made = names_by_columns(among, codes, len(indices), orders, seed)
        names |= dict(zip(indices, made, strict=True))
    return [names[index] for index in range(len(groups))]
