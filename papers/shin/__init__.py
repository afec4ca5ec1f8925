"""Shin: decompositions, convex optimisation, PCA (three lectures)."""
