"""A fitted estimator as a model that can be saved."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.data.encoding import features_of, to_json
from dualfold.errors import InvalidInput
from dualfold.saved.model import BothSides, Model
from dualfold.saved.parts import PlacingMap, parts_of


def model_of(estimator: Any) -> Model:
    """A fitted estimator as a model that can be saved.

    >>> import numpy as np
    >>> from dualfold import Isomap
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> fitted = Isomap(n_neighbors=8).fit(X)
    >>> bool((model_of(fitted).transform(X) == fitted.transform(X)).all())
    True
    """
    name = type(estimator).__name__
    columns = getattr(estimator, "feature_names_in_", None)
    encodings = getattr(estimator, "encodings_", ())
    if encodings:
        columns = features_of(encodings)
    if columns is None:
        columns = [f"column_{place + 1}" for place in range(estimator.n_features_in_)]
    parameters, not_kept = _plain_parameters(estimator)
    return Model(
        map=rule_of(estimator),
        method=name,
        columns=tuple(str(column) for column in columns),
        settings={"estimator": name, "parameters": parameters, "not_kept": not_kept}
        | ({"encodings": to_json(encodings)} if encodings else {}),
        certificate=estimator.certificate_.to_dict(),
        both_sides=both_sides(estimator),
    )


def _plain_parameters(estimator: Any) -> tuple[dict[str, Any], list[str]]:
    """What states the estimator's problem again, JSON-ready, and the names of what cannot."""
    kept: dict[str, Any] = {}
    lost = []
    parameters = estimator.get_params(deep=False)
    # Rows that were left out are stated: with them it would be another problem.
    if hasattr(estimator, "found_parameters"):
        parameters |= estimator.found_parameters()
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        if value is None or isinstance(value, bool | int | float | str):
            kept[name] = value
        elif isinstance(value, dict) and not value:
            kept[name] = None
        elif name in ("left_out", "coordinates"):
            kept[name] = [int(number) for number in value]
        else:
            lost.append(name)
    return kept, lost


def rule_of(estimator: Any) -> PlacingMap:
    """The rule that places new points, if it is data that a file can keep."""
    if not hasattr(estimator, "placing_map"):
        raise InvalidInput(
            f"{type(estimator).__name__} places no new points, so there is no model to save"
        )
    rule: PlacingMap = estimator.placing_map()
    parts_of(rule)  # refuses what cannot be saved now, not when the file is written
    return rule


def both_sides(estimator: Any) -> BothSides | None:
    """What proves an unfolding, to be kept with its map; None for all others."""
    if not hasattr(estimator, "dual_weights_"):
        return None
    return BothSides(estimator.factor_, estimator.dual_weights_)
