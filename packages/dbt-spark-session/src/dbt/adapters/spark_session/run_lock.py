"""One run at a time on a shared catalog, by a lock that any Iceberg catalog can keep.

The lock is a table without rows. A run holds it by moving the table's head from the head that it
saw to a snapshot of its own: if two runs try, the catalog lets one succeed. In the table's
properties, the holder gives signs of life, and notes its end. A run that waits takes the lock if
the holder gave no sign for a while, by the waiting run's own clock. A holder that still lives
notices that, and stops.
"""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark_session.catalog import iceberg_table
from dbt.adapters.spark_session.errors import SPARK_ERRORS, SessionError
from dbt.adapters.spark_session.jvm import java_class
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

logger = AdapterLogger("Spark")

#: Seconds between signs of life, until a holder without a sign counts as dead, and until the
#: holder has to stop itself, which is earlier.
SIGN_EVERY = 10.0
DEAD_AFTER = 60.0
GIVE_UP_AFTER = 40.0
#: Seconds between looks at a lock that another run holds.
LOOK_EVERY = 1.0

_RUN, _OWNER = "run-lock.run", "run-lock.owner"  # of a snapshot
_SIGN, _ENDED = "run-lock.sign-of-life", "run-lock.ended"  # of the table
_TABLE_PROPERTIES = {
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "5",
}
#: Somebody else's commit came first, or the catalog did not say whether ours succeeded.
_NOT_COMMITTED = ("CommitFailedException", "CommitStateUnknownException")


def _seconds() -> float:
    """Return seconds that also pass while the machine is suspended, as they do for other runs."""
    # Linux stops `monotonic` then; macOS and Windows have no CLOCK_BOOTTIME.
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@dataclass(frozen=True)
class _Holder:
    run: str
    owner: str
    #: changes while the holder lives
    sign: tuple[int, str]


class RunLock:
    """The lock of a catalog, for one run."""

    def __init__(self, session: SparkSession, name: str) -> None:
        """Use the table `name`, which is created if it does not exist."""
        self.name = name
        self._session = session
        self._run = uuid.uuid4().hex
        self._table: Any = None
        self._signs = 0
        self._signed_at = 0.0
        self._is_lost = False
        self._released = threading.Event()
        self._signing = threading.Thread(target=self._sign_on, name="run-lock", daemon=True)

    def take(self, timeout: float) -> None:
        """Hold the lock. Wait up to `timeout` seconds for the run that holds it."""
        self._create_table()
        # Loaded here, since names are resolved by the active session of a thread.
        self._table = iceberg_table(self._session, self.name)
        deadline = time.monotonic() + timeout
        seen, seen_at = None, time.monotonic()
        is_announced = False
        while True:
            self._signed_at = _seconds()
            self._table.refresh()
            holder, now = self._holder(), time.monotonic()
            if holder is not None and holder.run == self._run:
                break
            if seen is None or holder is None or holder.sign != seen.sign:
                seen, seen_at = holder, now
            if holder is None or now - seen_at > DEAD_AFTER:
                if holder is not None:
                    logger.info(
                        f"The run of {holder.owner} gave no sign of life for {DEAD_AFTER:.0f} s:"
                        " taking its place."
                    )
                if self._move_head():
                    break
            elif now > deadline:
                raise SessionError(
                    f"Another run ({holder.owner}) still uses the catalog after {timeout:.0f} s:"
                    f" wait for it. The lock is the table {self.name}."
                )
            elif not is_announced:
                is_announced = True
                logger.info(
                    f"Another run ({holder.owner}) uses the catalog: waiting for it to end"
                    f" (up to {timeout:.0f} s)."
                )
            time.sleep(LOOK_EVERY)
        self._signing.start()

    def check(self) -> None:
        """Raise if the run may not write any more, because another run may have taken its place."""
        if self._is_lost or _seconds() - self._signed_at > GIVE_UP_AFTER:
            raise SessionError(
                f"This run gave no sign of life in {self.name} for {GIVE_UP_AFTER:.0f} s or more,"
                " so that another one may go on in its place. What was committed stays; run again."
            )

    def release(self) -> None:
        """Let the next run begin."""
        self._released.set()
        self._signing.join(timeout=LOOK_EVERY)
        try:
            self._table.refresh()
            if self._is_held():
                self._note(_ENDED, str(self._table.currentSnapshot().snapshotId()))
            # The snapshots of earlier runs are not needed.
            expiry = self._table.expireSnapshots()
            expiry.expireOlderThan(int(time.time() * 1000)).retainLast(1).commit()
        except SPARK_ERRORS as error:
            # The next run takes this one for dead, after a while.
            logger.debug(f"The lock {self.name} could not be released: {error}")

    def _create_table(self) -> None:
        if self._session.catalog.tableExists(self.name):
            return
        namespace = self.name.rpartition(".")[0]
        properties = ", ".join(f"'{name}' = '{value}'" for name, value in _TABLE_PROPERTIES.items())
        try:
            self._session.sql(f"create namespace if not exists {namespace}")
            self._session.sql(
                f"create table if not exists {self.name} (nothing string)"
                f" using iceberg tblproperties ({properties})"
            )
        except SPARK_ERRORS:
            # If two runs create the table at once, the catalog may refuse one.
            time.sleep(LOOK_EVERY)
            if not self._session.catalog.tableExists(self.name):
                raise

    def _holder(self) -> _Holder | None:
        """Return who holds the lock; None if nobody does."""
        head, properties = self._table.currentSnapshot(), self._table.properties()
        if head is None or properties.get(_ENDED) == str(head.snapshotId()):
            return None
        summary = head.summary()
        sign = (head.snapshotId(), properties.get(_SIGN) or "")
        return _Holder(summary.get(_RUN), summary.get(_OWNER), sign)

    def _is_held(self) -> bool:
        holder = self._holder()
        return holder is not None and holder.run == self._run

    def _note(self, name: str, value: str) -> None:
        self._table.updateProperties().set(name, value).commit()

    def _move_head(self) -> bool:
        """Put a snapshot of this run after the head that was seen at the last refresh.

        Return False if another run has moved the head since. Every catalog compares and swaps a
        table's head. A REST catalog does not compare properties, and Iceberg's own operations would
        try again on the head of another run.
        """
        operations = self._table.operations()
        seen = operations.current()
        owner = f"{getpass.getuser()} on {socket.gethostname()}, process {os.getpid()}"
        snapshot = self._table.newFastAppend().set(_RUN, self._run).set(_OWNER, owner).apply()
        metadata = java_class(self._session, "org.apache.iceberg.TableMetadata")
        moved = metadata.buildFrom(seen).setBranchSnapshot(snapshot, "main").build()
        try:
            operations.commit(seen, moved)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getSimpleName() not in _NOT_COMMITTED:
                raise
            return False
        return True

    def _sign_on(self) -> None:
        """Give signs of life until the run ends, or has lost the lock."""
        while not self._released.wait(SIGN_EVERY):
            now = _seconds()
            if now - self._signed_at > GIVE_UP_AFTER:
                break
            try:
                self._table.refresh()
                if not self._is_held():
                    break
                self._signs += 1
                self._note(_SIGN, f"{self._run} {self._signs}")
                self._signed_at = now
            except SPARK_ERRORS as error:
                logger.debug(f"No sign of life in {self.name}: {error}")
        else:
            return
        self._is_lost = True
        with suppress(*SPARK_ERRORS):
            self._session.sparkContext.cancelAllJobs()
