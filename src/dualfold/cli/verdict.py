"""Certificates in the words of somebody who has not read the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.cli.registry import Method

if TYPE_CHECKING:
    from dualfold.duality import UnfoldingCertificate
    from dualfold.trace import Certificate

# Below this, the distance to the optimum is the rounding of the numbers themselves.
ROUNDING = 1e-9


def verdict(
    method: Method, certificate: Certificate | UnfoldingCertificate, n_components: int
) -> str:
    """One sentence: what is proved, or only likely, or wrong."""
    claim = method.nothing_better.format(d=n_components, s="" if n_components == 1 else "s")
    if certificate.about:
        claim += f" (about {certificate.about})"
    if certificate.level == "proved":
        return f"Proved: {claim} ({distance(certificate)})."
    if certificate.level == "measured" and certificate.gap > certificate.tolerance:
        return (
            "Not proved: a random search found nothing better, but it could have missed up to "
            f"{100 * certificate.gap:.2g} % of the optimum."
        )
    if certificate.level == "measured":
        return (
            f"Very likely, not proved: {claim}; a random search found nothing better "
            f"(gap {certificate.gap:.1g}, but for a chance of {certificate.chance:.0e})."
        )
    return f"Not certified: {'; '.join(certificate.reasons)}."


def short_verdict(certificate: Certificate | UnfoldingCertificate) -> str:
    """A few words, for a table or under a small picture."""
    if certificate.level == "failed":
        return "not certified"
    if certificate.level == "measured" and certificate.gap > certificate.tolerance:
        return f"not proved, gap {certificate.gap:.0e}"
    sure = "proved" if certificate.level == "proved" else "very likely"
    return f"{sure} optimal, gap {certificate.gap:.0e}"


def distance(certificate: Certificate | UnfoldingCertificate) -> str:
    """How far from the optimum, at most."""
    if certificate.gap <= ROUNDING:
        return f"optimal up to rounding, gap {certificate.gap:.0e}"
    return f"within {certificate.gap:.1g} of the optimum, relatively"
