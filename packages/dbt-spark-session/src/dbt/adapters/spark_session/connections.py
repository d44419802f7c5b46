"""Connections of dbt's threads: each has a Spark session, and all share one Spark context."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from dbt.adapters.contracts.connection import AdapterResponse, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager, SparkCredentials
from dbt.adapters.spark.session import Connection as SessionHandle
from dbt.adapters.spark.session import Cursor, SessionConnectionWrapper
from dbt.adapters.spark_session.catalog import activate
from dbt.adapters.spark_session.errors import (
    SPARK_ERRORS,
    SessionError,
    message_of,
    name_variables,
)
from dbt.adapters.spark_session.run_lock import RunLock
from dbt.adapters.spark_session.secrets import keep_secrets
from dbt.adapters.spark_session.session import open_session
from dbt.adapters.spark_session.session_pool import SessionPool
from dbt.flags import get_flags
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.types import VariantVal

logger = AdapterLogger("Spark")

#: Commands of dbt that write tables that other runs read.
_RUNS = ("run", "build", "seed", "snapshot", "run-operation", "retry", "clone")


@dataclass
class SparkSessionCredentials(SparkCredentials):
    """A target of type `spark_session`.

    `home`: folder of an embedded catalog and warehouse, for one process at a time. A relative path
    starts in the folder of the project. Leave it out on a cluster, whose catalog is elsewhere.
    `run_lock`: a table in such a catalog that allows one run at a time.
    `conf`: Spark settings. `${home}` is replaced; a setting without a value is left to
    spark-defaults.conf.
    `required`: environment variable -> the setting that a cluster needs; ` or ` stands between
    settings of which one is enough.
    `packages`: Maven coordinates of jars.
    `lock_timeout`: seconds to wait for another run.
    `variables`: setting (`home`, `spark.driver.memory`) -> the environment variable from which the
    profile takes it, for messages.
    """

    method: str = "session"  # type: ignore[assignment]
    host: str | None = "session"
    home: str | None = None
    run_lock: str | None = None
    conf: dict[str, Any] = field(default_factory=dict)
    required: dict[str, str] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    lock_timeout: int = 600

    @property
    def type(self) -> str:
        return "spark_session"

    @property
    def unique_field(self) -> str:
        return self.home or str(self.conf.get("spark.master", "session"))

    def _connection_keys(self) -> tuple[str, ...]:
        # `conf` may hold secrets.
        return ("schema", "home", "run_lock", "packages")

    def session(self, packages: Sequence[str] = (), is_reader: bool = False) -> SparkSession:
        """Return the process's Spark session for this target, with further `packages`.

        `is_reader`: the session writes nothing, so it neither waits for a run nor delays one.
        """
        name_variables(self.variables)
        home = _in_project(Path(self.home).expanduser()) if self.home else None
        conf = {str(key): _text(value) for key, value in self.conf.items()}
        keep_secrets(conf)
        packages = [*self.packages, *packages]
        lock_timeout = None if is_reader else self.lock_timeout
        return open_session(home, conf, packages, lock_timeout, self.required)


class SessionCursor(Cursor):
    """A cursor over a given session. Nested values are JSON text."""

    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session

    def execute(self, sql: str, *parameters: Any) -> None:
        if parameters:
            sql = sql % parameters
        self._df = self.session.sql(sql)

    def fetchall(self) -> list[Row]:
        if self._rows is None and self._df is not None:
            self._rows = [Row(*map(_readable, row)) for row in self._df.collect()]
        return self._rows or []

    def fetchone(self) -> Row | None:
        rows = self.fetchall()
        return rows.pop(0) if rows else None

    def fetchmany(self, size: int) -> list[Row]:
        if self._rows is None and self._df is not None:
            self._rows = [Row(*map(_readable, row)) for row in self._df.take(size)]
        return (self._rows or [])[:size]


class SessionConnection(SessionHandle):
    def __init__(self, session: SparkSession) -> None:
        super().__init__()
        self.session = session

    def cursor(self) -> SessionCursor:
        return SessionCursor(self.session)


class SessionWrapper(SessionConnectionWrapper):
    """The handle that dbt-spark expects, with the session."""

    handle: SessionConnection
    _cursor: SessionCursor | None

    @property
    def session(self) -> SparkSession:
        return self.handle.session

    @property
    def frame(self) -> DataFrame:
        """The DataFrame of the last statement. A query is analyzed, but not run."""
        if self._cursor is None or self._cursor._df is None:
            raise DbtRuntimeError("No statement was executed.")
        return self._cursor._df

    def cancel(self) -> None:
        self.session.sparkContext.cancelAllJobs()

    def fetchone(self) -> Row | None:
        return self._cursor.fetchone() if self._cursor else None

    def fetchmany(self, size: int) -> list[Row]:
        return self._cursor.fetchmany(size) if self._cursor else []


class SparkSessionConnectionManager(SparkConnectionManager):
    TYPE = "spark_session"

    _of_thread = threading.local()
    _sessions = SessionPool()
    _locking = threading.Lock()
    _run_lock: RunLock | None = None

    @property
    def credentials(self) -> SparkSessionCredentials:
        """The credentials of the target, which is of this adapter's type."""
        return cast(SparkSessionCredentials, self.profile.credentials)

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        root = connection.credentials.session()
        # Each thread has its own settings and temporary views.
        lease = getattr(cls._of_thread, "lease", None)
        if lease is None or not cls._sessions.is_valid(lease, root):
            lease = cls._of_thread.lease = cls._sessions.take(root)
        session = lease.session
        activate(session)
        _describe_jobs(session, connection.name)
        cls._take_turn(session, connection.credentials)
        connection.handle = SessionWrapper(SessionConnection(session))
        connection.state = ConnectionState.OPEN
        return connection

    @classmethod
    def close(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            _describe_jobs(cast(SessionWrapper, connection.handle).session, None)
        return super().close(connection)

    @classmethod
    def _take_turn(cls, session: SparkSession, credentials: SparkSessionCredentials) -> None:
        """Take the lock before anything is read: a run begins with what the last run left."""
        if credentials.run_lock is None or getattr(get_flags(), "WHICH", "") not in _RUNS:
            return
        with cls._locking:
            if cls._run_lock is None:
                lock = RunLock(session, credentials.run_lock)
                try:
                    lock.take(credentials.lock_timeout)
                except SPARK_ERRORS as error:
                    raise SessionError(message_of(error)) from error
                SparkSessionConnectionManager._run_lock = lock

    def check_turn(self) -> None:
        """Raise if another run may have taken this one for dead."""
        if self._run_lock is not None:
            self._run_lock.check()

    def cleanup_all(self) -> None:
        super().cleanup_all()
        self._sessions.end_command()
        with self._locking:
            if self._run_lock is not None:
                self._run_lock.release()
                SparkSessionConnectionManager._run_lock = None

    @contextmanager
    def exception_handler(self, sql: str) -> Iterator[None]:
        try:
            yield
        except (SessionError, DbtRuntimeError):
            raise
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}")
            raise DbtRuntimeError(message_of(error, self.credentials.home)) from error

    @classmethod
    def get_response(cls, cursor: Any) -> AdapterResponse:
        return AdapterResponse(_message="OK")


def _describe_jobs(session: SparkSession, name: str | None) -> None:
    """Show the model of a job on Spark's pages. The job starts in the thread of the model."""
    # PySpark takes None, although its types do not say so.
    session.sparkContext.setLocalProperty("spark.job.description", cast(str, name))


def _in_project(path: Path) -> Path:
    """Return a path in dbt's project, whatever folder dbt was started in."""
    return Path(getattr(get_flags(), "PROJECT_DIR", None) or "", path).resolve()


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _readable(value: Any) -> Any:
    if isinstance(value, VariantVal):
        return value.toJson()
    if isinstance(value, Row | dict | list):
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), default=str)
    if isinstance(value, bytearray | bytes):
        return bytes(value).decode("utf-8", errors="replace")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return {name: _plain(member) for name, member in value.asDict().items()}
    if isinstance(value, dict):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    if isinstance(value, VariantVal):
        return json.loads(value.toJson())
    return value
