"""
Do two tables tell the same?
============================

Canonical correlation analysis looks for scores of one table that correlate with scores of another
one. With many columns it always finds some: on 40 rows, 25 columns of noise and 20 others
correlate perfectly.

**In short:** compare correlations with those of shuffled rows. A warning says if some
correlations are 1 whatever the tables hold.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from dualfold import CCA
from dualfold.errors import ConditionFails

rng = np.random.default_rng(0)


def tables(rows, first, second, common):
    """Two tables of noise that share so many columns."""
    shared = rng.normal(size=(rows, common))
    return (
        shared @ rng.normal(size=(common, width)) + rng.normal(size=(rows, width))
        for width in (first, second)
    )


cases = {
    "400 rows, two things in common": (400, 25, 20, 2),
    "40 rows, nothing in common": (40, 25, 20, 0),
}
figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained", sharey=True)
for axis, (title, shape) in zip(axes, cases.items(), strict=True):
    X, Y = tables(*shape)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ConditionFails)
        model = CCA(n_components=6).fit(X, Y)
        shuffled = CCA(n_components=6).fit(X, rng.permutation(Y))
    print(f"{title}: {seen[0].message}" if seen else f"{title}: {model.certificate_}")
    axis.plot(np.arange(1, 7), model.correlations_, "o-", label="as given")
    axis.plot(np.arange(1, 7), shuffled.correlations_, "s--", label="rows shuffled")
    axis.set(title=title, xlabel="pair", ylim=(0, 1.05))
axes[0].set_ylabel("canonical correlation")
axes[0].legend()
plt.show()
