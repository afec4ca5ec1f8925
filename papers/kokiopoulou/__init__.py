"""Kokiopoulou, Chen and Saad: trace optimisation and eigenproblems (notes on the paper)."""
