"""An audit in words: the verdict, the findings line by line, the paragraph for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.judging.valleys import HALF_HEIGHT
from dualfold.quality.picture import percent

if TYPE_CHECKING:
    from dualfold.judging.audit_result import Audit
    from dualfold.judging.groups import Group
    from dualfold.quality.estimate import MeasuredWeights

__all__ = ["finding_lines", "group_text", "paragraph_text", "statement_lines", "verdict_text"]

_VERDICT_WORDS = {
    "group": "a group in the data, too",
    "torn": "no group of its own in the data: no border to",
    "scattered": "no group in the data: most neighbours of its points lie elsewhere",
    "undecided": "undecided",
    "alone": "the whole map",
}
_MAX_LISTED_GROUPS = 12


def verdict_text(found: Audit) -> str:
    """Picture, dubious points, groups, dimension: a sentence each."""
    sentences = [str(found.picture), _dubious(found), _groups(found), _dimension(found)]
    if found.impostors is not None:
        sentences.append(_impostors(found))
    if found.weights is not None:
        sentences.append(_weighting_sentence(found.weights))
    return " ".join(sentences)


def _weighting_sentence(weights: MeasuredWeights) -> str:
    return (
        "Shares of points are weighted, and as certain as those of "
        f"{weights.effective_rows:.0f} points that count alike; borders between groups, dubious "
        "points and dimensions are found with every point counted once."
    )


def finding_lines(found: Audit) -> list[str]:
    """Line for each group, then statements, impostors and repeats."""
    lines = []
    if len(found.groups) > 1:
        lines.append("Groups on the map")
        for one in found.groups[:_MAX_LISTED_GROUPS]:
            counted = "" if one.weight is None else f" ({percent(one.weight)} by weight)"
            lines.append(f"  {one.title}, {one.size:,} points{counted}: {group_text(one)}")
        if len(found.groups) > _MAX_LISTED_GROUPS:
            lines.append(f"  and {len(found.groups) - _MAX_LISTED_GROUPS} smaller ones")
    lines += statement_lines(found)
    if found.repeats is not None:
        lines += [_repeats(found)]
    return lines


def statement_lines(found: Audit) -> list[str]:
    """Lines on how many orders of distances are true, and the one most contradicted."""
    near = found.nearness
    if not near.statements:
        return []
    return [_statement_counts(found), *([] if near.worst is None else [f"  {near.worst}"])]


def _statement_counts(found: Audit) -> str:
    near = found.nearness
    what = '"A lies nearer to B than to C"'
    if len(near.statements) == 1:
        truth = {True: "true in the data", False: "false in the data", None: "undecided"}
        return f"The one statement {what} that the map makes is {truth[near.statements[0].true]}."
    return (
        f"Of {len(near.statements)} statements {what} that the map makes, {near.count(True)} "
        f"{_is_or_are(near.count(True))} true in the data, {near.count(False)} false and "
        f"{near.count(None)} undecided (95 % for all of them together)."
    )


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _joined_words(parts: list[str]) -> str:
    """A list in a sentence."""
    *first, last = parts
    return f"{', '.join(first)}, and {last}" if first else last


def group_text(one: Group) -> str:
    """Sentence on what the data say of a group."""
    words = _VERDICT_WORDS[one.verdict] + (f" {', '.join(one.torn_from)}" if one.torn_from else "")
    known = one.inside == one.inside
    words += f" ({percent(one.inside)} of its links stay inside)" if known else " (too few points)"
    if one.parts:
        words += (
            f"; it holds two groups of the data ({one.parts[0]} and {one.parts[1]} of "
            f"{one.sampled} points asked)"
        )
    return words


def paragraph_text(found: Audit) -> str:
    """Paragraph in the words of a methods section."""
    from dualfold import __version__

    scores = found.reliability
    n, d = found.points.shape
    text = (
        f"The {d}-dimensional map of the {n:,} points was audited with dualfold {__version__}. "
        f"It keeps {percent(found.picture.kept)} of the {found.picture.n_neighbors} nearest "
        f"neighbours (chance: {percent(found.picture.chance)}). Each point was scored by how its "
        f"surroundings among {scores.references:,} reference points differ between data and map, "
        f"and {len(scores.random):,} scores at randomly exchanged places gave the null "
        "distribution; " + _dubious_in_paragraph(found) + ". "
        f"Density-based clustering of the map (Chazal et al. 2013) gave {len(found.groups)} "
        f"group{'s' if len(found.groups) != 1 else ''}."
    )
    if len(found.groups) > 1:
        text += (
            f" The 15-nearest-neighbour graph of {found.linked:,} points in the data confirmed "
            f"{found.count('group')} of these as groups. A group is confirmed if most of its links "
            "stay inside and a valley separates it from every other group: along the potential of "
            f"a current between the two, one section is crossed by fewer than {HALF_HEIGHT:g} "
            "times the links through the middle of the sparser group, and by fewer links than the "
            "thinnest section through one even "
            f"band of links (level 0.05 each). For {found.count('torn')} there is no such valley "
            "to some other group: more links cross than between two simulated normal clouds of the "
            "data's dimension with such a valley (level 0.05 for all pairs together). Of the "
            f"others, {found.count('scattered')} lie mostly among points of other groups, and "
            f"{found.count('undecided')} {_is_or_are(found.count('undecided'))} undecided."
        )
    near = found.nearness
    if near.statements:
        text += (
            f" Orderings of distances between groups that the map shows: {len(near.statements)}, "
            f"of which {near.count(True)} true in the data, {near.count(False)} false and "
            f"{near.count(None)} undecided (bootstrap, simultaneous 95 % intervals)."
        )
    text += f" The intrinsic dimension of the data is {found.dimension} (Facco et al. 2017)."
    if found.impostors is not None:
        one = found.impostors
        text += (
            f" The same method on {one.rows:,} rows drew {one.own_groups} groups with a separation "
            f"of {one.own:.2f}; on {len(one.shuffled)} copies with shuffled columns and on "
            f"{len(one.gaussian)} normal samples of the same covariance, groups were as distinct "
            f"with p = {one.p_value('shuffled'):.2g} and p = {one.p_value('gaussian'):.2g}."
        )
    return text if found.weights is None else f"{text} {_weighting_sentence(found.weights)}"


def _dubious_in_paragraph(found: Audit) -> str:
    model, as_good = found.model, percent(found.model.random_as_good)
    if not model.can_tell:
        return (
            f"they overlap with the scores of the points (a random place is as good for {as_good} "
            "of these), so that single points could not be called misplaced"
        )
    if model.is_random:
        return f"a random place is as good for {as_good} of the points, as on a random map"
    count = int(found.dubious.sum())
    text = (
        f"in a two-group model (Efron 2008) {count:,} {'point' if count == 1 else 'points'} "
        f"({_share_dubious(found)}) had a posterior probability of at least 0.95 of a "
        "random place"
    )
    false = percent(model.expected_false)
    return text + (
        f" (expected share of false ones among them: {false})" if found.dubious.any() else ""
    )


def _share_dubious(found: Audit) -> str:
    return percent(found.share_dubious) + ("" if found.weights is None else " by weight")


def _dubious(found: Audit) -> str:
    count, model = int(found.dubious.sum()), found.model
    as_good = f"a random place is as good as its own for {percent(model.random_as_good)} of"
    if not model.can_tell:
        return (
            f"Which points are misplaced cannot be told: {as_good} the points, so that places with "
            "noise and random ones look alike."
        )
    if model.is_random:
        return f"All {count:,} points are dubious: {as_good} them (of a random map: 50 %)."
    if not count:
        return "No point is dubious."
    said = (
        f"{count:,} of {len(found.points):,} points ({_share_dubious(found)}) "
        f"{'is' if count == 1 else 'are'} dubious: the place says no more about such a point than "
        "that of another would (posterior probability at least 0.95)"
    )
    wrong = found.model.expected_false * count
    return said + (f"; {wrong:.0f} of them are expected to be none." if wrong >= 1 else ".")


def _groups(found: Audit) -> str:
    count = len(found.groups)
    if count < 2:
        return "The map shows no separate groups."
    real, torn = found.count("group"), found.count("torn")
    lost, open_ = found.count("scattered"), found.count("undecided")
    together = sum(one.parts is not None for one in found.groups)
    parts = [f"{real} {'is a group' if real == 1 else 'are groups'} in the data, too"]
    for number, one, more in (
        (torn, "is torn off others", "are torn off others"),
        (lost, "has its neighbours elsewhere", "have their neighbours elsewhere"),
        (open_, "is undecided", "are undecided"),
    ):
        parts += [f"{number} {one if number == 1 else more}"] if number else []
    said = f"Of {count} groups on the map {_joined_words(parts)}."
    if together == 1:
        said += " One of them holds two groups of the data."
    elif together:
        said += f" {together} of them hold two groups of the data each."
    whole = [one for one in found.unions if one.verdict == "group"]
    if found.unions:
        named = f" ({', '.join(one.name for one in whole)})" if 0 < len(whole) <= 8 else ""
        said += (
            f" Joined where the data have no border they are {len(found.unions)}, of which "
            f"{len(whole)} {'is a group' if len(whole) == 1 else 'are groups'} there{named}."
        )
    if real or whole:
        return said
    return f"Unsupported: no group of this map was shown to have a border in the data. {said}"


def _dimension(found: Audit) -> str:
    shown, one = found.points.shape[1], found.dimension
    about = f"The intrinsic dimension of the data is {one}"
    if one.value > shown:
        return f"{about}. The map has {shown}, so that distances on it cannot all be right."
    return f"{about}. The map has {shown}, enough for distances nearby."


def _impostors(found: Audit) -> str:
    one = found.impostors
    assert one is not None
    runs = len(one.shuffled)
    begin = (
        "The method draws groups as distinct where there are none"
        if not one.supported
        else "The method does not draw groups as distinct where there are none"
    )
    said = (
        f"{begin}: in {one.as_distinct('shuffled')} of {runs} runs on shuffled columns and "
        f"{one.as_distinct('gaussian')} of {len(one.gaussian)} on one normal cloud "
        f"({one.rows:,} rows; separation {one.own:.2f} for the data, at most "
        f"{max(*one.shuffled, *one.gaussian):.2f} for these)."
    )
    if not one.supported:
        said += " Gaps on its maps prove nothing; what the data say of each group counts."
    if any(one.shuffled_have):
        said += (
            f" {sum(one.shuffled_have)} shuffled tables have such groups themselves: single "
            "columns with several humps make groups, whatever the columns say together."
        )
    return said


def _repeats(found: Audit) -> str:
    one = found.repeats
    assert one is not None
    return (
        f"Run again on {one.rows:,} rows: with other seeds maps share {one.seeds.agreement:.0%} of "
        f"their neighbours (groups agree to {one.groups_seeds:.2f}, adjusted Rand index), on "
        f"subsamples {one.subsamples.agreement:.0%} ({one.groups_subsamples:.2f})."
    )
