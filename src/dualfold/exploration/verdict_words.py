"""Certificates in words for users who have not read the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.certificate import bound_text, share
from dualfold.methods.descriptions import Description

if TYPE_CHECKING:
    from dualfold.certificate import Certificate
    from dualfold.judging import Judgement

# Below this, the distance to the optimum is the rounding of the numbers themselves.
ROUNDING_GAP = 1e-9


def verdict(method: Description, certificate: Certificate, n_components: int) -> str:
    """Sentence on a certificate: what is proved, how closely, or only likely, or wrong."""
    if not certificate.optimum:
        return f"{str(certificate).capitalize()}."
    d = _directions(certificate) or n_components
    claim = method.nothing_better.format(d=d, s="" if d == 1 else "s")
    if d > n_components:  # the map shows some of them
        claim += f" than the {d} that were computed"
    caveat = f" {certificate.caveat}." if certificate.caveat else ""
    about = f" (about {certificate.about})" if certificate.about else ""
    level, reasons = certificate.level, "; ".join(certificate.reasons)
    if level == "proved" and certificate.holds:
        words = "; ".join(filter(None, [about[2:-1], _optimum_words(certificate)]))
        return f"Proved: {claim} ({words}).{caveat}"
    if level in ("proved", "within"):
        return (
            f"Within {share(certificate.gap)}: it is proved that {claim} by more than "
            f"{share(certificate.gap)}{about}; that nothing better lies in between is not.{caveat}"
        )
    if level == "measured" and not certificate.holds:
        return (
            "Not proved: a random search found nothing better, but it could have missed up to "
            f"{share(certificate.gap)} of the optimum (but for a chance of "
            f"{bound_text(certificate.chance, 1)}){about}."
        )
    if level == "measured":
        return (
            f"Very likely, not proved: {claim}{about}; a random search found nothing better "
            f"(gap {bound_text(certificate.gap, 1)}, but for a chance of "
            f"{bound_text(certificate.chance, 1)}).{caveat}"
        )
    if level == "unresolved":
        why = reasons or "double precision cannot tell this answer from a better one"
        return f"Unresolved: {why}{about}."
    if level == "stationary":
        balanced = "the forces balance (a stationary point)"
        known = "no bound exists for this problem"
        if certificate.bound > 0:
            known = (
                f"no answer is below {certificate.bound:.4g}, too far from "
                f"{certificate.value:.4g} to tell"
            )
        return f"Not proved: {known}; {balanced}{about}."
    if level == "not stationary":
        return f"Not solved: {certificate.statement}; more rounds would help{about}."
    return f"Not certified: {reasons}."


def _directions(certificate: Certificate) -> int:
    """Number of directions of a certificate; more than coordinates where some are selected."""
    first = next(iter(getattr(certificate, "pieces", ())), certificate)
    return len(getattr(first, "residuals", ()))


def both_parts(solved: str, judgement: Judgement) -> str:
    """Answers to the two questions; that a map shows nothing is said first."""
    lines = [f"Solved? {solved}", f"A good picture? {judgement}"]
    return "\n".join(reversed(lines) if judgement.shows_nothing else lines)


def short_verdict(certificate: Certificate) -> str:
    """A few words, for a table or under a small picture."""
    level = certificate.level
    if level == "failed":
        return "not certified"
    if level in ("unresolved", "stationary", "not stationary"):
        return level
    if level == "measured":
        gap = f"gap {bound_text(certificate.gap, 1)}"
        return f"very likely optimal, {gap}" if certificate.holds else f"not proved, {gap}"
    if certificate.holds:
        return f"proved optimal, gap {bound_text(certificate.gap, 1)}"
    return f"proved within {share(certificate.gap)}"


def _optimum_words(certificate: Certificate) -> str:
    """Words on how far from the optimum it is, at most."""
    if certificate.gap <= ROUNDING_GAP:
        return f"optimal up to rounding, gap {bound_text(certificate.gap, 1)}"
    return f"within {bound_text(certificate.gap, 1)} of the optimum, relatively"
