"""t-SNE, with attraction as a parameter."""

from __future__ import annotations

from dualfold.graph.graph import Graph, Lists
from dualfold.tsne.problem import TsneProblem
from dualfold.weights.perplexity import conditional_affinities, joint_affinities


def tsne(
    graph: Graph | Lists,
    *,
    n_components: int = 2,
    perplexity: float | None = 30.0,
    attraction: float = 1.0,
) -> TsneProblem:
    """Points that attract along the edges of a graph and repel one another.

        minimise  ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij),   t_ij = ‖y_i − y_j‖²

    which is KL(P‖Q) up to the entropy of P for attraction ρ = 1. P is made of the listed
    neighbours: by the `perplexity`, or the same for every neighbour (None). Keeps neighbours
    better than anything that can be proved optimal; distances between groups, their sizes and
    densities mean little, and other starts give other maps. A larger ρ draws groups together
    (about 4 looks like UMAP), a smaller one spreads them out; ρ = ∞ is a trace problem
    (`TsneProblem.laplacian`).

    van der Maaten and Hinton, "Visualizing data using t-SNE" (2008); Böhm, Berens and Kobak,
    "Attraction-repulsion spectrum in neighbor embeddings" (2022).
    """
    lists = graph.lists if isinstance(graph, Graph) else graph
    conditional = conditional_affinities(lists, perplexity)[0]
    return TsneProblem(joint_affinities(lists, conditional), n_components, attraction)
