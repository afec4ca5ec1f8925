"""Draganov: PCA as gradient descent on the points."""
