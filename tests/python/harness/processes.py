"""The project's commands on a target, each in its own process."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cdc_marts.landing.envelopes import Message
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import ROOT
from tests.python.samples.files import samples

#: A process that takes more seconds hangs.
TIMEOUT = 1800
#: Prefixes of environment variables that a user may have set, and that tests set themselves.
_SETTINGS = ("CDC_MARTS_", "DBT_", "PYTEST_", "PYTHON", "SPARK_", "VIRTUAL_ENV")
MARTS = tuple(
    f"marts.{mart}"
    for mart in (
        *("change_events", "latest_state", "row_history", "ddl_events", "heartbeats"),
        *("transaction_events", "quarantined_messages", "source_tables", "message_ledger"),
    )
)


def finished(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed, as from a new terminal with `environment` set."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(_SETTINGS)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


def program(name: str) -> Path:
    """Return a program of the environment that the tests run in."""
    return Path(sys.executable).with_name(name)


class Commands:
    """Commands of dbt and cdc-marts on a target, and the content of its tables."""

    def __init__(self, target: str, environment: Mapping[str, str], work: Path) -> None:
        """Use `work` for the files that dbt and the tests write, by one process at a time."""
        self.target, self.work = target, work
        folders = {"DBT_TARGET_PATH": str(work / "target"), "DBT_LOG_PATH": str(work)}
        self.environment = {**environment, **folders}
        self.log = work / "output.txt"
        self._started: list[subprocess.Popen[bytes]] = []

    def dbt(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a dbt command, in its own process group."""
        settings = ("--target", self.target, "--no-use-colors")
        return self._start("-c", "from dbt.cli.main import cli; cli()", *arguments, *settings)

    def land(self, shares: Mapping[str, Iterable[Message]]) -> None:
        """Land messages of several formats, with one commit per format."""
        for source_format, messages in shares.items():
            lines = "".join(json.dumps(_envelope(message)) + "\n" for message in messages)
            self._share(source_format).write_text(lines, "utf-8")
        paths = [str(self._share(source_format)) for source_format in shares]
        self.finish(self._start_child("land", *paths))

    def land_files(self, source_format: str, path: Path) -> subprocess.Popen[bytes]:
        """Start `cdc-marts land files`."""
        return self._start_landing("files", source_format, str(path))

    def land_kafka(self, source_format: str, *options: str) -> subprocess.Popen[bytes]:
        """Start `cdc-marts land kafka`."""
        return self._start_landing("kafka", source_format, *options)

    def run_rounds(self, log: Path, *options: str) -> subprocess.Popen[bytes]:
        """Start `cdc-marts run`, whose output goes to its own file."""
        return self.command("run", *options, log=log)

    def command(self, name: str, *options: str, log: Path | None = None) -> subprocess.Popen[bytes]:
        """Start `cdc-marts NAME`."""
        code = "from cdc_marts.cli import app; app()"
        return self._start("-c", code, name, "--target", self.target, *options, log=log)

    def content(self, *relations: str) -> dict[str, list[str]]:
        """Return relation -> its rows as sorted JSON texts."""
        found = self.work / "content.json"
        self.finish(self._start_child("content", str(found), *relations))
        return json.loads(found.read_text("utf-8"))

    def rows(self, *relations: str) -> dict[str, list[str]]:
        """Return relation -> its rows as texts, which `readers` compares with other engines."""
        found = self.work / "rows.json"
        self.finish(self._start_child("rows", str(found), *relations))
        return json.loads(found.read_text("utf-8"))

    def run(self) -> None:
        """Run `dbt run` to its end."""
        self.finish(self.dbt("run"))

    def output(self) -> str:
        """Return the output of the last process."""
        return self.log.read_text("utf-8", errors="replace")

    def finish(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a process, and raise if it failed."""
        assert process.wait(TIMEOUT) == 0, self.output()

    def stop(self) -> None:
        """Kill the processes that still run."""
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _share(self, source_format: str) -> Path:
        return self.work / f"{source_format}.jsonl"

    def _start_landing(
        self, way: str, source_format: str, *arguments: str
    ) -> subprocess.Popen[bytes]:
        code = "from cdc_marts.cli import app; app()"
        command = ("land", way, "--format", source_format, "--target", self.target)
        return self._start("-c", code, *command, *arguments)

    def _start_child(self, *arguments: str) -> subprocess.Popen[bytes]:
        return self._start("-m", "tests.python.harness.child", self.target, *arguments)

    def _start(self, *arguments: str, log: Path | None = None) -> subprocess.Popen[bytes]:
        with (log or self.log).open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process


class Home(Commands):
    """The target `local` in a folder."""

    def __init__(self, folder: Path, work: Path, **settings: str) -> None:
        """Use `work` outside of `folder`. `settings`: further environment variables."""
        memory = os.environ.get("CDC_MARTS_DRIVER_MEMORY", "2g")
        environment = {"CDC_MARTS_HOME": str(folder), "CDC_MARTS_DRIVER_MEMORY": memory}
        super().__init__("local", {**environment, **settings}, work)
        self.folder = folder


def all_samples() -> dict[str, list[Message]]:
    """Return format -> its sample messages."""
    return {source_format: samples(source_format) for source_format in SOURCE_FORMATS}


def take_shares(left: dict[str, list[Message]], runs: int) -> dict[str, list[Message]]:
    """Take the messages that land before the next of `runs` runs: an equal share of those left."""
    shares = {}
    for source_format, messages in left.items():
        size = -(-len(messages) // runs)
        shares[source_format], left[source_format] = messages[:size], messages[size:]
    return shares


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
