"""The session: one a process, one process a home folder, nothing left elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbt.adapters.spark_session import connections, session
from dbt.adapters.spark_session.errors import SessionError, means_of
from dbt.tests.util import run_dbt
from filelock import FileLock, Timeout

#: A process of its own; it prints what dbt would say to the user.
OPEN_A_SESSION = """
import sys
from pathlib import Path
from dbt.adapters.spark_session import session
session.logger.info = print
home, lock_timeout = sys.argv[1:]
conf = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
opened = session.open_session(Path(home), conf, lock_timeout=eval(lock_timeout))
print(opened.range(3).count(), "rows")
"""

#: A start of Java that finds no archive of classes takes tens of seconds on a busy machine.
CHILD_SECONDS = 240


@dataclass(frozen=True)
class Child:
    """What a process that opened a session ended with."""

    returncode: int
    stdout: str
    stderr: str


def open_in_another_process(home: Path, lock_timeout: float | None, folder: Path) -> Child:
    """Open a session in a process of its own, which has CHILD_SECONDS for it.

    Its output goes into files: Java keeps pipes open after Python has ended, as long as it
    writes the archive of classes, which it does in each new environment.
    """
    stdout, stderr = folder / "stdout", folder / "stderr"
    with stdout.open("w") as out, stderr.open("w") as err:
        ended = subprocess.run(
            [sys.executable, "-c", OPEN_A_SESSION, str(home), repr(lock_timeout)],
            stdout=out,
            stderr=err,
            check=False,
            timeout=CHILD_SECONDS,
        )
    return Child(ended.returncode, stdout.read_text(), stderr.read_text())


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said to the user; the lock that the test takes is not the shared session's."""
    lines: list[str] = []
    monkeypatch.setattr(session.logger, "info", lines.append)
    monkeypatch.setattr(session, "_home_lock", None)
    return lines


# One process a home folder


def test_a_second_process_is_told_that_the_home_folder_is_taken(spark, spark_home, tmp_path):
    second = open_in_another_process(spark_home, 0.1, tmp_path)
    assert second.returncode == 1
    assert second.stdout.startswith(f"Another run uses {spark_home}: waiting for it to end")
    assert f"Another run still uses {spark_home}" in second.stderr
    assert "`home` in profiles.yml" in second.stderr


def test_a_process_that_only_reads_waits_for_none(spark, spark_home, tmp_path):
    with pytest.raises(Timeout):
        FileLock(spark_home / "lock").acquire(timeout=0)  # this process has it
    reader = open_in_another_process(spark_home, None, tmp_path)
    assert (reader.returncode, reader.stdout) == (0, "3 rows\n"), reader.stderr
    with pytest.raises(Timeout):
        FileLock(spark_home / "lock").acquire(timeout=0)  # and the reader has not taken it


def test_whoever_waits_gets_the_home_folder_when_it_is_free(tmp_path, log):
    first = FileLock(tmp_path / "lock", thread_local=False)
    first.acquire()
    # The first run ends a moment after the second has begun to wait.
    end_of_first = threading.Timer(0.5, first.release)
    end_of_first.start()
    session._take(tmp_path, timeout=60)
    end_of_first.join()
    session._home_lock.release()
    assert log == [f"Another run uses {tmp_path}: waiting for it to end (up to 60 s)."]


def test_whoever_waits_too_long_is_told_so(tmp_path, log):
    with FileLock(tmp_path / "lock"), pytest.raises(SessionError) as raised:
        session._take(tmp_path, timeout=0.1)
    assert f"Another run still uses {tmp_path}" in str(raised.value)


def test_a_home_folder_that_cannot_be_written_is_told_in_a_sentence(tmp_path, log):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    with pytest.raises(SessionError) as raised:
        session._start(in_the_way / "home", {}, [], 0, {})
    assert f"The folder {in_the_way / 'home'} can't be written" in str(raised.value)
    assert means_of("home") in str(raised.value)


def test_a_start_that_fails_leaves_the_home_folder_free(tmp_path, log, monkeypatch):
    def no_network(*_: object) -> None:
        raise SessionError("no network")

    monkeypatch.setattr(session, "jar_paths", no_network)
    monkeypatch.setenv("JAVA_HOME", os.environ.get("JAVA_HOME", ""))
    with pytest.raises(SessionError, match="no network"):
        session._start(tmp_path, {}, ["a:b:1"], 0, {})
    FileLock(tmp_path / "lock").acquire(timeout=0)


@pytest.mark.parametrize(
    ("home", "folder"), [("tables", "project/tables"), ("/data/tables", "/data/tables")]
)
def test_a_relative_home_folder_is_in_the_project_wherever_dbt_is_started(
    home, folder, tmp_path, monkeypatch
):
    opened = []
    monkeypatch.setattr(connections, "open_session", lambda home, *_: opened.append(home))
    flags = SimpleNamespace(PROJECT_DIR="project")
    monkeypatch.setattr(connections, "get_flags", lambda: flags)
    monkeypatch.chdir(tmp_path)
    target = {"database": None, "schema": "dev", "home": home}
    connections.SparkSessionCredentials.from_dict(target).session()
    assert opened == [tmp_path / folder]


# One session a process


def test_a_second_opening_gives_the_same_session(spark, tmp_path):
    assert session.open_session(tmp_path / "another", {"spark.master": "local[1]"}) is spark
    assert not (tmp_path / "another").exists()


def test_the_home_folder_stands_in_the_settings(spark, spark_home):
    catalog = spark.catalog.currentCatalog()
    assert (
        spark.conf.get(f"spark.sql.catalog.{catalog}.warehouse") == f"file:{spark_home}/warehouse"
    )
    assert (spark_home / "catalog.db").exists()
    assert (spark_home / "spark.log").exists()


def test_a_setting_keeps_its_dollars(tmp_path):
    conf = {"warehouse": "file:${home}/tables", "password": "a$$b$home${other}$"}
    assert session._in_folder(tmp_path, conf) == {**conf, "warehouse": f"file:{tmp_path}/tables"}


def test_time_is_shown_in_utc(spark):
    assert spark.sql("select timestamp_seconds(0) as t").first().t.hour == 0


class TestNothingIsLeft:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {"numbers.csv": "n\n1\n"}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "a_view.sql": "select * from {{ ref('numbers') }}",
            "a_table.sql": "{{ config(materialized='table') }} select * from {{ ref('a_view') }}",
        }

    def test_neither_hive_nor_a_folder_of_sparks_appears_where_dbt_runs(
        self, project, spark, spark_home
    ):
        run_dbt(["build"])
        assert spark.conf.get("spark.sql.catalogImplementation") == "in-memory"
        folder_of_the_jvm = Path(spark._jvm.System.getProperty("user.dir"))
        assert folder_of_the_jvm == spark_home / "cwd"
        assert list(folder_of_the_jvm.iterdir()) == []
        ours = {"dbt_project.yml", "target", "logs", ".user.yml"}
        ours |= {"models", "macros", "snapshots", "seeds", "tests", "analyses", "functions"}
        assert {path.name for path in Path(project.project_root).iterdir()} <= ours
