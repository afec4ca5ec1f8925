"""Maps stored as files: models that place new rows, and stored answers judged again.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.saved.grown_models import updated_map_of
    from dualfold.saved.model import Model, load_model, model_of, save_model
    from dualfold.saved.old_and_new_rows import judged_rows
    from dualfold.saved.rechecks import rechecked_model, rechecked_points

__all__ = [
    "Model",
    "judged_rows",
    "load_model",
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
        "Model": "model",
        "judged_rows": "old_and_new_rows",
        "load_model": "model",
        "model_of": "model",
        "rechecked_model": "rechecks",
        "rechecked_points": "rechecks",
        "save_model": "model",
        "updated_map_of": "grown_models",
    },
)
