"""Upkeep of the tables after many runs: few files, few snapshots, nothing left lying about.

What incremental runs need stays: the snapshots that a table's readers have read
up to, and those in which a table noted what it has read itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_session.catalog import iceberg_table, tables_of
from dbt.adapters.spark_session.increments import WATERMARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Schemas of the project, readers before what they read.
SCHEMAS = ("marts", "intermediate", "staging", "seeds", "landing")

#: A file that a run may be about to commit is younger.
_ORPHANS_OLDER_THAN = dt.timedelta(days=3)
#: Fewer small files than these are not worth a rewrite.
_FEWEST_FILES = 5


@dataclass(frozen=True)
class Upkeep:
    """What was done to a table."""

    table: str
    #: data and delete files, before and after
    files: tuple[int, int]
    #: snapshots, before and after
    snapshots: tuple[int, int]
    orphan_files: int


def maintain(session: SparkSession, tables: Sequence[str], keep: dt.timedelta) -> Iterator[Upkeep]:
    """Compact tables, expire their snapshots older than `keep`, remove orphan files.

    `tables`: all that read one another.  They are seen to one at a time, as the
    results are taken; each step is one commit.
    """
    needed = needed_snapshots(session, tables)
    for table in tables:
        before = _files(session, table), _count_snapshots(session, table)
        _call(
            session,
            "rewrite_data_files",
            table,
            f"options => map('min-input-files', '{_FEWEST_FILES}', 'delete-file-threshold', '1',"
            " 'remove-dangling-deletes', 'true')",
        )
        _call(session, "rewrite_manifests", table)
        # What was rewritten just now came on top.
        on_top = _count_ancestors(session, table) - needed[table].ancestors
        _call(
            session,
            "expire_snapshots",
            table,
            f"older_than => {_before_now(keep)}, retain_last => {needed[table].kept + on_top}",
        )
        orphans = _call(
            session,
            "remove_orphan_files",
            table,
            f"older_than => {_before_now(_ORPHANS_OLDER_THAN)}",
        )
        after = _files(session, table), _count_snapshots(session, table)
        yield Upkeep(table, (before[0], after[0]), (before[1], after[1]), len(orphans))


def project_tables(session: SparkSession) -> list[str]:
    """Names of the project's tables, without views."""
    return tables_of(session, SCHEMAS)


@dataclass
class _History:
    """A table's snapshots from the newest back, as their notes of what they have read."""

    #: snapshot id -> input table -> snapshot id, newest first
    notes: dict[int, dict[str, int]]
    #: how many of the newest are needed
    kept: int = 1

    @property
    def ancestors(self) -> int:
        return len(self.notes)

    def keep_notes(self) -> None:
        """Keep the newest note on every input, as seen from the oldest snapshot that is kept."""
        seen: set[str] = set()
        for place, notes in enumerate(self.notes.values(), start=1):
            is_older = place > self.kept
            if is_older and notes.keys() - seen:
                self.kept = place
            if place >= self.kept:
                seen |= notes.keys()


def needed_snapshots(session: SparkSession, tables: Sequence[str]) -> dict[str, _History]:
    """Table -> how many of its newest snapshots incremental runs need."""
    histories = {table: _history(session, table) for table in tables}
    while True:
        before = [history.kept for history in histories.values()]
        for history in histories.values():
            history.keep_notes()
            for notes in list(history.notes.values())[: history.kept]:
                for source, snapshot in notes.items():
                    read = histories.get(source)
                    if read is not None and snapshot in read.notes:
                        read.kept = max(read.kept, list(read.notes).index(snapshot) + 1)
        if before == [history.kept for history in histories.values()]:
            return histories


def _history(session: SparkSession, name: str) -> _History:
    table = iceberg_table(session, name)
    notes = {}
    for snapshot in _ancestors(table):
        summary = dict(snapshot.summary())
        notes[snapshot.snapshotId()] = {
            key.removeprefix(WATERMARK): int(value)
            for key, value in summary.items()
            if key.startswith(WATERMARK)
        }
    return _History(notes)


def _ancestors(table: Any) -> Iterator[Any]:
    snapshot = table.currentSnapshot()
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parentId()
        snapshot = table.snapshot(parent) if parent is not None else None


def _count_ancestors(session: SparkSession, name: str) -> int:
    return sum(1 for _ in _ancestors(iceberg_table(session, name)))


def _count_snapshots(session: SparkSession, name: str) -> int:
    return session.table(f"{name}.snapshots").count()


def _files(session: SparkSession, name: str) -> int:
    return session.table(f"{name}.files").count()


def _call(session: SparkSession, procedure: str, table: str, *arguments: str) -> list[Any]:
    catalog = session.conf.get("spark.sql.defaultCatalog")
    given = ", ".join((f"table => '{table}'", *arguments))
    return session.sql(f"call {catalog}.system.{procedure}({given})").collect()


def _before_now(age: dt.timedelta) -> str:
    return f"timestamp '{dt.datetime.now(dt.timezone.utc) - age:%Y-%m-%d %H:%M:%S}'"
