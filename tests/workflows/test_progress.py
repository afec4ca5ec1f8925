"""What long work tells of itself: true shares, one thing at a time, nothing without a listener."""

from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np
import pytest

import dualfold
from dualfold.graph import farthest_points, geodesic_distances, knn
from tests.tools.tables import roll_points
from tests.workflows.door import (
    Report,
    Stage,
    descent,
    digits_share,
    duration,
    long_call,
    reporting_to,
    steps,
)


def heard_in(work):
    heard = []
    with reporting_to(heard.append):
        work()
    return heard


def parts(heard):
    """name → shares of each time it was begun."""
    found = []
    for told in heard:
        if told.share is None:
            found.append((told.what, []))
        else:
            assert told.what == found[-1][0]  # one at a time
            found[-1][1].append(told.share)
    return found


CLOUD = np.random.default_rng(0).normal(size=(4000, 30))
ROLL = roll_points(1500, random_state=0)


@pytest.mark.parametrize(
    ("what", "work"),
    [
        ("comparing points", lambda: knn(CLOUD, 5)),
        ("comparing points", lambda: knn(CLOUD, 5, metric="manhattan")),
        ("asking the tree", lambda: knn(ROLL, 5)),
        ("shortest paths", lambda: geodesic_distances(knn(ROLL, 8))),
        ("shortest paths from landmarks", lambda: farthest_points(knn(ROLL, 8), 100)),
        ("weighing neighbours", lambda: dualfold.methods.lle(knn(ROLL, 8))),
        ("multiplying columns", lambda: dualfold.methods.pca(CLOUD)),
        ("counting ranks", lambda: dualfold.trustworthiness(CLOUD, CLOUD[:, :2])),
        ("comparing distances", lambda: dualfold.quality.stress(ROLL, ROLL[:, :2])),
    ],
)
def test_a_loop_tells_all_of_its_work(what, work):
    told = [shares for name, shares in parts(heard_in(work)) if name == what]
    assert told
    for shares in told:
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(1.0)  # all of it was counted, and nothing twice
        assert len(shares) < 2 or shares[0] < 1


def test_the_factorisation_and_the_iteration_tell_theirs():
    problem = dualfold.methods.eigenmaps(knn(ROLL, 8))
    found = parts(heard_in(lambda: dualfold.embed(problem)))
    for name, shares in found:
        if name == "factorising":
            assert shares[-1] == pytest.approx(1.0)
        if name == "iterating":
            assert all(0 <= share <= 1 for share in shares)
    assert {"factorising", "iterating"} <= {name for name, _ in found}


def test_an_unfolding_tells_the_digits_of_its_gap():
    graph = knn(roll_points(80, random_state=0), 5)
    records = []
    found = parts(heard_in(lambda: dualfold.unfolding.unfold(graph, callback=records.append)))
    [(_, shares)] = [one for one in found if "gap" in one[0]]
    gaps = [record.gap for record in records if 0 < record.gap < np.inf]
    assert shares == [digits_share(gaps[0], gap, 1e-6) for gap in gaps]
    assert shares[-1] > 0.9


def test_what_begins_inside_is_silent_and_nothing_is_left_behind():
    def nested():
        with steps("outer", 2) as done, long_call("inner", 3.0):
            done(1)
        with pytest.raises(ZeroDivisionError), descent("broken", 1.0):
            raise ZeroDivisionError
        with long_call("after", 3.0):
            pass

    assert heard_in(nested) == [
        Report("outer"),
        Report("outer", 0.5),
        Report("broken"),
        Report("after", None, 3.0),
    ]
    assert digits_share(1.0, 1e-3, 1e-6) == pytest.approx(0.5)
    with steps("nobody hears", 1) as done:
        done(1)


def test_threads_tell_in_turn():
    heard = []

    def slow(told):
        if told.share is not None:
            sleep(0.002 * (1 - told.share))  # whoever comes later is the faster one
            heard.append(told.share)

    with reporting_to(slow), steps("shared", 40) as done, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: done(1), range(40)))
    assert heard == [(place + 1) / 40 for place in range(40)]


def test_nothing_can_be_told_of_the_way_to_zero():
    def work():
        with descent("for ever", 0.0) as at:
            at(1.0)
            at(1e-9)

    assert heard_in(work)[1:] == [Report("for ever", 0.0)] * 2


def test_the_line_knows_what_it_was_told_and_calls_a_guess_a_guess(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("dualfold.cli.terminal.perf_counter", lambda: now[0])
    stage = Stage("isomap", 30.0)
    now[0] = 5.0
    assert stage.words() == "5 s, a guess: about 30 s in all"
    stage.update(Report("paths"))
    now[0] = 15.0
    assert stage.words() == "10 s so far"
    stage.update(Report("paths", 0.25))
    assert (stage.title, stage.words()) == ("isomap: paths", "10 s, about 30 s left")
    stage.update(Report("paths", 0.1))
    assert stage.share == 0.25
    stage.update(Report("paths"))  # the same work on other data begins
    assert stage.words() == "0 s so far"
    stage.update(Report("LAPACK", None, 4.0))
    now[0] = 20.0
    assert stage.words() == "5 s, longer than the 4 s guessed"
    times = (12.4, 185, 7_800, 3 * 3600 + 125)
    assert [duration(s) for s in times] == ["12 s", "3 min 05 s", "2 h 10 min", "3 h 02 min"]
