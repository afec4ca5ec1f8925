"""
What are these texts about?
===========================

Short notes about three subjects, in no order. Their words make the map, and the words that tell a
group from the others give it a name.

**In short:** TF-IDF and a certified singular value decomposition make rows that are compared by
cosine. Each name says how many rows of its group have it, and whether the data have the group.
"""

import numpy as np
import pandas as pd

import dualfold

rng = np.random.default_rng(0)
subjects = {
    "kitchen": "bake bread oven flour butter recipe spoon kettle pepper soup",
    "sea": "sail harbour tide anchor wave captain island fishing lighthouse storm",
    "music": "violin concert rhythm singer melody drum orchestra chord piano stage",
}
common = ["every", "person", "often", "finds", "something", "here", "waiting", "home", "today"]
kinds = rng.choice(list(subjects), 400)
notes = [
    " ".join([*rng.choice(subjects[kind].split(), 6), *rng.choice(common, 4)]) for kind in kinds
]
table = pd.DataFrame({"note": notes, "subject": kinds})

found = dualfold.explore(table, text="note", color="subject")
print(found.judgement.groups)
figure = found.plot(title="400 notes by their words")
