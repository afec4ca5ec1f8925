"""What two estimators of the dimension give for clouds whose dimension is known.

Both are too low where points are few for their dimension, and by how much depends on the shape. A
normal cloud has no edge, a cube has one on all sides, a sphere has none and bends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dualfold.arrays import Array

ROW_COUNTS = (20, 60, 200, 600, 2_000, 6_000, 20_000)
DIMENSIONS = (1, 2, 3, 5, 8, 12, 18, 28, 40)
MAX_ROWS = ROW_COUNTS[-1]
# Estimate over dimension: one line for each number of rows, one column for each dimension; of
# Levina and Bickel's with ten neighbours. Made by
# `python -m benchmarks.calibration.dimension --curves`.
RATIOS = """
# TwoNN, normal
0.963 0.979 0.948 0.882 0.804 0.701 0.616 0.526 0.452
0.983 1.010 0.999 0.964 0.890 0.804 0.718 0.615 0.545
0.991 1.011 1.025 1.001 0.946 0.872 0.800 0.687 0.609
0.996 1.002 1.016 1.018 0.972 0.912 0.840 0.732 0.666
0.991 1.006 1.017 1.001 0.989 0.935 0.873 0.789 0.699
1.002 0.994 1.013 1.021 0.988 0.977 0.904 0.814 0.733
0.985 0.995 1.015 1.017 0.999 0.988 0.921 0.828 0.764
# TwoNN, cube
0.935 0.899 0.833 0.796 0.730 0.673 0.606 0.526 0.465
0.967 0.936 0.910 0.851 0.797 0.751 0.688 0.609 0.544
0.984 0.969 0.956 0.897 0.846 0.781 0.736 0.660 0.604
0.991 1.001 0.961 0.920 0.876 0.824 0.766 0.701 0.643
0.996 1.013 0.986 0.959 0.887 0.841 0.800 0.726 0.666
1.012 0.999 0.984 0.948 0.907 0.864 0.810 0.736 0.693
0.990 0.996 0.989 0.961 0.930 0.883 0.812 0.766 0.715
# TwoNN, sphere
0.958 0.948 0.935 0.867 0.809 0.727 0.646 0.565 0.492
0.975 0.975 0.979 0.933 0.888 0.816 0.736 0.652 0.578
0.989 0.987 0.990 0.971 0.941 0.872 0.800 0.701 0.642
0.998 1.005 0.987 0.987 0.942 0.898 0.826 0.733 0.683
1.002 0.991 1.006 0.994 0.957 0.928 0.870 0.777 0.715
1.014 0.998 0.998 0.995 0.973 0.938 0.886 0.798 0.743
1.021 1.015 1.002 0.996 0.992 0.951 0.888 0.826 0.760
# Levina–Bickel, normal
0.900 0.825 0.751 0.641 0.539 0.458 0.384 0.317 0.268
0.912 0.904 0.863 0.792 0.701 0.610 0.527 0.443 0.383
0.899 0.910 0.903 0.858 0.787 0.704 0.624 0.530 0.462
0.893 0.904 0.902 0.883 0.829 0.762 0.680 0.588 0.517
0.890 0.898 0.903 0.896 0.854 0.800 0.724 0.638 0.565
0.889 0.891 0.897 0.899 0.871 0.827 0.762 0.674 0.602
0.890 0.889 0.896 0.901 0.888 0.848 0.792 0.710 0.634
# Levina–Bickel, cube
0.811 0.745 0.703 0.630 0.551 0.478 0.409 0.342 0.291
0.858 0.806 0.768 0.714 0.657 0.598 0.529 0.455 0.399
0.879 0.849 0.809 0.757 0.704 0.655 0.599 0.526 0.469
0.883 0.865 0.834 0.786 0.734 0.692 0.637 0.573 0.513
0.886 0.879 0.853 0.810 0.760 0.715 0.669 0.606 0.552
0.889 0.885 0.862 0.827 0.781 0.736 0.690 0.631 0.579
0.887 0.883 0.870 0.843 0.798 0.752 0.705 0.654 0.602
# Levina–Bickel, sphere
0.962 0.891 0.814 0.712 0.607 0.524 0.443 0.368 0.315
0.893 0.890 0.865 0.801 0.722 0.646 0.566 0.484 0.425
0.889 0.891 0.877 0.843 0.783 0.716 0.646 0.563 0.498
0.888 0.891 0.882 0.861 0.814 0.755 0.688 0.607 0.546
0.889 0.892 0.886 0.873 0.836 0.786 0.729 0.651 0.589
0.890 0.890 0.886 0.878 0.852 0.807 0.754 0.679 0.616
0.889 0.894 0.884 0.885 0.867 0.825 0.771 0.706 0.648
"""


def inverse_curves(n: int) -> list[list[Callable[[float], float]]]:
    """For TwoNN and for Levina–Bickel: functions from an estimate to the dimension.

    One for each kind of cloud, of n points: normal, cube, sphere. Ratios are interpolated between
    logarithms of n and of the dimension; beyond the simulated ones they stay as they are.
    """
    numbers = [line.split() for line in RATIOS.splitlines() if line and not line.startswith("#")]
    ratios = np.array(numbers, dtype=float).reshape(2, 3, len(ROW_COUNTS), len(DIMENSIONS))
    return [[_inverse(cloud, n) for cloud in clouds] for clouds in ratios]


def _inverse(cloud: Array, n: int) -> Callable[[float], float]:
    at_n = [np.interp(np.log(n), np.log(ROW_COUNTS), column) for column in cloud.T]
    dimensions = np.geomspace(DIMENSIONS[0], DIMENSIONS[-1], 200)
    ratios = np.interp(np.log(dimensions), np.log(DIMENSIONS), at_n)
    estimates = np.maximum.accumulate(dimensions * ratios)

    def dimension(estimate: float) -> float:
        if not np.isfinite(estimate):
            return float(DIMENSIONS[-1])
        if estimate < estimates[0]:
            return float(estimate / ratios[0])
        if estimate > estimates[-1]:
            return float(estimate / ratios[-1])
        return float(np.interp(estimate, estimates, dimensions))

    return dimension
