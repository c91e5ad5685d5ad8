"""A headless Chromium, driven through its own protocol over a pipe: no port, no driver program."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0
"""Seconds to wait for anything; machines that test may be busy."""


def program() -> str | None:
    """Where the browser is; the variable CHROMIUM names another one."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One tab. Commands are those of the Chrome DevTools Protocol."""

    def __init__(self, path: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self._write = os.pipe()
        self._read, write_answers = os.pipe()
        # the browser reads commands from 3 and writes answers to 4
        script = f'exec 3<&{read_commands} 4>&{write_answers}; exec "$0" "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", script, path, "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
             "--hide-scrollbars", f"--user-data-dir={self._folder.name}", "about:blank"],
            pass_fds=(read_commands, write_answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(read_commands)
        os.close(write_answers)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        """A command's answer. Raises RuntimeError if the browser refuses it."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser is gone")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    # What tests say

    def js(self, expression: str) -> Any:
        """The value of an expression in the page; of a promise, what it comes to."""
        found = self(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, expression: str) -> Any:
        """Until the expression is true."""
        return until(lambda: self.js(expression), expression)

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self("Emulation.setTouchEmulationEnabled", enabled=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, url: str) -> None:
        self("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState=='complete'")

    def click(self, selector: str) -> None:
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, selector: str) -> None:
        x, y = self._middle(selector)
        self("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def _middle(self, selector: str) -> tuple[float, float]:
        name = json.dumps(selector)
        found = self.js(
            f"(()=>{{const e=document.querySelector({name});if(!e)return null;"
            "e.scrollIntoView({block:'center',inline:'center'});"
            "const r=e.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]})()"
        )
        if found is None:
            raise RuntimeError(f"nothing is {selector}")
        return found[0], found[1]

    def type(self, text: str) -> None:
        self("Input.insertText", text=text)

    def key(self, key: str, code: int, modifiers: int = 0) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=modifiers,
            )  # fmt: skip
        if key == "Enter":
            self("Input.dispatchKeyEvent", type="char", text="\r")

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A screenshot; of the whole page rather than what fits the window."""
        found = self("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


def until(true: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.05)
    raise TimeoutError(f"{what} did not come true in {PATIENCE:.0f} s")
