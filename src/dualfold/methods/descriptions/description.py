"""What is known about one method, as data without numerics, so that help texts are fast."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

Need = Literal["features", "graph", "labels"]

PROVED_GAP = "gap to the optimum, proved"
PROVED_OR_MEASURED = "gap to the optimum, proved; measured on graphs too large to factor"
BY_LINEAR_MAP = "by its linear map"
BY_WEIGHTS = "by local weights of old neighbours"


@dataclass(frozen=True)
class Description:
    """Facts of a method; what is made for all methods is made from them.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        Name in full.
    estimator : str
        "module:Class" below `dualfold.methods`.
    functions : tuple of str
        "module:function" below `dualfold.methods`, which state its problem.
    needs : tuple of str
        What it is made from: "features", a neighbour "graph", class "labels".
    preserves : str
        Column of `dualfold methods`.
    optimises : str
        Column of `dualfold methods`.
    certificate : str
        Column of `dualfold methods`.
    nothing_better : str
        What an optimal answer means, with {d} for the number of coordinates and {s} for its plural;
        empty where nothing is optimised, or nothing can be proved of it.
    lengths : bool
        Whether distances in the map mean something, so that it is drawn to scale.
    linear : bool
        Whether it is a linear map, which has at most as many coordinates as features.
    new_points : str
        How rows that come later are placed.
    size : str
        Large tables that take less than two minutes; SIZES_MEAN says where.
    options : tuple of str, default=()
        Parameters of the estimator that the command line offers beside n_components; their types,
        ranges, defaults and help are those of the estimator.
    defaults : dict, default={}
        Where a method by its name (on the command line, in a recommendation) differs from its
        estimator.
    fixed : dict, default={}
        Parameters that make this method of an estimator with several.
    scaled : bool, default=False
        Whether its columns have the same weight by definition, so that tables are standardised for
        it.
    values : bool, default=True
        Whether its problem has eigenvalues, which stored maps state.
    dual : bool, default=False
        Whether the proof needs dual weights, which a model file keeps.
    weighted : bool, default=False
        Whether `fit` takes weights of rows (`sample_weight`).
    counts : bool, default=False
        Whether its table holds counts, numbers ≥ 0 that are taken as they are, and its map has
        points of the columns, too (`column_embedding_`).
    masses : bool, default=False
        Whether `fit` takes masses of rows (`masses`), which change no graph.
    in_demo : bool, default=True
        Whether `dualfold demo` shows it; variants of a shown method are left out.

    Examples
    --------
    >>> from dualfold.methods.descriptions import DESCRIPTIONS
    >>> DESCRIPTIONS["lle"].estimator_parameters({"radius": 0.5})["n_neighbors"] is None
    True
    """

    name: str
    title: str
    estimator: str
    functions: tuple[str, ...]
    needs: tuple[Need, ...]
    preserves: str
    optimises: str
    certificate: str
    nothing_better: str
    lengths: bool
    linear: bool
    new_points: str
    size: str
    options: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    scaled: bool = False
    values: bool = True
    dual: bool = False
    weighted: bool = False
    counts: bool = False
    masses: bool = False
    in_demo: bool = True

    def words(self) -> dict[str, str]:
        """The columns of `dualfold methods`."""
        return {
            "name": self.name,
            "title": self.title,
            "estimator": self.class_name,
            "preserves": self.preserves,
            "optimises": self.optimises,
            "needs": ", ".join(self.needs),
            "new points": self.new_points,
            "practical size": self.size,
            "certificate": self.certificate,
        }

    @property
    def needs_graph(self) -> bool:
        return "graph" in self.needs

    @property
    def takes_labels(self) -> bool:
        """Whether it learns from classes, always or where it is asked to."""
        return "labels" in self.needs or "supervised" in self.options

    @property
    def along_graph(self) -> bool:
        """Whether the lengths of the map are those along the graph, not straight ones."""
        return self.needs_graph and self.lengths and not self.linear

    @property
    def explains(self) -> str:
        """A word for what the shares of its axes are shares of."""
        return "inertia" if self.counts else "variance"

    @property
    def class_name(self) -> str:
        """The name of the estimator."""
        return self.estimator.partition(":")[2]

    def estimator_class(self) -> Any:
        """The estimator itself; loads the numerics."""
        module, _, name = self.estimator.partition(":")
        return getattr(import_module(f"dualfold.methods._{module}"), name)

    @cached_property
    def estimator_defaults(self) -> dict[str, Any]:
        """Defaults of the estimator's parameters by its signature; loads the numerics."""
        parameters = inspect.signature(self.estimator_class()).parameters
        return {name: parameter.default for name, parameter in parameters.items()}

    def options_of_stored(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Options that stored settings state."""
        names = [name for name in (*self.options, "left_out") if name in settings]
        return {name: settings[name] for name in names}

    def estimator_parameters(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The estimator's parameters for `options` of this method, with its own defaults."""
        chosen = dict(self.defaults) | dict(options) | dict(self.fixed)
        # A radius replaces the number of neighbours, unless both are given.
        if options.get("radius") is not None and "n_neighbors" not in options:
            chosen["n_neighbors"] = None
        return chosen
