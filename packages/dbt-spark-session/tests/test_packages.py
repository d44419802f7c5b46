"""Jars: found where they are cached, downloaded once, a clear word where they can't be."""

from __future__ import annotations

import subprocess
import threading
import time
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
    assert "the first start needs the network" in message
    assert ICEBERG not in message
    log = tmp_path / "download.log"
    assert str(log) in message
    assert "Server access error" in log.read_text()


def test_the_python_of_executors_need_not_be_here(tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "/nonexistent/python")
    package = "javax.inject:javax.inject:1"
    (jar,) = packages.jar_paths([package], tmp_path)
    assert jar == jar_of(tmp_path, package) and jar.exists()


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder would be")
    with pytest.raises(SessionError, match=r"can't be downloaded into .*cache"):
        packages.jar_paths([SQLITE], tmp_path / "cache")
