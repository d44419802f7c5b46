"""One Spark session a process, made from a target's settings."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

import pyspark
from dbt.adapters.events.logging import AdapterLogger
from filelock import FileLock, Timeout
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from dbt.adapters.spark_session.errors import SessionError, message_of
from dbt.adapters.spark_session.java import start_failure, use_java
from dbt.adapters.spark_session.packages import jar_paths

logger = AdapterLogger("Spark")

_LOG_SETTINGS = Path(__file__).parent / "log4j2.properties"
_IVY_CACHE = Path.home() / ".ivy2.5.2"  # where Spark 4.1 keeps its jars too

_opening = threading.Lock()
_session: SparkSession | None = None
_home_lock: FileLock | None = None


def open_session(
    home: Path | None,
    conf: Mapping[str, str],
    packages: Sequence[str] = (),
    lock_timeout: float = 600,
) -> SparkSession:
    """The process's Spark session, started if there is none.

    `conf`: Spark settings; `${home}` in a value is the home folder.
    `packages`: Maven coordinates of the jars to run with.
    `home`: folder of an embedded catalog, which one process uses at a time: a
    second one waits for it up to `lock_timeout` seconds.  None on a cluster.
    A session that the process already has is used as it is.
    """
    global _session
    with _opening:
        if _session is None or _session.sparkContext._jsc is None:
            _session = SparkSession.getActiveSession() or _start(home, conf, packages, lock_timeout)
        return _session


def close_session() -> None:
    """Stop the session and give the home folder to the next process."""
    global _session
    with _opening:
        if _session is not None:
            _session.stop()
            _session = None
        _release_home()


def _start(
    home: Path | None, conf: Mapping[str, str], packages: Sequence[str], lock_timeout: float
) -> SparkSession:
    # Rows are shown in UTC, whatever the machine's zone: PySpark uses the process's.
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    work_dir = home or Path(os.environ.get("TMPDIR", "/tmp")) / f"spark-session-{os.getuid()}"
    try:
        work_dir.mkdir(parents=True, exist_ok=True)
        if home is not None:
            _take(home, lock_timeout)
        use_java(work_dir)
    except OSError as error:
        _release_home()
        raise SessionError(
            f"The folder {work_dir} can't be written ({error.strerror}): free space, mend its"
            " rights, or choose another one with CDC_MARTS_HOME."
        ) from error
    try:
        return _start_spark(home, work_dir, conf, packages)
    except Exception:
        _release_home()
        raise


def _start_spark(
    home: Path | None, work_dir: Path, conf: Mapping[str, str], packages: Sequence[str]
) -> SparkSession:
    jars = jar_paths(packages, _IVY_CACHE)
    settings = {
        key: Template(str(value)).safe_substitute(home=work_dir) for key, value in conf.items()
    }
    builder = SparkSession.builder
    for key, value in {**_runtime_settings(jars, home, work_dir, settings), **settings}.items():
        builder = builder.config(key, value)
    # dbt reports errors itself.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise start_failure(settings.get("spark.driver.memory", "1g")) from error
    try:
        # An embedded catalog makes its tables at first use: before dbt's threads all do.
        session.sql("show namespaces").collect()
    except Exception as error:
        session.stop()
        raise SessionError(message_of(error, home)) from error
    return session


def _runtime_settings(
    jars: Sequence[Path], home: Path | None, work_dir: Path, settings: dict[str, str]
) -> dict[str, str]:
    options = [
        f'"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"',
        f'"-Dspark.log={work_dir / "spark.log"}"',
        f'"-XX:ErrorFile={work_dir / "java-error.log"}"',
        settings.pop("spark.driver.defaultJavaOptions", ""),
    ]
    runtime = {
        "spark.driver.defaultJavaOptions": " ".join(options),
        # A `${…}` in a text of dbt's SQL is text.
        "spark.sql.variable.substitute": "false",
    }
    if home is not None:
        # On the class path of the one JVM there is: nothing to copy, nothing to fetch.
        runtime["spark.driver.extraClassPath"] = os.pathsep.join(map(str, jars))
        # Spark makes this folder even where another catalog is the default; not in the project.
        runtime["spark.sql.warehouse.dir"] = str(home / "spark-warehouse")
    elif jars:
        runtime["spark.jars"] = ",".join(map(str, jars))
    return runtime


def _release_home() -> None:
    global _home_lock
    if _home_lock is not None:
        _home_lock.release()
        _home_lock = None


def _take(home: Path, timeout: float) -> None:
    """Hold the embedded catalog for this process."""
    global _home_lock
    lock = FileLock(home / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        logger.info(f"Another run uses {home}: waiting for it to end (up to {timeout:.0f} s).")
        try:
            lock.acquire(timeout=timeout)
        except Timeout:
            raise SessionError(
                f"Another run still uses {home} after {timeout:.0f} s: wait for it, or give this"
                " one a folder of its own with CDC_MARTS_HOME."
            ) from None
    _home_lock = lock
