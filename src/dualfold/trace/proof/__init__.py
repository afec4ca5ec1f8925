"""Proofs about eigenvalues, rounding included: what a certificate trusts."""
