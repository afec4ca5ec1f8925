"""Convex programs with both sides: a point, its multipliers, and the gap between them."""
