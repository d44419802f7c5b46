"""Sessions of dbt's threads, which outlive the command that they were made for.

Each Spark session has its own catalogs, with connections that it never closes. Commands that run
one after the other in a process, each with new threads, would leave their connections behind.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from dbt.adapters.spark_session.dataframes import drop_temporary_views
from dbt.adapters.spark_session.increments import SNAPSHOT_PROPERTY
from pyspark.sql import SparkSession

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


@dataclass(frozen=True)
class Lease:
    """A session that a thread has until the command ends."""

    session: SparkSession
    root: SparkSession
    command: int


class SessionPool:
    """Sessions over one Spark context, each used by one thread at a time."""

    def __init__(self) -> None:
        self._locking = threading.Lock()
        self._command = 0
        self._idle: list[Lease] = []
        self._leased: list[Lease] = []

    def take(self, root: SparkSession) -> Lease:
        """Return a session beside `root`: one of an earlier command, or a new one."""
        with self._locking:
            # Sessions over a context that was stopped are of no use.
            idle = [lease for lease in self._idle if lease.root is root]
            session = idle.pop().session if idle else None
            self._idle = idle
            lease = Lease(session or root.newSession(), root, self._command)
            self._leased.append(lease)
        if session is not None:
            _reset_settings(session, root)
            # A unit test, or a model that was only compiled, may have left views.
            drop_temporary_views(session)
        return lease

    def is_valid(self, lease: Lease, root: SparkSession) -> bool:
        """Return whether the thread that took a lease still has it."""
        return lease.root is root and lease.command == self._command

    def end_command(self) -> None:
        """Take back the sessions of all threads."""
        with self._locking:
            self._command += 1
            self._idle += self._leased
            self._leased = []


def _reset_settings(session: SparkSession, root: SparkSession) -> None:
    """Give the settings that models may have left the values that they have in `root`.

    A failed model leaves the properties of its commit, and one that replaces partitions leaves the
    mode of all writes behind it.
    """
    for name in session.conf.getAll:
        if name.startswith(SNAPSHOT_PROPERTY) or name == _OVERWRITE_MODE:
            value = root.conf.get(name, None)
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, value)
