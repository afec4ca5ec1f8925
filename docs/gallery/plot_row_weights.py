"""
What if a survey asked some people too often?
=============================================

One in ten people of a country lives on islands. The survey asked as many people there as on the
mainland, so that islanders are half of its rows. The weight of a row is the number of people in the
country for each person that was asked.

**In short:** weigh the rows. Without weights the first direction of PCA is that between the two
places, which the survey made important; with them it is that of the whole country.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualfold import PCA

rng = np.random.default_rng(0)
ON_ISLANDS = 0.1  # of the people


def people(count, on_islands):
    """Two answers of each person, and whether that person lives on the islands."""
    island = rng.random(count) < on_islands
    answers = rng.normal(size=(count, 2)) * [1.5, 0.6]
    return answers + island[:, None] * [0.0, 3.0], island


country, _ = people(100_000, ON_ISLANDS)
asked, island = people(600, 0.5)
weights = np.where(island, ON_ISLANDS / island.mean(), (1 - ON_ISLANDS) / (1 - island.mean()))
truth = PCA(1).fit(country).components_[0]
models = {
    "every row counts once": PCA(1).fit(asked),
    "rows count by their weights": PCA(1).fit(asked, sample_weight=weights),
}

figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharex=True, sharey=True)
for axis, (title, model) in zip(axes, models.items(), strict=True):
    size = weights * 20 if "weights" in title else 20
    axis.scatter(*asked.T, s=size, c=np.where(island, "C1", "C0"), alpha=0.4, linewidths=0)
    for direction, style, label in (
        (truth, "k--", "first direction of the country"),
        (model.components_[0], "C3-", "of the survey"),
    ):
        ends = model.mean_ + np.outer([-4, 4], direction)
        axis.plot(*ends.T, style, label=label)
    angle = np.degrees(np.arccos(min(1.0, abs(truth @ model.components_[0]))))
    print(f"{title}: {angle:.0f} degrees from that of the country; {model.certificate_}")
    axis.set(title=f"{title}: {angle:.0f}° off", xlabel="first answer", aspect="equal")
axes[0].set_ylabel("second answer")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
plt.show()
