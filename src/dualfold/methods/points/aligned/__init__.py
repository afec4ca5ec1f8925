"""Maps of slices that are held together by links: the problem, its solver and its certificate."""
