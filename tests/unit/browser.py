"""A headless Chromium for tests of pages, spoken to over the two pipes of its debugging protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOUND = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
PATIENCE = 120  # seconds; a loaded machine starts a browser slowly


class Browser:
    """One page in a window of 1200 x 800 points."""

    def __init__(self, page: Path, profile: Path) -> None:
        assert FOUND
        from_us, self._out = os.pipe()
        self._in, from_it = os.pipe()
        # It reads commands from descriptor 3 and answers on 4.
        free = max(from_us, from_it, 4) + 1
        moved = f"import os; os.dup2({from_us}, {free}); os.dup2({from_it}, {free + 1}); "
        moved += f"os.dup2({free}, 3); os.dup2({free + 1}, 4); "
        options = (
            f"--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir={profile} "
            "--window-size=1200,800 --no-first-run --disable-extensions --remote-debugging-pipe about:blank"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{moved}os.execv({FOUND!r}, {[FOUND, *options.split()]!r})"],
            pass_fds=(from_us, from_it),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(from_it)
        self._rest, self._number = b"", 0
        target = self._call("Target.createTarget", {"url": page.as_uri()})["targetId"]
        attach = {"targetId": target, "flatten": True}
        self._session = self._call("Target.attachToTarget", attach)["sessionId"]
        self._wait(page)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _call(
        self, method: str, parameters: dict[str, Any], session: str | None = None
    ) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], PATIENCE)
            assert ready, "the browser does not answer"
            read = os.read(self._in, 1 << 16)
            assert read, "the browser has ended"
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _wait(self, page: Path) -> None:
        until = time.monotonic() + PATIENCE
        here = f"location.href.split('#')[0] == {json.dumps(page.as_uri())}"
        while not self.js(f"{here} && document.readyState == 'complete'"):
            assert time.monotonic() < until
            time.sleep(0.05)

    def open(self, page: Path) -> None:
        """Go to another page."""
        self._call("Page.navigate", {"url": page.as_uri()}, self._session)
        self._wait(page)

    def resize(self, width: int, height: int) -> None:
        """Set the window's size in points."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", size, self._session)

    def js(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        given = {"expression": expression, "returnByValue": True}
        answer = self._call("Runtime.evaluate", given, self._session)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Write what the window shows as PNG."""
        answer = self._call("Page.captureScreenshot", {"format": "png"}, self._session)
        path.write_bytes(base64.b64decode(answer["data"]))
