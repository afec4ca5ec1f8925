"""Maps kept as files: models that place new rows, and a second look at stored maps.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from dualfold.saved.model import BothSides, Model, load_model, save_model
from dualfold.saved.placing import both_sides, model_of, placing
from dualfold.saved.recheck import rechecked
from dualfold.saved.remodel import Stated, rechecked_map
from dualfold.saved.restate import rechecked_model
from dualfold.saved.unfolding import rechecked_unfolding

__all__ = [
    "BothSides",
    "Model",
    "Stated",
    "both_sides",
    "load_model",
    "model_of",
    "placing",
    "rechecked",
    "rechecked_map",
    "rechecked_model",
    "rechecked_unfolding",
    "save_model",
]
