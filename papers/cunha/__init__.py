"""Cunha: spectral methods from the view of duality; unfolding."""
