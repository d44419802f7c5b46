"""A home folder of its own, on which the project runs in processes of their own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil

from cdc_marts.landing.envelopes import Message

PROJECT = Path(__file__).parents[3]
#: A process that takes longer hangs.
TIMEOUT = 900


class Home:
    """The target `local` in a folder: commands, landings and marts."""

    def __init__(self, folder: Path, work: Path) -> None:
        """`work`: where what dbt and the tests write goes, outside of the home."""
        self.folder, self.work = folder, work
        self.log = work / "output.txt"

    def dbt(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a dbt command on the target, as a process group of its own."""
        folders = ("--target-path", str(self.work / "target"), "--log-path", str(self.work))
        code = "from dbt.cli.main import cli; cli()"
        return self._start("-c", code, *arguments, *folders, "--target", "local", "--no-use-colors")

    def land(self, shares: Mapping[str, Iterable[Message]]) -> None:
        """Land messages of several formats, each format's in one commit."""
        for source_format, messages in shares.items():
            lines = "".join(json.dumps(_envelope(message)) + "\n" for message in messages)
            self._share(source_format).write_text(lines, "utf-8")
        paths = [str(self._share(source_format)) for source_format in shares]
        self.finish(self._start("-m", "tests.python.faults.child", "land", *paths))

    def land_files(self, source_format: str, path: Path) -> subprocess.Popen[bytes]:
        """Start `cdc-marts land files`."""
        code = "from cdc_marts.cli import app; app()"
        return self._start("-c", code, "land", "files", "--format", source_format, str(path))

    def content(self, *relations: str) -> dict[str, list[str]]:
        """Relation -> its rows as sorted JSON texts."""
        found = self.work / "content.json"
        self.finish(
            self._start("-m", "tests.python.faults.child", "content", str(found), *relations)
        )
        return json.loads(found.read_text("utf-8"))

    def run(self) -> None:
        """`dbt run` to its end."""
        self.finish(self.dbt("run"))

    def output(self) -> str:
        """What the last process wrote."""
        return self.log.read_text("utf-8", errors="replace")

    def _share(self, source_format: str) -> Path:
        return self.work / f"{source_format}.jsonl"

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "CDC_MARTS_HOME": str(self.folder)}
        environment.setdefault("CDC_MARTS_DRIVER_MEMORY", "2g")
        with self.log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=PROJECT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a process that ends well."""
        assert process.wait(TIMEOUT) == 0, self.output()


def java_of(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    """The JVM of a process, None while it has none."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return None
    return next((child for child in children if child.name() == "java"), None)


def _envelope(message: Message) -> dict[str, Any]:
    def text(data: bytes | None) -> str | None:
        return None if data is None else base64.b64encode(data).decode()

    return {
        "topic": message.topic,
        "partition": message.partition,
        "offset": message.offset,
        "timestamp": message.timestamp,
        "key_base64": text(message.key),
        "value_base64": text(message.value),
    }
