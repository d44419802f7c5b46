"""Maintenance of the tables after many runs: few files, few snapshots, no orphan files.

The snapshots that incremental runs need stay: the last ones that the readers of a table have read,
and the ones in which a table committed its own watermarks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import TableSnapshots, all_snapshots, iceberg_table

from cdc_marts.operations.needed_snapshots import (
    NeededSnapshots,
    histories_of,
    needed_of,
    skip_unchanging_snapshots,
)
from cdc_marts.operations.orphan_files import remove_orphan_files
from cdc_marts.operations.procedures import call
from cdc_marts.operations.stored_tables import TableCounts
from cdc_marts.operations.table_threads import threads
from cdc_marts.times import days_before, millis_of, timestamp_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.project.inventory import Expiry

#: Files that a run is about to commit are younger.
ORPHANS_OLDER_THAN = dt.timedelta(days=3)
#: Fewer small files than these are not worth a rewrite.
_FEWEST_FILES = 5


@dataclass(frozen=True)
class Maintained:
    """The maintenance of a table: what changed."""

    table: str
    #: its rows may include rows that were replaced
    before: TableCounts
    after: TableCounts
    orphan_files: int
    #: whether messages were removed from it
    has_lost_rows: bool = False

    @staticmethod
    def of_all(done: Sequence[Maintained]) -> Maintained:
        """Return the sum of what was done to several tables.

        If a table lost no rows, its rows after the maintenance count before it too, because
        compaction only leaves out replaced rows.
        """
        before = (
            table.before if table.has_lost_rows else replace(table.before, rows=table.after.rows)
            for table in done
        )
        return Maintained(
            "all tables",
            TableCounts.sum_of(before),
            TableCounts.sum_of(table.after for table in done),
            sum(table.orphan_files for table in done),
            has_lost_rows=any(table.has_lost_rows for table in done),
        )


def maintain(
    session: SparkSession,
    tables: Sequence[str],
    keep_days: int,
    expiries: Mapping[str, Expiry] = MappingProxyType({}),
    removed: Mapping[str, TableCounts] = MappingProxyType({}),
    other_readers: Iterable[str] = (),
    check_turn: Callable[[], None] = lambda: None,
) -> Iterator[Maintained]:
    """Compact tables, expire their old snapshots, remove orphan files; yield what was done.

    `tables`: all tables that read one another. Several are maintained at a time, and yielded in
    order. Each step is one commit. `keep_days`: the age of snapshots to expire. `expiries`: table
    -> how long its rows are kept, if not for ever. `removed`: table -> its counts before messages
    were removed from it just now. `other_readers`: tables that are not maintained, but read
    `tables`. `check_turn` is called before each table is changed, and raises if another process may
    be changing the tables.
    """
    histories = histories_of(session, tables)
    check_turn()
    skip_unchanging_snapshots(session, histories)
    needed = needed_of({**histories, **histories_of(session, list(other_readers))})

    def maintain_table(table: str) -> Maintained:
        check_turn()
        return _maintain_table(
            session, table, needed[table], keep_days, expiries.get(table), removed.get(table)
        )

    with threads(session) as pool:
        yield from pool.map(maintain_table, tables)


def _maintain_table(
    session: SparkSession,
    table: str,
    needed: NeededSnapshots,
    keep_days: int,
    expiry: Expiry | None,
    removed: TableCounts | None,
) -> Maintained:
    before = removed or TableCounts.of(session, table)
    if expiry is not None:
        oldest = timestamp_literal(days_before(_now(), expiry.days))
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
    return Maintained(table, before, after, orphans, has_lost_rows=removed is not None)


def _may_have_files_to_rewrite(found: TableSnapshots) -> bool:
    """Return whether there are many files, or rows marked as deleted; true if not known."""
    if not found.ancestors:
        return False
    totals = found.ancestors[0].summary
    data_files = int(totals.get("total-data-files", _FEWEST_FILES))
    return data_files >= _FEWEST_FILES or totals.get("total-delete-files") != "0"


def _expire_snapshots(
    session: SparkSession, name: str, needed: NeededSnapshots, before: dt.datetime
) -> None:
    """Expire snapshots that are older than a time and not needed, without a Spark job.

    Spark's procedure takes seconds, because its jobs compare all files before and after.
    """
    table = iceberg_table(session, name)
    found = all_snapshots(session, table)
    # A table without snapshots has none to keep, but Iceberg asks for one.
    kept = max(1, len(found.ancestors_to(needed.oldest)))
    replaced = found.unreachable
    millis = millis_of(before)
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


def _now() -> dt.datetime:
    return dt.datetime.now(dt.timezone.utc)
