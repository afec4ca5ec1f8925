"""Tucker: PCA, eigenmaps, Isomap and the Fenchel game."""
