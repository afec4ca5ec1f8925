"""Which tests try a mutant: those that run its line, the most telling first (`mutants.py`)."""

from __future__ import annotations

import json
import re
import time
from collections import Counter, defaultdict

from tests.tools.mutations import reached_by

SLOW = 2.5  # seconds: tests that take longer are left out
BUDGET = 1.5  # seconds of processor for the tests of a mutant, as measured under coverage
MOST = 20  # tests for a mutant, for each second of the budget
# Tests that look at what imports made, and run none of its lines.
LOOKS = (
    "tests/workflows/test_frozen.py",
    "tests/workflows/test_constants.py",
    "tests/trace/test_certificate.py::test_defaults_say",
    "tests/quality/test_verdict.py::test_words_change",
)


class Contexts:
    """Plugin of pytest: which test ran which line, how long each took, which passed."""

    def __init__(self, work):
        import coverage

        self.work = work
        self.coverage = coverage.Coverage(
            data_file=str(work / "contexts"), config_file=False, source=["dualfold"], branch=True
        )
        self.took, self.passed = {}, set()
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid):
        self.coverage.switch_context(nodeid)
        self.took[nodeid] = -time.process_time()  # the clock would count what others do

    def pytest_runtest_logfinish(self, nodeid):
        self.took[nodeid] += time.process_time()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self):
        self.coverage.stop()
        self.coverage.save()
        took = {name: self.took[name] for name in sorted(self.passed)}
        (self.work / "took.json").write_text(json.dumps(took))


class Known:
    """What the contexts of one or more folders know: lines → tests, times, focus."""

    def __init__(self, folders):
        import coverage

        self.took, self.of_line = {}, defaultdict(set)
        self.lines, self.lines_in = Counter(), Counter()
        for folder in folders:
            took = json.loads((folder / "took.json").read_text())
            self.took |= {name: seconds for name, seconds in took.items() if seconds < SLOW}
            data = coverage.CoverageData(str(folder / "contexts"))
            data.read()
            for path in data.measured_files():
                self._add(path.rpartition("/dualfold/")[2], data.contexts_by_lineno(path))

    def _add(self, place, contexts):
        for line, tests in contexts.items():
            tests = self.took.keys() & tests
            self.of_line[place, line] |= tests
            self.lines.update(tests)
            self.lines_in.update((test, place) for test in tests)

    def of_mutant(self, package, mutant):
        """All tests that run the mutant's line, or what a line of the import decides."""
        place, line = mutant["file"], mutant["line"]
        if mutant["inside"]:
            return self.of_line.get((place, line), set())
        names, lines = reached_by((package / place).read_text(), line)
        found = {test for test in self.took if test.startswith(LOOKS)}
        found.update(*(self.of_line.get((place, at), ()) for at in lines))
        for name in names:
            pattern = re.compile(rf"\b{name}\b")
            for path in package.rglob("*.py"):
                other = str(path.relative_to(package))
                for at, text in enumerate(path.read_text().splitlines(), 1):
                    if pattern.search(text):
                        found |= self.of_line.get((other, at), set())
        return found

    def chosen(self, package, mutant, kills, budget=BUDGET):
        """The tests in their order, and how long they take.

        First those that do little but run this file, each second counted; further cases of one
        test function count less and less, and functions that noticed other mutants of this file
        count more.
        """
        place, cases, value = mutant["file"], Counter(), {}
        for test in sorted(self.of_mutant(package, mutant), key=self.took.__getitem__):
            function = test.partition("[")[0]
            cases[function] += 1
            focus = self.lines_in[test, place] / max(1, self.lines[test])
            focus = (1.0 if test.startswith(LOOKS) else focus) / (0.05 + self.took[test])
            value[test] = focus * (1 + kills[place, function]) / cases[function]
        found, total = [], 0.0
        for test in sorted(value, key=value.__getitem__, reverse=True):
            if total + self.took[test] <= budget and len(found) < MOST * budget:
                found.append(test)
                total += self.took[test]
        return found, total
