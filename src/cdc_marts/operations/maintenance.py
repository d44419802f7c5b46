"""Maintenance of the tables after many runs: few files, few snapshots, no orphan files.

The snapshots that incremental runs need stay: the last ones that the readers of a table have read,
and the ones in which a table committed its own watermarks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import (
    TableSnapshots,
    activate,
    all_snapshots,
    changes_rows,
    commit_watermarks,
    iceberg_table,
    tables_of,
    watermarks_in,
)

from cdc_marts.operations.orphan_files import remove_orphan_files
from cdc_marts.operations.procedures import call, timestamp
from cdc_marts.times import days_before

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.project.inventory import Expiry

#: Files that a run is about to commit are younger.
ORPHANS_OLDER_THAN = dt.timedelta(days=3)
#: Fewer small files than these are not worth a rewrite.
_FEWEST_FILES = 5
#: Most tables only need a look at their metadata, which leaves processors idle.
_TABLES_AT_A_TIME = 4


@dataclass(frozen=True)
class Maintained:
    """The maintenance of a table: what changed."""

    table: str
    #: data and delete files, before and after
    files: tuple[int, int]
    #: snapshots, before and after
    snapshots: tuple[int, int]
    #: bytes of these files, before and after
    sizes: tuple[int, int]
    #: rows, before and after; rows that were replaced may be counted before
    rows: tuple[int, int]
    orphan_files: int
    #: whether messages were removed from it
    has_lost_rows: bool = False

    @staticmethod
    def of_all(done: Sequence[Maintained]) -> Maintained:
        """Return the sum of what was done to several tables.

        If a table lost no rows, its rows after the maintenance count before it too, because
        compaction only leaves out replaced rows.
        """
        return Maintained(
            "all tables",
            _sums(table.files for table in done),
            _sums(table.snapshots for table in done),
            _sums(table.sizes for table in done),
            _sums(
                table.rows if table.has_lost_rows else (table.rows[1], table.rows[1])
                for table in done
            ),
            sum(table.orphan_files for table in done),
            has_lost_rows=any(table.has_lost_rows for table in done),
        )


def _sums(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    before, after = map(sum, zip(*counts, strict=True))
    return before, after


def maintain(
    session: SparkSession,
    tables: Sequence[str],
    keep_days: int,
    expiries: Mapping[str, Expiry] = MappingProxyType({}),
    removed: Mapping[str, TableCounts] = MappingProxyType({}),
    other_readers: Iterable[str] = (),
) -> Iterator[Maintained]:
    """Compact tables, expire their old snapshots, remove orphan files; yield what was done.

    `tables`: all tables that read one another. Several are maintained at a time, and yielded in
    order. Each step is one commit. `keep_days`: the age of snapshots to expire. `expiries`: table
    -> how long its rows are kept, if not for ever. `removed`: table -> its counts before messages
    were removed from it just now. `other_readers`: tables that are not maintained, but read
    `tables`.
    """
    histories = _histories(session, tables)
    _skip_unchanging_snapshots(session, histories)
    needed = _needed({**histories, **_histories(session, list(other_readers))})
    with _threads(session) as pool:
        yield from pool.map(
            lambda table: _maintain_table(
                session, table, needed[table], keep_days, expiries.get(table), removed.get(table)
            ),
            tables,
        )


def _maintain_table(
    session: SparkSession,
    table: str,
    needed: _Needed,
    keep_days: int,
    expiry: Expiry | None,
    removed: TableCounts | None,
) -> Maintained:
    before = removed or TableCounts.of(session, table)
    if expiry is not None:
        oldest = timestamp(days_before(_now(), expiry.days))
        session.sql(f"delete from {table} where {expiry.column} < {oldest}")
    if _may_have_files_to_rewrite(all_snapshots(session, iceberg_table(session, table))):
        call(
            session,
            "rewrite_data_files",
            table,
            f"options => map('min-input-files', '{_FEWEST_FILES}', 'delete-file-threshold', '1',"
            " 'remove-dangling-deletes', 'true')",
        )
    call(session, "rewrite_manifests", table)
    _expire_snapshots(session, table, needed, days_before(_now(), keep_days))
    orphans = remove_orphan_files(session, table, _now() - ORPHANS_OLDER_THAN)
    after = TableCounts.of(session, table)
    return Maintained(
        table,
        (before.files, after.files),
        (before.snapshots, after.snapshots),
        (before.size, after.size),
        (before.rows, after.rows),
        orphans,
        has_lost_rows=removed is not None,
    )


def _may_have_files_to_rewrite(found: TableSnapshots) -> bool:
    """Return whether there are many files, or rows marked as deleted; true if not known."""
    if not found.ancestors:
        return False
    totals = found.ancestors[0].summary
    data_files = int(totals.get("total-data-files", _FEWEST_FILES))
    return data_files >= _FEWEST_FILES or totals.get("total-delete-files") != "0"


def _expire_snapshots(
    session: SparkSession, name: str, needed: _Needed, before: dt.datetime
) -> None:
    """Expire snapshots that are older than a time and not needed, without a Spark job.

    Spark's procedure takes seconds, because its jobs compare all files before and after.
    """
    table = iceberg_table(session, name)
    found = all_snapshots(session, table)
    # Rewrites have added snapshots just now.
    kept = needed.newest + len(found.ancestors) - needed.of
    replaced = found.unreachable
    millis = int(before.timestamp() * 1000)
    expired = [
        snapshot
        for snapshot in (*found.ancestors[kept:], *replaced)
        if snapshot.committed_at < millis
        and snapshot.id not in found.referenced
        and snapshot.id not in needed.read
    ]
    if not expired:
        return
    # Iceberg expires snapshots before a `create or replace` by time alone.
    read = [snapshot.committed_at for snapshot in replaced if snapshot.id in needed.read]
    expiry = table.expireSnapshots().expireOlderThan(min([millis, *read])).retainLast(kept)
    # For named snapshots, Iceberg checks which files are still needed. Otherwise, it would delete a
    # file of deletion vectors as soon as one of them was replaced.
    for snapshot in expired:
        expiry = expiry.expireSnapshotId(snapshot.id)
    expiry.commit()


def split_tables(
    session: SparkSession, built: Iterable[str], schemas: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Return the tables that exist and that the project builds, and all others, without views.

    `built`: names of what the project builds, readers before their inputs. `schemas`: the schemas
    of the project. The other tables are in these schemas or in the schemas of `built`. They are
    somebody else's, or of models that no longer exist.
    """
    built = list(built)
    ours = {name.lower() for name in built}
    own: list[str] = []
    others: list[str] = []
    searched = dict.fromkeys([*(name.partition(".")[0] for name in built), *schemas])
    for name in tables_of(session, searched):
        (own if name.lower() in ours else others).append(name)
    return own, others


@dataclass(frozen=True)
class _History:
    """The watermarks in the snapshots of a table, from the newest back."""

    #: snapshot id -> input table -> snapshot id, newest first
    watermarks: dict[int, dict[str, int]]
    #: ids of the snapshots that did not change the rows
    unchanging: frozenset[int]

    @property
    def newest_watermarks(self) -> dict[str, int]:
        """The watermarks of the last run that committed."""
        return next(filter(None, self.watermarks.values()), {})

    def after_unchanging(self, read: int) -> int:
        """Return the newest snapshot with the same rows as `read`.

        If only one snapshot came after `read`, return `read`: otherwise, two tables that read each
        other would commit new watermarks in each maintenance.
        """
        after = list(takewhile(lambda snapshot: snapshot != read, self.watermarks))
        is_unchanged = read in self.watermarks and self.unchanging.issuperset(after)
        return after[0] if is_unchanged and len(after) > 1 else read

    def with_watermarks(self, kept: int) -> int:
        """Return how many snapshots must be kept, so that each input has its newest watermark.

        Runs look for a watermark from the oldest of the `kept` snapshots back.
        """
        seen: set[str] = set()
        for place, watermarks in enumerate(self.watermarks.values(), start=1):
            if place > kept and watermarks.keys() - seen:
                kept = place
            if place >= kept:
                seen |= watermarks.keys()
        return kept

    def reads(self, kept: int) -> Iterator[tuple[str, int]]:
        """Yield input table and snapshot of each watermark in the newest `kept` snapshots."""
        for watermarks in islice(self.watermarks.values(), kept):
            yield from watermarks.items()


@dataclass(frozen=True)
class _Needed:
    """The snapshots of a table that incremental runs need."""

    #: number of the newest snapshots that are needed
    newest: int
    #: number of all snapshots, from the newest back
    of: int
    #: ids up to which tables have read it, also from before a `create or replace`
    read: frozenset[int]


def needed_snapshots(session: SparkSession, tables: Sequence[str]) -> dict[str, int]:
    """Return table -> how many of its newest snapshots incremental runs need."""
    needed = _needed(_histories(session, tables))
    return {table: snapshots.newest for table, snapshots in needed.items()}


def _histories(session: SparkSession, tables: Sequence[str]) -> dict[str, _History]:
    """Read the metadata of each table, once."""
    with _threads(session) as pool:
        return dict(zip(tables, pool.map(partial(_history, session), tables), strict=True))


def _skip_unchanging_snapshots(session: SparkSession, histories: dict[str, _History]) -> None:
    """Move the watermarks of tables past the snapshots that left the rows of an input unchanged.

    If the inputs of a model have no new rows, a run commits nothing, and the watermarks of its
    table stay. They would keep all later snapshots of the inputs, and what those have read.
    """
    # Inputs come first, so that a reader can skip the commit that its input makes here.
    for table, history in reversed(histories.items()):
        read = history.newest_watermarks
        skipped = {
            source: histories[source].after_unchanging(snapshot)
            if source in histories
            else snapshot
            for source, snapshot in read.items()
        }
        if skipped != read:
            commit_watermarks(session, table, skipped)
            histories[table] = _history(session, table)


def _needed(histories: Mapping[str, _History]) -> dict[str, _Needed]:
    """Return table -> the snapshots that its own runs, and the runs of its readers, need."""
    places = {
        table: {snapshot: place for place, snapshot in enumerate(history.watermarks, start=1)}
        for table, history in histories.items()
    }
    kept = dict.fromkeys(histories, 1)
    before: dict[str, int] = {}
    while kept != before:
        before = dict(kept)
        for table, history in histories.items():
            kept[table] = history.with_watermarks(kept[table])
            for source, snapshot in history.reads(kept[table]):
                if snapshot in places.get(source, ()):
                    kept[source] = max(kept[source], places[source][snapshot])
    read: dict[str, set[int]] = {table: set() for table in histories}
    for table, history in histories.items():
        for source, snapshot in history.reads(kept[table]):
            read.setdefault(source, set()).add(snapshot)
    return {
        table: _Needed(kept[table], len(history.watermarks), frozenset(read[table]))
        for table, history in histories.items()
    }


def _history(session: SparkSession, name: str) -> _History:
    found = all_snapshots(session, iceberg_table(session, name))
    return _History(
        {snapshot.id: watermarks_in(snapshot) for snapshot in found.ancestors},
        frozenset(snapshot.id for snapshot in found.ancestors if not changes_rows(snapshot)),
    )


def _threads(session: SparkSession) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_TABLES_AT_A_TIME, initializer=activate, initargs=(session,))


@dataclass(frozen=True)
class TableCounts:
    """The numbers of a table: data and delete files, snapshots, bytes of these files, rows."""

    files: int
    snapshots: int
    size: int
    rows: int

    @classmethod
    def of(cls, session: SparkSession, name: str) -> TableCounts:
        """Return the counts in the metadata of a table, without a query."""
        found = all_snapshots(session, iceberg_table(session, name))
        totals = found.ancestors[0].summary if found.ancestors else {}
        files = sum(int(totals.get(f"total-{kind}-files", 0)) for kind in ("data", "delete"))
        size = int(totals.get("total-files-size", 0))
        rows = int(totals.get("total-records", 0))
        return cls(files, len(found.by_id), size, rows)


def _now() -> dt.datetime:
    return dt.datetime.now(dt.timezone.utc)
