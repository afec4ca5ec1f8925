"""Maps stored as files: models that place new rows, and stored answers judged again.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from dualfold.saved.foreign_rows import judged_rows
from dualfold.saved.grown_models import updated_map_of
from dualfold.saved.model import Model, load_model, model_of, save_model
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
