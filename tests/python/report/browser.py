"""A page in a browser without a window: what is on it, what it complains of, how it looks."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--enable-logging=stderr", "--log-level=0", "--no-first-run"),
    # Whatever the page asks for is refused, and logged.
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_PREFERRED = {"dark": "0", "light": "1"}
_ANSWER = "page-answers"
_SECURITY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


@dataclass(frozen=True)
class Visit:
    """What a browser says of a page."""

    #: what the page's own DOM answers to the question
    answer: Any
    #: lines of the console
    console: list[str]


def visit(page: Path, question: str, scheme: str = "light", width: int = 1280) -> Visit:
    """Open a page and evaluate `question`, an expression of JavaScript, in it.

    `width`: of the window, in pixels; a browser's own least is 500.
    """
    asking = page.with_name(f"asking-{scheme}-{width}.html")
    # The page allows no scripts: the question is put to a copy that does.
    text = _SECURITY.sub("", page.read_text("utf-8"))
    script = (
        f"<script>addEventListener('load', () => {{ const pre = document.createElement('pre');"
        f" pre.id = '{_ANSWER}'; pre.hidden = true;"
        f" pre.textContent = btoa(unescape(encodeURIComponent(JSON.stringify({question}))));"
        " document.body.append(pre); })</script>"
    )
    asking.write_text(text.replace("</body>", f"{script}</body>"), "utf-8")
    done = _run(asking, scheme, width, "--dump-dom", "--virtual-time-budget=3000")
    found = re.search(rf'id="{_ANSWER}"[^>]*>([^<]*)<', done.stdout)
    assert found, done.stderr
    return Visit(json.loads(base64.b64decode(found[1])), _console(done.stderr))


def console_of(page: Path) -> list[str]:
    """What the console says of the page as it is."""
    return _console(_run(page, "light", 1280, "--dump-dom").stderr)


def screenshot(page: Path, image: Path, scheme: str, width: int, height: int) -> None:
    """An image of the page."""
    _run(page, scheme, width, f"--screenshot={image}", height=height)
    assert image.exists()


def _run(
    page: Path, scheme: str, width: int, *options: str, height: int = 900
) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    return subprocess.run(
        [
            *(BROWSER, *_OPTIONS, *options),
            f"--blink-settings=preferredColorScheme={_PREFERRED[scheme]}",
            f"--window-size={width},{height}",
            f"--user-data-dir={page.parent / 'profile'}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def _console(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if ":CONSOLE" in line]
