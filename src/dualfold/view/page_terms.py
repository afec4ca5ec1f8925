"""The words of the field that a page uses, each in plain words and with its formula."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PAGE_TERMS", "Term", "terms"]


class Term(NamedTuple):
    """Meaning of a word.

    plain : for a reader who has never met it
    formula : what is computed, in one line or two; "" where there is nothing to compute
    also : other spellings that mean the same
    """

    plain: str
    formula: str = ""
    also: tuple[str, ...] = ()


_NEIGHBOR_LISTS = (
    "N(i): the k nearest rows of i in the data, with those as near as the last of them; "
    "M(i): the k nearest on the map"
)
PAGE_TERMS = {
    "good picture": Term(
        "Whether points that lie together on the map belong together in the data. Counted are the "
        "nearest neighbours that the map keeps, beyond what a random map keeps by chance: half of "
        "the way to all of them is good, a fifth fair, a twentieth poor. These limits are "
        "conventions, not theorems.",
        "(kept − chance) / (1 − chance), chance = k / (n − 1), more where rows tie",
        ("a good picture", "no picture"),
    ),
    "solved": Term(
        "Each method looks for the best map by its own rule. This says whether the computer found "
        "that best map. It does not say that the rule suits your data: the best map by a rule may "
        "be a poor picture.",
        "",
    ),
    "proved": Term(
        "A bound that was computed with its rounding errors shows that no answer to the method's "
        "problem is better by more than the stated amount. It is about the method's problem, not "
        "about the picture.",
        "|value − optimum| / |optimum| ≤ gap",
    ),
    "within": Term(
        "Proved, but not down to the usual accuracy: the value is at most this far from the best.",
        "|value − optimum| / |optimum| ≤ gap",
    ),
    "measured": Term(
        "Nothing better was found by a random search, whose chance of missing something is "
        "stated. Weaker than a proof.",
    ),
    "unresolved": Term("Numbers of 16 digits cannot tell whether this is the best answer."),
    "stationary": Term(
        "No small change of the map makes it better. For this problem nobody knows a bound, so "
        "there may be a better map far away.",
        "gradient ≈ 0",
    ),
    "t-similarity": Term(
        "The share of each point's nearest neighbours in the data that are among its nearest on "
        "the map, as a mean over all points. 1: all are kept.",
        f"1/(n·k) · Σᵢ |N(i) ∩ M(i)|;  {_NEIGHBOR_LISTS}",
        ("t_similarity", "nearest neighbours kept"),
    ),
    "trustworthiness": Term(
        "Can you believe what looks near? Every neighbour on the map that is none in the data "
        "costs the more, the farther away it is in the data. 1: all are real; a random map has "
        "about 0.5.",
        "1 − 2/(n·k·(2n − 3k − 1)) · Σᵢ Σ (r(i, j) − k) over j in M(i) but not in N(i);  "
        f"r(i, j): j is the r-th nearest of i in the data.  {_NEIGHBOR_LISTS}",
    ),
    "continuity": Term(
        "Does what is near stay near? Every neighbour in the data that is none on the map costs "
        "the more, the farther away the map puts it. 1: nothing is torn apart.",
        "1 − 2/(n·k·(2n − 3k − 1)) · Σᵢ Σ (s(i, j) − k) over j in N(i) but not in M(i);  "
        f"s(i, j): j is the s-th nearest of i on the map.  {_NEIGHBOR_LISTS}",
    ),
    "R_NX": Term(
        "Neighbours kept beyond chance, for every neighbourhood size K: 0 is what a random map "
        "keeps, 1 is all of them. Left on the curve are the closest neighbours, right the wider "
        "surroundings.",
        "R_NX(K) = (Q(K) − chance) / (1 − chance);  Q(K): share of the K nearest that are kept; "
        "chance: K / (n − 1), more where rows tie",
        ("RNX",),
    ),
    "area": Term(
        "The curve as one number: its mean, in which small neighbourhoods count more.",
        "Σ R_NX(K)/K / Σ 1/K",
    ),
    "eigenvalue": Term(
        "How much of what the method looks for lies along an axis of the map: for PCA and Isomap "
        "the more the better, for methods that solve for the smallest the less.",
        "A·v = λ·v",
        ("eigenvalues",),
    ),
    "eigengap": Term(
        "The step from the last axis that was kept to the first that was left out. If it is "
        "small, the next axis would have been almost as good, and the map could as well have been "
        "turned towards it.",
        "|λ_d − λ_(d+1)|",
    ),
    "dual matrix": Term(
        "A matrix made from the problem and the answer. If no direction makes it negative, no "
        "other answer can be better, whoever computed the answer and however: that is what is "
        "proved.",
        "xᵀ·S·x ≥ 0 for all x (S is positive semidefinite)  ⇒  no answer is better than the bound",
    ),
    "duality gap": Term(
        "The distance between the value of the map and a limit that no map can exceed. At 0 the "
        "map is the best possible.",
        "(bound − value) / value",
        ("relative gap", "gap"),
    ),
    "correlation": Term(
        "Whether pairs that are far apart in the data are far apart on the map. 1: in one line.",
        "Pearson's correlation of the distances in the data and on the map, over pairs of points",
        ("distance correlation", "distance_correlation"),
    ),
    "stress": Term(
        "How wrong the distances on the map are, at the scale that fits best. 0: all are right.",
        "√( Σ (dᵢⱼ − α·δᵢⱼ)² / Σ dᵢⱼ² );  d in the data, δ on the map, α the best scale",
    ),
    "pieces": Term(
        "Points are linked to their nearest neighbours. If the links leave groups without any "
        "connection, nothing is known about how far these lie from each other.",
        "connected components of the neighbour graph",
    ),
    "variance": Term(
        "How much the data vary altogether, and how much of it the axes of the map show.",
        "λᵢ / Σ λ over all axes",
    ),
    "standardised difference": Term(
        "How far the selection is from the other rows, in units of the spread within both: 0.2 is "
        "little, 0.8 much. For categories it is the same with shares.",
        "(mean₁ − mean₂) / √((s₁² + s₂²)/2);  for shares s² = p·(1 − p)",
        ("difference",),
    ),
    "density contours": Term(
        "Lines around the places where most points lie: inside the innermost are a quarter of "
        "the points, inside the next one half, then three quarters, then nine tenths.",
        "level sets of the counts in a grid, smoothed by a Gaussian",
        ("contours",),
    ),
    "group on the map": Term(
        "A crowd of points on the map with thinner places around it: a hill of the density. What "
        "the data say of it stands under its name. A click selects its points.",
        "hills that rise above the pass to the next one by a factor of e or more",
    ),
    "group in the data": Term(
        "A group of the map that the data have, too: most of its points' links stay inside, and on "
        "the way to every other group there is a valley of less than half the height. Links join "
        "each point with its 15 nearest in the data.",
        "θ = links through the thinnest section between two groups / links through the middle of "
        "the sparser one;  a group: for every pair the upper end of θ's 95 % interval is below ½, "
        "and the section is thinner than the thinnest of one even band of links (level 0.05)",
        ("groups in the data", "a group in the data"),
    ),
    "torn off": Term(
        "The map shows a gap where the data have none: points run on from one group to the other.",
        "the lower end of θ is above what two normal clouds with a valley of half the height show, "
        "at the level 0.05 for all pairs together",
    ),
    "undecided": Term(
        "The data neither show a border nor that there is none: too few points, a shallow valley, "
        "or too many dimensions.",
        "",
        ("cannot tell", "nobody can tell"),
    ),
    "dubious": Term(
        "A point whose place says no more about it than the place of any other point would: its "
        "neighbours on the map are strangers in the data, or its neighbours in the data are far "
        "away on the map. Where all places are noisy, misplaced points cannot be told.",
        "posterior probability of a random place ≥ 0.95, from scores at randomly exchanged places",
        ("dubious point",),
    ),
    "intrinsic dimension": Term(
        "How many numbers it takes to say where a point lies among its neighbours, however many "
        "columns the table has. A map of fewer dimensions must bend or tear something. Two "
        "estimators are asked, TwoNN and Levina–Bickel; where they differ, there is noise, or "
        "several scales.",
        "TwoNN: n / Σ log(r₂/r₁);  r₁, r₂: distances to the nearest and the second nearest",
    ),
    "impostors": Term(
        "The method that made the map was run again on data without groups: columns shuffled, or "
        "one normal cloud. If it draws groups as distinct there, gaps on its maps prove nothing.",
        "p = share of such maps whose groups are as distinct;  supported: p ≤ 0.05",
    ),
    "false": Term("Near on the map, but not in the data: the map shows a likeness that is none."),
    "missing": Term("Near in the data, but not on the map: the map has torn the two apart."),
    "kept": Term("Near in the data and on the map: here the map tells the truth."),
}


def terms() -> list[dict[str, object]]:
    """JSON-ready, longest spelling first, so that the page finds "duality gap" before "gap"."""
    return [
        {"name": name, "plain": term.plain, "formula": term.formula, "also": list(term.also)}
        for name, term in sorted(PAGE_TERMS.items(), key=lambda item: -len(item[0]))
    ]
