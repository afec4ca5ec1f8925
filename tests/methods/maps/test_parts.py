"""Maps as parts: two maps differ where their kinds, facts or arrays do."""

from dataclasses import replace

import numpy as np

from dualfold.methods.maps import LinearMap

MAP = LinearMap(np.zeros(3), np.eye(3)[:2])


def test_maps_of_another_kind_or_with_other_parts_are_told_apart():
    mine = MAP.parts()
    assert mine.differences(mine) == []
    assert "of kind 'other'" in mine.differences(replace(mine, kind="other"))[0]
    fewer = {name: part for name, part in mine.arrays.items() if name != "components"}
    assert mine.differences(replace(mine, arrays=fewer)) == ["the part 'components' is missing"]
    more = mine.arrays | {"odd": np.zeros(2)}
    assert mine.differences(replace(mine, arrays=more)) == ["the part 'odd' is too much"]


def test_an_unknown_rounding_agrees_with_an_unknown_one_alone():
    """NaN stands for it in the facts of a graph by another metric."""
    unknown, known = ({"rounding": value} for value in (np.nan, 1e-16))
    mine = replace(MAP.parts(), facts=unknown)
    assert mine.differences(mine) == []
    assert mine.differences(replace(mine, facts=known)) == ["the fact 'rounding' differs"]
