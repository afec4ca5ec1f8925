"""A quick answer with the attributes of `AlignedMaps`, for tests of what is done with one."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np


class Proof:
    """A certificate as commands and pages read one."""

    holds = True

    def __str__(self):
        return "Stand-in: proved."

    def to_dict(self):
        return {"level": "proved", "gap": 0.0, "holds": True, "verdict": str(self)}


class StandIn:
    """The first two columns as the map; who goes further than 1 in the data has moved."""

    def __init__(self, n_components=2, **settings):
        self.settings = settings

    def fit(self, slices, ids=None, links=None):
        self.embeddings_ = [np.asarray(one, float)[:, :2] for one in slices]
        self.links_ = []
        for before, after in pairwise(ids):
            place = {one: k for k, one in enumerate(after)}
            shared = [(k, place[one]) for k, one in enumerate(before) if one in place]
            self.links_.append(np.array(shared, dtype=int).reshape(-1, 2))
        steps = zip(self.links_, slices[:-1], slices[1:], strict=True)
        self.movement_ = [
            np.linalg.norm(np.asarray(b)[k[:, 1]] - np.asarray(a)[k[:, 0]], axis=1)
            for k, a, b in steps
        ]
        self.movement_limit_ = 1.0
        self.drift_ = [one > self.movement_limit_ for one in self.movement_]
        self.mu_ = 1.0
        self.mu_reason_ = "a stand-in chose it"
        self.certificate_ = Proof()
        return self

    def to_dict(self):
        return vars(SimpleNamespace(mu=self.mu_))
