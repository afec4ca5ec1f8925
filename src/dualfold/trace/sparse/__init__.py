"""Sparse symmetric matrices: elimination order, factorisation, shifts."""
