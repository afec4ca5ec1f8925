"""Each method states one trace problem: a row of the method table.

(A random projection optimises nothing, and says so.)

What they share:

graph : the neighbours, from `dualfold.graph`
n_components : number of coordinates, d
ridge : what steadies reconstruction weights, as a share of the local trace
weights, width : of edges: "heat" exp(−‖x−y‖²/width²) (None: the root mean square length),
    "binary" or "density"
"""

from __future__ import annotations

from importlib import import_module

from dualfold.descriptions import FUNCTIONS

__all__ = sorted(FUNCTIONS)

# All at once, since importing dualfold.methods.pca later would bind the module to the name `pca`.
for _module in dict.fromkeys(FUNCTIONS.values()):
    import_module(f"dualfold.methods.{_module}")
for _name, _module in FUNCTIONS.items():
    globals()[_name] = getattr(import_module(f"dualfold.methods.{_module}"), _name)
