"""One mutant in one process of its own (`mutants.py`).

A fault inside a function is put into a process that has imported dualfold and collected all tests:
the functions that came from the changed lines get the changed code. A fault in what runs at import
(constants, defaults, classes) needs a process that has not imported dualfold yet.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
import types
from collections import defaultdict
from pathlib import Path

import hypothesis
import pytest

from tests.tools.mutations import mutated

PATIENCE = 12.0  # seconds of processor that a mutant may take beyond thrice its tests
WAIT = 600  # seconds by the clock, for those that wait for something for ever
MEMORY = 8 << 30  # bytes of addresses


class Altered(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of dualfold with other source text."""

    def __init__(self, module, path, code):
        self.module, self.path, self.code = module, path, code

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        folder = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=folder
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.code, module.__dict__)


def quick_hypothesis():
    """Failing examples are not made smaller: that they fail is all that is asked."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")


def in_child(work, seconds):
    """(verdict, what the child wrote) of a function run in a fork: 0 is "survived"."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        code = 3
        try:
            os.close(reading)
            _bounded(seconds)
            code = work(lambda text: os.write(writing, text.encode()))
        finally:
            os._exit(int(code))
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        wrote = file.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        endless = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
        return ("endless" if endless else "killed"), wrote
    return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), wrote


def in_other_process(work):
    """Run a function in a fork, so that this process stays without what it imports."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def collected(files, plugin):
    """Collect the tests of these files and leave them to the plugin."""
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--timeout=0"]
    pytest.main([*options, "--tb=no", *files], [plugin])


def _bounded(seconds):
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    limit = int(3 * seconds + PATIENCE)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.alarm(WAIT)


class FirstFailure:
    """Plugin of pytest: writes which test, or which file at its import, failed first."""

    def __init__(self, write):
        self.write = write

    def pytest_exception_interact(self, node):
        self.write(node.nodeid)
        self.write = lambda _: None


def at_import(path, name, number, tests, seconds):
    """A fault in what runs at import, tried in a process that imports dualfold with it."""
    code = compile(mutated(path.read_text(), number), str(path), "exec")

    def work(write):
        sys.meta_path.insert(0, Altered(name, path, code))
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        return pytest.main([*options, "--timeout=0", "--tb=no", *tests], [FirstFailure(write)])

    return in_child(work, seconds)


class Functions:
    """The functions of dualfold that live in this process, by the file they came from."""

    def __init__(self):
        self.of_file = defaultdict(list)
        gc.unfreeze()  # what a test file froze is not among the objects
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType):
                self.of_file[thing.__code__.co_filename].append(thing)

    def alter(self, path, number):
        """Give the file's functions their changed code; how many got one."""
        source = path.read_text()
        old = _codes(compile(mutated(source, None), str(path), "exec"))
        new = _codes(compile(mutated(source, number), str(path), "exec"))
        changed = {key: code for key, code in new.items() if old[key] != code}
        count = 0
        for function in self.of_file[str(path)]:
            code = changed.get(_key(function.__code__))
            if code is not None:
                function.__code__ = code
                count += 1
        return count


def _key(code):
    return code.co_qualname, code.co_firstlineno


def _codes(code):
    """Every code object inside, by its name and line; those of one key in one line are rare."""
    found = {}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found[_key(constant)] = constant
            found |= _codes(constant)
    return found


class Trials:
    """Plugin of pytest: instead of running the tests, tries mutants with some of them."""

    def __init__(self, package, todo, choose, tell):
        self.package, self.todo, self.choose, self.tell = package, todo, choose, tell

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        items = {item.nodeid: item for item in session.items}
        for mutant in self.todo:
            importlib.import_module(module_of(mutant["file"]))  # some are imported when first used
        functions = Functions()
        assert all(str(self.package / mutant["file"]) in functions.of_file for mutant in self.todo)
        gc.freeze()
        for mutant in self.todo:
            tests, seconds = self.choose(mutant)
            tests = [test for test in tests if test in items]

            def work(write, mutant=mutant, tests=tests):
                path = self.package / mutant["file"]
                if not functions.alter(path, mutant["number"]):
                    write("no function was altered")
                    return 0
                return _tried(session, [items[test] for test in tests], write)

            if tests:
                self.tell(mutant, tests, *in_child(work, seconds))
            else:
                self.tell(mutant, [], "not run", "")
        return True


def _tried(session, items, write):
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed:
            write(item.nodeid)
            return 1
    return 0


def module_of(place):
    """The name of the module in a file of the package."""
    return ".".join(["dualfold", *Path(place).with_suffix("").parts]).removesuffix(".__init__")
