"""Solvers of programs: HiGHS, interior points, pivots over the integers. None is trusted."""
