"""Debian's Firefox, driven over its own protocol (Marionette): the program alone is needed."""

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import time

import pytest

# No welcome, no news, no second process in waiting: the first window comes in half the time.
PREFERENCES = {
    "webgl.force-enabled": True,
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "fission.autostart": False,
    "startup.homepage_welcome_url": "about:blank",
    "toolkit.telemetry.enabled": False,
}
KEYS = {"Tab": "\ue004", "Escape": "\ue00c", "Enter": "\ue007", "ArrowRight": "\ue014"}


class Firefox:
    """A window; `run` runs JavaScript in its page, `send` is any command of the protocol."""

    def __init__(self, port):
        self.connection, self.number = _connected(port), 0
        self._read()
        self.send("WebDriver:NewSession")

    def _read(self):
        length = b""
        while not length.endswith(b":"):
            length += self._some(1)
        return json.loads(self._some(int(length[:-1])))

    def _some(self, count):
        taken = b""
        while len(taken) < count:
            part = self.connection.recv(count - len(taken))
            if not part:
                raise ConnectionError("Firefox ended")
            taken += part
        return taken

    def send(self, command, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(text), text))
        _, _, error, answer = self._read()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return answer.get("value") if isinstance(answer, dict) else answer

    def run(self, script, *values):
        """The value of an expression, awaited; `values` are arguments[0], …"""
        body = (
            "const done = arguments[arguments.length - 1];"
            f"(async () => {{ return {script}; }})().then(done, e => done('error: ' + e));"
        )
        found = self.send("WebDriver:ExecuteAsyncScript", script=body, args=list(values))
        assert not (isinstance(found, str) and found.startswith("error: ")), found
        return found

    def press(self, *names):
        """Keys, one after the other, wherever the focus is."""
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        typed = {"type": "key", "id": "keys", "actions": actions}
        self.send("WebDriver:PerformActions", actions=[typed])

    def mouse(self, *steps):
        """("move", x, y), ("down",) and ("up",) in pixels of the window."""
        actions = []
        for what, *where in steps:
            if what == "move":
                x, y = (round(float(value)) for value in where)
                actions.append({"type": "pointerMove", "duration": 30, "x": x, "y": y})
            else:
                actions.append({"type": f"pointer{what.capitalize()}", "button": 0})
        pointer = {"type": "pointer", "id": "mouse", "actions": actions}
        self.send("WebDriver:PerformActions", actions=[pointer])

    def screenshot(self):
        return base64.b64decode(self.send("WebDriver:TakeScreenshot", full=False))


def _connected(port):
    end = time.monotonic() + 90
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=120)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def _screen():
    """A screen for programs that draw by OpenGL; None where there is no Xvfb."""
    if shutil.which("Xvfb") is None:
        yield None
        return
    shown, told = os.pipe()
    program = subprocess.Popen(
        ["Xvfb", "-displayfd", str(told), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"],
        pass_fds=(told,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(told)
    try:
        with os.fdopen(shown) as number:
            yield f":{number.readline().strip()}"
    finally:
        program.terminate()
        program.wait(20)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    """A window of Firefox, or a skip that says what is missing."""
    found = os.environ.get("DUALFOLD_FIREFOX") or shutil.which("firefox-esr")
    found = found or shutil.which("firefox")
    if found is None:
        pytest.skip("there is no firefox on the path (apt-get install firefox-esr)")
    profile, port = tmp_path_factory.mktemp("profile"), _free_port()
    chosen = PREFERENCES | {"marionette.port": port}
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in chosen.items()]
    (profile / "user.js").write_text("\n".join(lines))
    with _screen() as display:
        room = dict(os.environ, HOME=str(profile))
        room = room | ({"DISPLAY": display} if display else {"MOZ_HEADLESS": "1"})
        program = subprocess.Popen(
            [found, "--marionette", "--no-remote", "--profile", str(profile),
             "--width", "1300", "--height", "980"],
            env=room, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            window = Firefox(port)
            yield window
            with contextlib.suppress(Exception):
                window.send("Marionette:Quit", flags=["eForceQuit"])
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(10)
            program.kill()
