"""Progress of a fit of points, line by line as scikit-learn's t-SNE prints it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.graph import Lists
from dualfold.methods.points.descent import Checkpoint, Descent


class JudgedPoints(Protocol):
    """Certificate of a descent with the figures that are printed."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def plain_value(self) -> float:
        """The objective with the attraction 1."""

    @property
    def slope(self) -> float:
        """The norm of the gradient."""


class ProgressLines:
    """Lines on standard output, where `verbose` asks for them (2: every look at the descent)."""

    def __init__(self, name: str, value_name: str, verbose: int) -> None:
        self.name, self.value_name = name, value_name
        self.verbose = int(verbose)
        self.early: Checkpoint | None = None

    def _print(self, line: str, least: int = 1) -> None:
        if self.verbose >= least:
            print(f"[{self.name}] {line}")

    def neighbors(self, lists: Lists) -> None:
        """Print how many neighbours are known."""
        most = int(lists.counts.max(initial=0))
        self._print(f"Computed {most} nearest neighbors...")

    def affinities(self, widths: Array) -> None:
        """Print the mean width of the affinities."""
        self._print(f"Computed conditional probabilities for {len(widths)} samples")
        finite = widths[np.isfinite(widths)]
        self._print(f"Mean sigma: {float(finite.mean()) if len(finite) else np.inf:f}")

    def look(self, state: Checkpoint) -> None:
        """Print a checkpoint of the descent, and the end of the exaggeration."""
        if self.early is not None and not state.exaggerated and self.early.exaggerated:
            self._early_is_over()
        self.early = state
        line = f"Iteration {state.round}: error = {state.objective:.7f}, gradient norm = "
        self._print(f"{line}{state.gradient:.7f}", 2)

    def _early_is_over(self) -> None:
        state = self.early
        if state is not None:
            self._print(
                f"{self.value_name} after {state.round} iterations with early exaggeration: "
                f"{state.objective:f}"
            )

    def end(self, run: Descent, certificate: JudgedPoints) -> None:
        """Print where the descent ended, and how that was judged."""
        if self.early is not None and self.early.exaggerated:
            self._early_is_over()
        self._print(f"Iteration {run.rounds}: {run.why}. Finished.", 2)
        self._print(
            f"Iteration {run.rounds}: error = {certificate.value:.7f}, gradient norm = "
            f"{certificate.slope:.7f} (all pairs)",
            2,
        )
        self._print(f"{self.value_name} after {run.rounds} iterations: {certificate.plain_value:f}")
        self._print(f"{certificate}")
