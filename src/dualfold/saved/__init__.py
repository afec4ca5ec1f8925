"""Maps stored as files: models that place new rows, and stored answers judged again.

save_model("roll.dualfold", model_of(Isomap().fit(X)))
load_model("roll.dualfold").transform(new)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
# Loaded when first used: a page compares rows, and stores no model.
_NAMES_BY_MODULE = {
    "foreign_rows": ("judged_rows",),
    "grown_models": ("updated_map_of",),
    "model": ("Model", "load_model", "model_of", "save_model"),
    "rechecks": ("rechecked_model", "rechecked_points"),
}
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dualfold.saved' has no attribute {name!r}")
    return getattr(import_module(f"dualfold.saved.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
