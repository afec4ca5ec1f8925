"""Fitted maps that last: stored as files, judged again, and updated as rows come and leave.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.models.grown_models import updated_map_of
    from dualfold.models.model import Model, load_model, model_of, save_model
    from dualfold.models.new_rows import BornGroup, NewRows
    from dualfold.models.old_and_new_rows import judged_rows
    from dualfold.models.rechecks import rechecked_model, rechecked_points
    from dualfold.models.registration import MovementTest, Registration
    from dualfold.models.updated_map import UpdatedMap, map_of_estimator
    from dualfold.models.verdict import MapVerdict

__all__ = [
    "BornGroup",
    "MapVerdict",
    "Model",
    "MovementTest",
    "NewRows",
    "Registration",
    "UpdatedMap",
    "judged_rows",
    "load_model",
    "map_of_estimator",
    "model_of",
    "rechecked_model",
    "rechecked_points",
    "save_model",
    "updated_map_of",
]
# Loaded when first used: a page compares rows, and stores no model.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BornGroup": "new_rows",
        "MapVerdict": "verdict",
        "Model": "model",
        "MovementTest": "registration",
        "NewRows": "new_rows",
        "Registration": "registration",
        "UpdatedMap": "updated_map",
        "judged_rows": "old_and_new_rows",
        "load_model": "model",
        "map_of_estimator": "updated_map",
        "model_of": "model",
        "rechecked_model": "rechecks",
        "rechecked_points": "rechecks",
        "save_model": "model",
        "updated_map_of": "grown_models",
    },
)
