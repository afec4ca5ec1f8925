"""What t-SNE tells while it runs, line by line as scikit-learn's does."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.graph import Lists
from dualfold.methods.points.tsne.certificate import TsneCertificate
from dualfold.methods.points.tsne.gradient_descent import Checkpoint, Descent


class Told:
    """Lines on standard output, where `verbose` asks for them (2: every look at the descent)."""

    def __init__(self, verbose: Any) -> None:
        self.verbose = int(verbose)
        self.early: Checkpoint | None = None

    def _say(self, line: str, least: int = 1) -> None:
        if self.verbose >= least:
            print(f"[t-SNE] {line}")

    def neighbors(self, lists: Lists) -> None:
        """The neighbours are known."""
        most = int(lists.counts.max(initial=0))
        self._say(f"Computed {most} nearest neighbors...")

    def affinities(self, widths: Array) -> None:
        """So are their affinities."""
        self._say(f"Computed conditional probabilities for {len(widths)} samples")
        finite = widths[np.isfinite(widths)]
        self._say(f"Mean sigma: {float(finite.mean()) if len(finite) else np.inf:f}")

    def look(self, seen: Checkpoint) -> None:
        """A look at the descent."""
        if self.early is not None and not seen.exaggerated and self.early.exaggerated:
            self._early_is_over()
        self.early = seen
        line = f"Iteration {seen.round}: error = {seen.objective:.7f}, gradient norm = "
        self._say(f"{line}{seen.gradient:.7f}", 2)

    def _early_is_over(self) -> None:
        seen = self.early
        if seen is not None:
            self._say(
                f"KL divergence after {seen.round} iterations with early exaggeration: "
                f"{seen.objective:f}"
            )

    def end(self, run: Descent, certificate: TsneCertificate) -> None:
        """The descent is over and its end was judged."""
        if self.early is not None and self.early.exaggerated:
            self._early_is_over()
        self._say(f"Iteration {run.rounds}: {run.why}. Finished.", 2)
        self._say(
            f"Iteration {run.rounds}: error = {certificate.value:.7f}, gradient norm = "
            f"{certificate.slope:.7f} (all pairs)",
            2,
        )
        self._say(f"KL divergence after {run.rounds} iterations: {certificate.kl:f}")
        self._say(f"{certificate}")
