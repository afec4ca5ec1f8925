"""Solvers of programs: HiGHS, Clarabel, pivots over the integers. None of them is trusted."""
