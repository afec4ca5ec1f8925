"""Double precision with a coarser unit, so that margins for rounding are large enough to be seen.

In double precision most margins are far below what is rounded in fact: a wrong sign in one of
them changes no verdict. With the unit U each bound must hold what its theorem asks for in such an
arithmetic. The constants are those of the modules that make certificates.
"""

from __future__ import annotations

from tests.proofs.door import (
    bounds,
    completeness,
    pivots,
    proofs,
    rounding,
    search,
    singular,
    trial,
)

U = 2.0**-16
MODULES = (bounds, completeness, pivots, proofs, rounding, search, singular, trial)


def gamma(k, unit=U):
    """γ_k of the coarse unit: what a sum of k products may be off by, against its terms."""
    return k * unit / (1 - k * unit)


def patched(monkeypatch, *modules, **constants):
    """Other constants in these modules (none named: all that certify trace problems).

    Where the unit is another one, so is γ.
    """
    if "UNIT_ROUNDOFF" in constants:
        unit = constants["UNIT_ROUNDOFF"]
        for module in modules or MODULES:
            monkeypatch.setattr(module, "gamma", lambda k: gamma(k, unit), raising=False)
    for name, value in constants.items():
        holders = [module for module in modules or MODULES if hasattr(module, name)]
        assert holders, f"no module has a constant {name}: was it renamed?"
        for module in holders:
            monkeypatch.setattr(module, name, value)


def coarse(monkeypatch):
    """The unit U in all certificates of trace problems, and no factor for the bounds themselves."""
    patched(monkeypatch, UNIT_ROUNDOFF=U, UP=1.0, LENGTH_UNDERFLOW=0.0)
    # One block of rows, not 64 at the least: no depth that small problems do not have.
    monkeypatch.setattr(rounding, "_block", lambda n: n)
