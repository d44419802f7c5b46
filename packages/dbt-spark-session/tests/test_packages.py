"""Jars: found where they are cached, downloaded once, a clear word where they can't be."""

from __future__ import annotations

import http.server
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dbt.adapters.spark_session import packages
from dbt.adapters.spark_session.errors import SessionError

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
SQLITE = "org.xerial:sqlite-jdbc:3.50.3.0"


def jar_of(cache: Path, package: str) -> Path:
    return cache / "jars" / f"{package.replace(':', '_', 1).replace(':', '-')}.jar"


def put(cache: Path, package: str) -> Path:
    jar = jar_of(cache, package)
    jar.parent.mkdir(parents=True, exist_ok=True)
    jar.touch()
    return jar


class Resolver:
    """Stands in for `spark-submit`; downloads what it is asked for where there is a network."""

    def __init__(self, cache: Path, has_network: bool) -> None:
        self.cache = cache
        self.has_network = has_network
        self.commands: list[list[str]] = []

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if self.has_network:
            for package in self.asked_for():
                put(self.cache, package)
            return subprocess.CompletedProcess(command, 0, "")
        return subprocess.CompletedProcess(
            command, 1, "Server access error at url https://mirror.example"
        )

    def asked_for(self) -> list[str]:
        command = self.commands[-1]
        program = next(part for part in command if part.endswith(".py"))
        return command[command.index(program) + 1 :]


@pytest.fixture
def online(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resolver:
    resolver = Resolver(tmp_path, has_network=True)
    monkeypatch.setattr(packages.subprocess, "run", resolver.run)
    return resolver


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resolver:
    resolver = Resolver(tmp_path, has_network=False)
    monkeypatch.setattr(packages.subprocess, "run", resolver.run)
    return resolver


class Server(http.server.ThreadingHTTPServer):
    """A mirror or a proxy that has nothing; notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refusal)
        self.asked_for: list[str] = []


class _Refusal(http.server.BaseHTTPRequestHandler):
    server: Server

    def refuse(self) -> None:
        self.server.asked_for.append(self.path)
        self.send_error(404)

    do_GET = do_HEAD = do_CONNECT = refuse

    def log_message(self, *_: object) -> None:
        """Nothing belongs on stderr."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_jars_in_the_cache_are_used_without_asking_anyone(tmp_path, offline):
    jars = [put(tmp_path, ICEBERG), put(tmp_path, SQLITE)]
    assert packages.jar_paths([ICEBERG, SQLITE], tmp_path) == jars
    assert offline.commands == []


def test_only_the_jars_that_are_missing_are_downloaded(tmp_path, online):
    put(tmp_path, ICEBERG)
    jars = packages.jar_paths([ICEBERG, SQLITE], tmp_path)
    assert online.asked_for() == [SQLITE]
    assert jars == [jar_of(tmp_path, ICEBERG), jar_of(tmp_path, SQLITE)]


def test_of_two_starts_at_once_one_downloads(tmp_path, online, monkeypatch):
    asked, both_started = online.run, threading.Barrier(2)

    def slow_run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        time.sleep(0.5)
        return asked(command, **options)

    def start() -> list[Path]:
        both_started.wait()
        return packages.jar_paths([SQLITE], tmp_path)

    monkeypatch.setattr(packages.subprocess, "run", slow_run)
    with ThreadPoolExecutor() as starts:
        first, second = starts.submit(start), starts.submit(start)
    assert first.result() == second.result() == [jar_of(tmp_path, SQLITE)]
    assert len(online.commands) == 1


def test_the_second_start_finds_what_the_first_downloaded(tmp_path, online):
    packages.jar_paths([SQLITE], tmp_path)
    packages.jar_paths([SQLITE], tmp_path)
    assert len(online.commands) == 1


def test_a_jar_that_is_missing_without_a_network_is_told_in_a_sentence(tmp_path, offline):
    put(tmp_path, ICEBERG)
    with pytest.raises(SessionError) as raised:
        packages.jar_paths([ICEBERG, SQLITE], tmp_path)
    message = str(raised.value)
    assert f"The jars {SQLITE} could not be downloaded" in message
    assert "downloaded once, from Maven Central or `DEFAULT_ARTIFACT_REPOSITORY`" in message
    assert "a proxy only from `JAVA_TOOL_OPTIONS`" in message
    assert ICEBERG not in message
    log = tmp_path / "download.log"
    assert str(log) in message
    assert "Server access error" in log.read_text()


def test_the_python_of_executors_need_not_be_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "/nonexistent/python")
    package = "javax.inject:javax.inject:1"
    (jar,) = packages.jar_paths([package], tmp_path)
    assert jar == jar_of(tmp_path, package) and jar.exists()


def test_jars_come_from_the_mirror_that_the_environment_names(tmp_path, server, monkeypatch):
    mirror = f"http://127.0.0.1:{server.server_port}/maven2/"
    monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", mirror)
    with pytest.raises(SessionError, match="mirrored:jar:1 could not be downloaded"):
        packages.jar_paths(["mirrored:jar:1"], tmp_path)
    assert "/maven2/mirrored/jar/1/jar-1.jar" in server.asked_for


def test_jars_come_through_the_proxy_of_java(tmp_path, server, monkeypatch):
    proxy = f"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort={server.server_port}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", proxy)
    monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", "https://mirror.invalid/maven2/")
    with pytest.raises(SessionError, match="proxied:jar:1 could not be downloaded"):
        packages.jar_paths(["proxied:jar:1"], tmp_path)
    assert set(server.asked_for) == {"mirror.invalid:443"}


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    with pytest.raises(SessionError, match=r"can't be downloaded into .*cache"):
        packages.jar_paths([SQLITE], tmp_path / "cache")
