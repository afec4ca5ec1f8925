"""Certificates in the words of somebody who has not read the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dualfold.descriptions import Description

if TYPE_CHECKING:
    from dualfold.trace import Certificate
    from dualfold.unfolding import UnfoldingCertificate

# Below this, the distance to the optimum is the rounding of the numbers themselves.
ROUNDING = 1e-9
TURNED = " The columns span the best space, but are not its own axes: they were turned within it."


def holds(certificate: Any) -> bool:
    """Whether an answer is as good as its caller asked for, and that is proved or measured.

    A certificate, or its dict. This is what exit code 3 is about.
    """
    told = certificate if isinstance(certificate, dict) else vars_of(certificate)
    gap, tolerance = told.get("gap"), told.get("tolerance")
    if told.get("level") not in ("proved", "measured") or gap is None or tolerance is None:
        return False
    return bool(gap <= tolerance)


def vars_of(certificate: Any) -> dict[str, Any]:
    """What `holds` looks at."""
    return {name: getattr(certificate, name, None) for name in ("level", "gap", "tolerance")}


def verdict(
    method: Description, certificate: Certificate | UnfoldingCertificate, n_components: int
) -> str:
    """One sentence: what is proved, how closely, or only likely, or wrong."""
    claim = method.nothing_better.format(d=n_components, s="" if n_components == 1 else "s")
    turned = "" if getattr(certificate, "eigenvectors", True) else TURNED
    about = f" (about {certificate.about})" if certificate.about else ""
    level, reasons = certificate.level, "; ".join(certificate.reasons)
    if level == "proved" and holds(certificate):
        return f"Proved: {claim}{about} ({distance(certificate)}).{turned}"
    if level in ("proved", "within"):
        return (
            f"Within {percent(certificate)}: it is proved that {claim} by more than "
            f"{percent(certificate)}{about}; that nothing better lies in between is not.{turned}"
        )
    if level == "measured" and not holds(certificate):
        return (
            "Not proved: a random search found nothing better, but it could have missed up to "
            f"{percent(certificate)} of the optimum (but for a chance of "
            f"{certificate.chance:.0e}){about}."
        )
    if level == "measured":
        return (
            f"Very likely, not proved: {claim}{about}; a random search found nothing better "
            f"(gap {certificate.gap:.1g}, but for a chance of {certificate.chance:.0e}).{turned}"
        )
    if level == "unresolved":
        why = reasons or "double precision cannot tell this answer from a better one"
        return f"Unresolved: {why}{about}."
    if level == "stationary":
        return f"Not proved: no bound exists for this problem; nothing near it is better{about}."
    return f"Not certified: {reasons}."


def short_verdict(certificate: Certificate | UnfoldingCertificate) -> str:
    """A few words, for a table or under a small picture."""
    level = certificate.level
    if level == "failed":
        return "not certified"
    if level in ("unresolved", "stationary"):
        return level
    if level == "measured":
        gap = f"gap {certificate.gap:.0e}"
        return f"very likely optimal, {gap}" if holds(certificate) else f"not proved, {gap}"
    if holds(certificate):
        return f"proved optimal, gap {certificate.gap:.0e}"
    return f"proved within {percent(certificate)}"


def distance(certificate: Certificate | UnfoldingCertificate) -> str:
    """How far from the optimum, at most."""
    if certificate.gap <= ROUNDING:
        return f"optimal up to rounding, gap {certificate.gap:.0e}"
    return f"within {certificate.gap:.1g} of the optimum, relatively"


def percent(certificate: Certificate | UnfoldingCertificate) -> str:
    """The gap as a share in percent."""
    return f"{100 * certificate.gap:.2g} %"
