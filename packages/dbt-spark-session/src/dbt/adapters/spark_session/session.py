"""One Spark session per process, with a target's settings."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyspark
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark_session.class_sharing import class_sharing_options
from dbt.adapters.spark_session.errors import SessionError, means_of, message_of
from dbt.adapters.spark_session.folders import log_file, work_dir
from dbt.adapters.spark_session.java import start_failure, use_java
from dbt.adapters.spark_session.jvm import remember_functions
from dbt.adapters.spark_session.packages import jar_paths
from dbt.adapters.spark_session.secrets import is_secret, keep_secrets
from dbt.adapters.spark_session.spark_defaults import (
    check_required,
    keep_conf_dir,
    spark_defaults,
)
from filelock import FileLock, Timeout
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

logger = AdapterLogger("Spark")

_LOG_SETTINGS = Path(__file__).parent / "log4j2.properties"
#: Spark 4.1 keeps its jars here too.
IVY_CACHE = Path.home() / ".ivy2.5.2"

_opening = threading.Lock()
_session: SparkSession | None = None
#: the folder of the embedded catalog that the session holds or may hold
_home: Path | None = None
_home_lock: FileLock | None = None


def open_session(
    home: Path | None,
    conf: Mapping[str, str],
    packages: Sequence[str] = (),
    lock_timeout: float | None = 600,
    required: Mapping[str, str] = MappingProxyType({}),
) -> SparkSession:
    """Return the process's Spark session, and start it if there is none.

    `conf`: Spark settings. `${home}` in a value is the home folder, and a setting without a value
    is left to spark-defaults.conf and Spark.
    `packages`: Maven coordinates of the jars to run with.
    `home`: folder of an embedded catalog; None on a cluster, where spark-defaults.conf counts too.
    `lock_timeout`: one process at a time writes to an embedded catalog, and a second one waits so
    many seconds; None for a session that only reads.
    `required`: environment variable -> a setting that a cluster needs, which may come from that
    file.

    If the process has a session already, it is used as it is.
    """
    global _session
    with _opening:
        if _session is None or _session.sparkContext._jsc is None:
            settings = {key: value for key, value in conf.items() if value}
            _session = SparkSession.getActiveSession() or _start(
                home, settings, packages, lock_timeout, required
            )
        return _session


def close_session() -> None:
    """Stop the session and let the next process use the home folder."""
    global _session, _home
    with _opening:
        if _session is not None:
            _session.stop()
            _session = None
        release_home()
        _home = None


def take_home(lock_timeout: float) -> None:
    """Hold the embedded catalog of the session for this process again, after `release_home`."""
    if _home is not None and _home_lock is None:
        _take(_home, lock_timeout)


def release_home() -> None:
    """Let other processes write to the embedded catalog. The session may still read."""
    global _home_lock
    if _home_lock is not None:
        _home_lock.release()
        _home_lock = None


def _start(
    home: Path | None,
    conf: Mapping[str, str],
    packages: Sequence[str],
    lock_timeout: float | None,
    required: Mapping[str, str],
) -> SparkSession:
    # Rows are shown in UTC, whatever the machine's zone: PySpark uses the zone of the process.
    os.environ["TZ"] = "UTC"
    time.tzset()
    defaults = {}
    if home is None:
        keep_conf_dir()
        defaults = spark_defaults()
        check_required(required, {**defaults, **conf})
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    folder = work_dir(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if home is not None and lock_timeout is not None:
            _take(home, lock_timeout)
        java = use_java(folder)
    except OSError as error:
        release_home()
        mover = means_of("home") if home is not None else "XDG_CACHE_HOME"
        raise SessionError(
            f"The folder {folder} can't be written ({error.strerror}): free space, correct its"
            f" permissions, or choose another one with {mover}."
        ) from error
    try:
        return _start_spark(home, java, conf, jar_paths(packages, IVY_CACHE), defaults)
    except Exception:
        release_home()
        raise


def _start_spark(
    home: Path | None,
    java: Path,
    conf: Mapping[str, str],
    jars: Sequence[Path],
    defaults: Mapping[str, str],
) -> SparkSession:
    settings = _in_folder(work_dir(home), conf)
    settings = {**_runtime_settings(jars, home, java, settings, defaults), **settings}
    keep_secrets({**defaults, **settings})
    secrets = {key: settings.pop(key) for key in list(settings) if is_secret(key, settings[key])}
    # dbt reports errors itself.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    try:
        # Settings go into a command line, which everybody on the machine may read. Secrets don't.
        launched = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        SparkContext._ensure_initialized(conf=launched)
        builder = SparkSession.builder
        for key, value in secrets.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        raise start_failure(settings.get("spark.driver.memory", "1g"), log_file(home)) from error
    remember_functions(session)
    try:
        # An embedded catalog creates its tables at first use: here, before dbt's threads start.
        session.sql("show namespaces").collect()
    except Exception as error:
        session.stop()
        raise SessionError(message_of(error, home)) from error
    return session


def _in_folder(folder: Path, conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with the folder in place of `${home}`, and all else as it is."""
    return {key: value.replace("${home}", str(folder)) for key, value in conf.items()}


def _runtime_settings(
    jars: Sequence[Path],
    home: Path | None,
    java: Path,
    settings: dict[str, str],
    defaults: Mapping[str, str],
) -> dict[str, str]:
    folder = work_dir(home)
    options = [
        f'"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"',
        f'"-Dspark.log={log_file(home)}"',
        f'"-XX:ErrorFile={folder / "java-error.log"}"',
        settings.pop("spark.driver.defaultJavaOptions", ""),
    ]
    if home is not None:
        options += (f'"{option}"' for option in class_sharing_options(java, jars))
    runtime = {
        "spark.driver.defaultJavaOptions": " ".join(options),
        # In dbt's SQL, `${…}` in a text is text.
        "spark.sql.variable.substitute": "false",
        # For plain tables, each thread's session would remember the files that it saw first.
        "spark.sql.filesourceTableRelationCacheSize": "0",
        # Spark creates this folder even if another catalog is the default. Keep it out of projects.
        "spark.sql.warehouse.dir": str(folder / "spark-warehouse"),
    }
    if home is not None:
        # There is only one JVM: with the jars on its class path, nothing is copied or fetched.
        runtime["spark.driver.extraClassPath"] = os.pathsep.join(map(str, jars))
    else:
        # The driver sends the jars to the executors.
        runtime["spark.jars"] = ",".join(
            [*filter(None, [defaults.get("spark.jars")]), *map(str, jars)]
        )
    return runtime


def _take(home: Path, timeout: float) -> None:
    """Hold the embedded catalog for this process."""
    global _home, _home_lock
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
                f" one a folder of its own with {means_of('home')}."
            ) from None
    _home, _home_lock = home, lock
