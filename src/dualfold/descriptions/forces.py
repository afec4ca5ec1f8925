"""Methods of points that attract and repel one another."""

from __future__ import annotations

from dualfold.descriptions.description import Description

FORCES = (
    Description(
        "tsne",
        "t-SNE, with attraction as a parameter",
        estimator="tsne:TSNE",
        functions=("tsne:tsne",),
        needs=("features",),
        preserves="the nearest neighbours",
        optimises="neighbours as likely as in the data, all points repelling one another",
        certificate="whether the forces balance; no bound of the optimum is known",
        nothing_better="",
        lengths=False,
        linear=False,
        new_points="each on its own, by its nearest old points and the repulsion of all",
        size="10,000 images (~14 s), 70,000 images (~80 s), of processor time",
        options=(
            "perplexity",
            "n_neighbors",
            "attraction",
            "early_exaggeration",
            "learning_rate",
            "max_iter",
            "n_iter_without_progress",
            "min_grad_norm",
            "metric",
            "init",
            "angle",
            "n_starts",
            "random_state",
        ),
        defaults={"random_state": 0},
        values=False,
    ),
)
