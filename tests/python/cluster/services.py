"""Servers that tests start and stop: PostgreSQL, and a standalone Spark cluster."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyspark

HOST = "127.0.0.1"
#: Seconds until a server that does not answer is given up.
PATIENCE = 60


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return listener.getsockname()[1]


def wait_until(is_so: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline, f"{what}: not within {patience} s"
        time.sleep(0.2)


def answer_of(url: str) -> Any:
    """The JSON at a URL, None where there is none, as of a server that starts."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.load(answer)
    except (urllib.error.URLError, ConnectionError, json.JSONDecodeError):
        return None


def postgres_programs() -> Path | None:
    """The folder of PostgreSQL's server programs, None where it is not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def postgres(programs: Path, user: str, password: str, **settings: str) -> Iterator[str]:
    """A server with an empty database, as long as the block runs; its JDBC address.

    `settings`: of the server, by name.
    """
    port = free_port()
    # Root may not run it.
    account: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    try:
        (folder / "password").write_text(password)
        if account:
            for path in (folder, folder / "password"):
                shutil.chown(path, account["user"])
        login = (f"--username={user}", "--auth=scram-sha-256", f"--pwfile={folder / 'password'}")
        subprocess.run(
            [programs / "initdb", "--no-sync", *login, "-D", folder / "data"],
            stdout=subprocess.DEVNULL,
            check=True,
            **account,
        )
        address = ("-h", HOST, "-p", str(port), "-k", str(folder))
        options = [option for item in settings.items() for option in ("-c", "=".join(item))]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", *address, *options],
                stdout=log,
                stderr=subprocess.STDOUT,
                **account,
            )
        try:
            is_ready = [programs / "pg_isready", "--quiet", "-h", HOST, "-p", str(port)]
            wait_until(lambda: subprocess.call(is_ready) == 0, "PostgreSQL answers")
            yield f"jdbc:postgresql://{HOST}:{port}/postgres"
        finally:
            # Without waiting for those who are connected.
            server.send_signal(signal.SIGINT)
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Standalone:
    """A standalone master with workers of one core each."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """`environment`: of the workers, and so of the executors."""
        self.folder, self.environment = folder, environment
        self.port, self.web_port = free_port(), free_port()
        self.url = f"spark://{HOST}:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        ports = ("--port", str(self.port), "--webui-port", str(self.web_port))
        self.master = self._start("master.Master", *ports)

    def start_worker(self) -> None:
        """One more worker, which is there when this returns."""
        name = f"worker-{len(self.workers)}"
        size = ("--cores", "1", "--memory", "1g", "--webui-port", "0")
        work_dir = ("--work-dir", str(self.folder / name))
        self.workers.append(self._start("worker.Worker", *size, *work_dir, self.url))
        expected = len([worker for worker in self.workers if worker.poll() is None])
        wait_until(lambda: self._alive_workers() == expected, f"{name} is registered")

    def kill_worker(self, executor: psutil.Process) -> None:
        """Kill the worker of an executor, and the executor with it."""
        worker = executor.parent()
        assert worker is not None
        [process] = [process for process in self.workers if process.pid == worker.pid]
        process.kill()
        executor.kill()
        process.wait()

    def executors(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        return [
            child
            for worker in self.workers
            if worker.poll() is None
            for child in psutil.Process(worker.pid).children()
            # The shell that the worker's start script has left behind is none.
            if child.status() != psutil.STATUS_ZOMBIE
        ]

    def stop(self) -> None:
        # A worker that is killed leaves its executors.
        processes = [*self.executors(), *self.workers, self.master]
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        for process in processes:
            process.wait()

    def _alive_workers(self) -> int:
        state = answer_of(f"http://{HOST}:{self.web_port}/json/")
        return state["aliveworkers"] if state else 0

    def _start(self, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{main}", "--host", HOST]
        with (self.folder / f"{main}.log").open("ab") as log:
            return subprocess.Popen(
                [*command, *arguments],
                env={
                    **os.environ,
                    **self.environment,
                    "SPARK_HOME": str(home),
                    "SPARK_DAEMON_MEMORY": "256m",
                },
                stdout=log,
                stderr=subprocess.STDOUT,
            )


@contextmanager
def standalone(
    folder: Path, environment: Mapping[str, str], worker_count: int
) -> Iterator[Standalone]:
    """A standalone cluster, as long as the block runs."""
    cluster = Standalone(folder, environment)
    try:
        for _ in range(worker_count):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.stop()
