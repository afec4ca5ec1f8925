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
0.973 0.947 0.942 0.887 0.805 0.712 0.612 0.520 0.453
0.987 0.998 0.997 0.971 0.885 0.806 0.727 0.620 0.543
1.002 1.001 1.008 0.995 0.941 0.887 0.790 0.691 0.609
1.002 1.000 1.009 1.013 0.975 0.910 0.838 0.739 0.653
0.998 0.998 1.013 1.014 0.986 0.941 0.876 0.780 0.697
0.995 1.008 1.001 1.010 0.999 0.963 0.897 0.809 0.731
1.002 0.991 1.000 1.009 1.001 0.980 0.926 0.838 0.759
# TwoNN, cube
0.933 0.885 0.841 0.781 0.723 0.683 0.607 0.530 0.461
0.973 0.944 0.912 0.857 0.798 0.741 0.678 0.604 0.546
0.994 0.971 0.947 0.900 0.839 0.790 0.735 0.660 0.600
1.000 0.980 0.961 0.927 0.866 0.809 0.755 0.697 0.640
1.001 0.995 0.975 0.940 0.886 0.840 0.788 0.730 0.666
1.001 1.001 0.991 0.955 0.902 0.859 0.809 0.742 0.694
0.989 0.995 0.990 0.952 0.918 0.875 0.825 0.761 0.703
# TwoNN, sphere
0.956 0.967 0.947 0.873 0.811 0.746 0.648 0.572 0.497
0.978 0.976 0.971 0.943 0.872 0.812 0.727 0.653 0.581
0.997 1.000 0.990 0.967 0.919 0.867 0.791 0.708 0.633
0.996 0.997 0.997 0.981 0.948 0.896 0.831 0.751 0.678
0.992 0.998 0.997 0.985 0.965 0.920 0.866 0.786 0.714
1.002 1.010 0.995 0.999 0.972 0.933 0.882 0.808 0.738
0.994 0.997 0.998 0.997 0.977 0.948 0.901 0.827 0.761
# Levina–Bickel, normal
0.901 0.823 0.755 0.642 0.541 0.459 0.385 0.315 0.269
0.913 0.903 0.867 0.789 0.701 0.612 0.529 0.443 0.382
0.900 0.907 0.898 0.858 0.784 0.706 0.622 0.529 0.461
0.895 0.902 0.904 0.884 0.826 0.758 0.681 0.587 0.516
0.891 0.896 0.902 0.895 0.858 0.801 0.729 0.638 0.565
0.888 0.894 0.898 0.898 0.874 0.828 0.759 0.673 0.600
0.890 0.891 0.891 0.900 0.885 0.849 0.787 0.706 0.635
# Levina–Bickel, cube
0.813 0.745 0.699 0.630 0.553 0.484 0.409 0.341 0.291
0.860 0.810 0.769 0.716 0.657 0.597 0.529 0.454 0.399
0.884 0.845 0.812 0.756 0.704 0.657 0.598 0.528 0.469
0.887 0.865 0.836 0.784 0.735 0.690 0.637 0.573 0.515
0.887 0.876 0.854 0.810 0.761 0.715 0.669 0.608 0.552
0.890 0.881 0.865 0.825 0.779 0.735 0.688 0.631 0.580
0.888 0.886 0.873 0.839 0.798 0.752 0.708 0.654 0.603
# Levina–Bickel, sphere
0.960 0.889 0.819 0.710 0.606 0.523 0.444 0.369 0.315
0.894 0.892 0.862 0.798 0.718 0.644 0.568 0.486 0.425
0.892 0.889 0.878 0.838 0.782 0.717 0.643 0.561 0.497
0.887 0.887 0.887 0.859 0.814 0.756 0.689 0.610 0.546
0.888 0.889 0.887 0.871 0.837 0.789 0.727 0.650 0.587
0.890 0.890 0.888 0.879 0.851 0.807 0.752 0.680 0.617
0.889 0.889 0.889 0.882 0.861 0.825 0.775 0.706 0.645
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
