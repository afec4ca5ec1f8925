"""Which problem a stored map is about: its estimator's, stated again from the data.

Only a name and parameters are taken from a file. They say which problem it is about; whoever
asks for a judgement sees them in the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualfold.certificate import checked_tolerance
from dualfold.descriptions import DESCRIPTIONS, ESTIMATORS, Description
from dualfold.errors import InvalidInput
from dualfold.estimators.graph_estimator import GraphEstimator
from dualfold.maps.attraction import AttractionMap
from dualfold.saved.agreement import disagreements
from dualfold.saved.model import BothSides, Model
from dualfold.saved.parts import parts_of
from dualfold.saved.pieces import (
    Asking,
    judged_piece,
    judged_pieces,
    stored_around_landmarks,
    stored_pieces,
    stored_points,
)
from dualfold.saved.recheck import rechecked
from dualfold.saved.remodel import answered

# They change how an answer is found or reported, not which one is right.
IDLE = {"n_jobs": None, "verbose": False}


def rechecked_model(
    model: Model, X: Any, y: Any = None, *, tolerance: float = 1e-4, fresh: bool = False
) -> Any:
    """Judge a model by the rows X and labels y that it was made of (X standardised where it was).

    A relative gap up to `tolerance` is "proved"; `fresh` draws random starts from the system.
    Returns the certificate: of a trace problem, an unfolding, or of pieces.
    """
    asking = Asking(checked_tolerance(tolerance), fresh)
    estimator = restated(model)
    data = estimator._checked(X, reset=True)
    if data.shape[1] != len(model.columns):
        raise InvalidInput(
            f"the rows have {data.shape[1]} columns, the model was made for {len(model.columns)}"
        )
    found = _judged(estimator, data, y, model, asking)
    if "estimator" not in model.settings:
        return found
    scaled = [name for name in ("shift", "scale", "means") if getattr(model, name) is not None]
    return found.doubted(*(f"the model has a {name} of its own" for name in scaled))


def _judged(estimator: Any, data: Any, y: Any, model: Model, asking: Asking) -> Any:
    width = model.coordinates
    if hasattr(estimator, "judged_points"):
        return _judged_forces(estimator, data, model)
    if not isinstance(estimator, GraphEstimator):
        stated = estimator.stated(data, width, y)
        return answered(stated, model.map, **vars(asking))[0]
    graph = estimator._graph(data)
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        return judged_pieces(estimator, graph, model, asking)
    graph = estimator._in_one_piece(graph)
    if isinstance(model.map, AttractionMap):
        return _judged_near(estimator, graph, data, model.map, asking)
    count = estimator._asked(width, graph.n - 1)
    return judged_piece(estimator, graph, model.map, count, model.both_sides, asking)[0]


def rechecked_points(
    estimator: Any,
    X: Any,
    points: Any,
    values: Any = None,
    sides: BothSides | None = None,
    y: Any = None,
    *,
    tolerance: float = 1e-4,
    fresh: bool = False,
) -> Any:
    """Judge points (n×d) that are to be the answer of an `estimator` (not fitted) to X.

    values : the eigenvalues that were stored with them
    sides : factor and dual weights of an unfolding, where they were kept
    y : the labels, for methods that use them
    tolerance, fresh : as for `rechecked_model`
    """
    asking = Asking(checked_tolerance(tolerance), fresh)
    data = estimator._checked(X, reset=True)
    found = np.asarray(points)
    if hasattr(estimator, "judged_points"):
        return estimator.judged_points(data, found)
    if not isinstance(estimator, GraphEstimator):
        stated = estimator.stated(data, found.shape[1], y)
        plain = _unscaled(stated.scaling, found, values)
        return rechecked(stated.problem, plain, values, **vars(asking))
    if len(found) != data.shape[0]:
        raise InvalidInput(f"{len(found)} points are stored and the data has {data.shape[0]} rows")
    graph = estimator._graph(data)
    if graph.n < len(found):
        return stored_around_landmarks(estimator, graph, data, found, values, sides, asking)
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        return stored_pieces(estimator, graph, found, values, sides, asking)
    graph = estimator._in_one_piece(graph)
    return stored_points(estimator, graph, found, values, sides, asking)


def _judged_forces(estimator: Any, data: Any, model: Model) -> Any:
    """Points that attract and repel: judged as they are stored, and the rule of new ones."""
    points = getattr(model.map, "points", None)
    if not isinstance(model.map, AttractionMap) or points is None:
        raise InvalidInput(
            f"a {type(model.map).__name__} holds no map of {type(estimator).__name__}"
        )
    if np.shape(points) != (data.shape[0], estimator.n_components):
        raise InvalidInput(
            f"the model holds points of shape {np.shape(points)} and the data has "
            f"{data.shape[0]} rows"
        )
    found = estimator.judged_points(data, points)
    mine = estimator.rule_of(data, points)
    return found.doubted(*disagreements(parts_of(mine), parts_of(model.map)))


def _judged_near(estimator: Any, graph: Any, data: Any, map_: AttractionMap, asking: Asking) -> Any:
    """Landmarks at whose means new rows are placed: their points by the problem, then the rule."""
    mine = estimator._second_rule(graph, map_.points, data)
    if mine is None:
        raise InvalidInput(f"{type(estimator).__name__} places no rows at means of near ones")
    points = np.asarray(map_.points)
    if graph.n < len(points):
        found = stored_around_landmarks(estimator, graph, data, points, None, None, asking)
    else:
        found = stored_points(estimator, graph, points, None, None, asking)
    return found.doubted(*disagreements(parts_of(mine), parts_of(map_)))


def _unscaled(scaling: Any, points: Any, values: Any) -> Any:
    """The points that the problem itself has, in the precision that they are stored in."""
    if values is None:
        return points
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return scaling(np.asarray(values, dtype=float)).undone(points).astype(points.dtype)


def restated(model: Model) -> Any:
    """The estimator whose model this is to be, not fitted."""
    settings = model.settings
    if isinstance(settings.get("settings"), dict) and "estimator" not in settings:
        return estimator_of(settings["settings"])
    name, parameters = settings.get("estimator"), settings.get("parameters")
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise InvalidInput(
            f"the model is of {name!r}, which is no estimator; there are {', '.join(ESTIMATORS)}"
        )
    row = next(row for row in DESCRIPTIONS.values() if row.class_name == name)
    known = row.estimator_class()().get_params()
    if not isinstance(parameters, dict) or not parameters.keys() <= known.keys():
        raise InvalidInput(
            "the model does not hold the parameters it was fitted with; save it again"
        )
    if settings.get("not_kept"):
        raise InvalidInput(
            f"the model was fitted with {settings['not_kept']}, which no file keeps, so its "
            "problem cannot be stated again"
        )
    same = {name: value for name, value in IDLE.items() if name in known}
    if parameters.get("radius") is not None:  # files of projections once named both; it decided
        same["n_neighbors"] = None
    return _estimator(row, parameters | same)


def estimator_of(settings: Mapping[str, Any]) -> Any:
    """The estimator, not fitted, of what the command line stores as settings."""
    row = DESCRIPTIONS.get(str(settings.get("method")))
    if row is None:
        raise InvalidInput(f"there is no method {settings.get('method')!r}")
    known = row.stored(settings)
    count = settings.get("n_components", 2)
    return _estimator(row, {"n_components": count} | row.parameters(known))


def _estimator(row: Description, parameters: Mapping[str, Any]) -> Any:
    kind = row.estimator_class()
    for name, value in parameters.items():
        # A bool is a whole number to Python, and True neighbours are one.
        flag = isinstance(value, bool) and "boolean" not in kind._parameter_constraints[name]
        if name in ("left_out", "coordinates") and isinstance(value, list):
            continue  # checked where it is used
        if name == "graph" and value is not None:  # no file holds one as a parameter
            raise InvalidInput(f"the file states {name} as {value!r}, which is no value of it")
        if not isinstance(value, None | bool | int | float | str) or (flag and name != "verbose"):
            raise InvalidInput(f"the file states {name} as {value!r}, which is no value of it")
    estimator = kind(**parameters)
    try:
        estimator._validate_params()
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"the file's parameters are none of {row.class_name}: {error}"
        ) from error
    return estimator
