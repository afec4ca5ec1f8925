"""Simulations of the statistical verdicts: how often each is wrong where the truth is known."""
