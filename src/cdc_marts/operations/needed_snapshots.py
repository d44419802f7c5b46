"""The snapshots that incremental runs need of their inputs, and of their own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import (
    all_snapshots,
    changes_rows,
    commit_watermarks,
    iceberg_table,
    watermarks_in,
)

from cdc_marts.operations.last_read import LAST_READ_AT, last_read_at
from cdc_marts.operations.table_threads import threads

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class History:
    """The watermarks in the snapshots of a table, from the newest back."""

    #: snapshot id -> input table -> snapshot id, newest first
    watermarks: dict[int, dict[str, int]]
    #: ids of the snapshots that did not change the rows
    unchanging: frozenset[int]
    #: when the table last read an input (epoch milliseconds); None if it never did
    last_read_at: int | None

    @property
    def newest_watermarks(self) -> dict[str, int]:
        """The watermarks of the last run that committed."""
        return next(filter(None, self.watermarks.values()), {})

    def after_unchanging(self, read: int, *, has_moved: bool) -> int:
        """Return the newest snapshot with the same rows as `read`.

        If only one snapshot came after `read`, return `read`: otherwise, two tables that read each
        other would commit new watermarks in each maintenance. `has_moved`: whether this maintenance
        has moved the watermarks of the table. Then return also one snapshot after `read`: it needs
        fewer snapshots of the table's inputs.
        """
        after = list(takewhile(lambda snapshot: snapshot != read, self.watermarks))
        if read not in self.watermarks or not self.unchanging.issuperset(after):
            return read
        return after[0] if len(after) > 1 or (after and has_moved) else read

    def with_watermarks(self, kept: int) -> int:
        """Return how many snapshots must be kept, so that each input has its newest watermark.

        Runs look for a watermark from the oldest of the `kept` snapshots back.
        """
        seen: set[str] = set()
        for number, watermarks in enumerate(self.watermarks.values(), start=1):
            if number > kept and watermarks.keys() - seen:
                kept = number
            if number >= kept:
                seen |= watermarks.keys()
        return kept

    def oldest_of(self, kept: int) -> int | None:
        """Return the oldest of the newest `kept` snapshots; None if there are none."""
        return next(islice(self.watermarks, kept - 1, None), None)

    def reads(self, kept: int) -> Iterator[tuple[str, int]]:
        """Yield input table and snapshot of each watermark in the newest `kept` snapshots."""
        for watermarks in islice(self.watermarks.values(), kept):
            yield from watermarks.items()


@dataclass(frozen=True)
class NeededSnapshots:
    """The snapshots of a table that incremental runs need."""

    #: id of the oldest one, which all newer ones follow; None if the table has no snapshots
    oldest: int | None
    #: ids up to which tables have read it, also from before a `create or replace`
    read: frozenset[int]


def needed_snapshots(session: SparkSession, tables: Sequence[str]) -> dict[str, NeededSnapshots]:
    """Return table -> the snapshots that incremental runs of these tables need."""
    return needed_of(histories_of(session, tables))


def histories_of(session: SparkSession, tables: Sequence[str]) -> dict[str, History]:
    """Read the metadata of each table, once."""
    with threads(session) as pool:
        return dict(zip(tables, pool.map(partial(_history, session), tables), strict=True))


def skip_unchanging_snapshots(session: SparkSession, histories: dict[str, History]) -> None:
    """Move the watermarks of tables past the snapshots that left the rows of an input unchanged.

    If the inputs of a model have no new rows, a run commits nothing, and the watermarks of its
    table stay. They would keep all later snapshots of the inputs, and what those have read.
    """
    moved: set[str] = set()
    # A reader comes after its inputs, so that it can skip a commit that one of them makes here.
    for table in _inputs_first(histories):
        history = histories[table]
        read = history.newest_watermarks
        skipped = {
            source: histories[source].after_unchanging(snapshot, has_moved=source in moved)
            if source in histories
            else snapshot
            for source, snapshot in read.items()
        }
        if skipped != read:
            properties = {LAST_READ_AT: str(history.last_read_at)}
            commit_watermarks(session, table, skipped, properties)
            histories[table] = _history(session, table)
            moved.add(table)


def needed_of(histories: Mapping[str, History]) -> dict[str, NeededSnapshots]:
    """Return table -> the snapshots that its own runs, and the runs of its readers, need."""
    numbers = {
        table: {snapshot: number for number, snapshot in enumerate(history.watermarks, start=1)}
        for table, history in histories.items()
    }
    kept = dict.fromkeys(histories, 1)
    before: dict[str, int] = {}
    while kept != before:
        before = dict(kept)
        for table, history in histories.items():
            kept[table] = history.with_watermarks(kept[table])
            for source, snapshot in history.reads(kept[table]):
                if snapshot in numbers.get(source, ()):
                    kept[source] = max(kept[source], numbers[source][snapshot])
    read: dict[str, set[int]] = {table: set() for table in histories}
    for table, history in histories.items():
        for source, snapshot in history.reads(kept[table]):
            read.setdefault(source, set()).add(snapshot)
    return {
        table: NeededSnapshots(history.oldest_of(kept[table]), frozenset(read[table]))
        for table, history in histories.items()
    }


def _inputs_first(histories: Mapping[str, History]) -> list[str]:
    """Return the tables in an order in which each comes after those that it has read.

    If tables read one another, one of them comes first.
    """
    found: list[str] = []
    begun: set[str] = set()

    def find(table: str) -> None:
        if table in begun or table not in histories:
            return
        begun.add(table)
        for source in histories[table].newest_watermarks:
            find(source)
        found.append(table)

    for table in histories:
        find(table)
    return found


def _history(session: SparkSession, name: str) -> History:
    found = all_snapshots(session, iceberg_table(session, name))
    return History(
        {snapshot.id: watermarks_in(snapshot) for snapshot in found.ancestors},
        frozenset(snapshot.id for snapshot in found.ancestors if not changes_rows(snapshot)),
        last_read_at(found.ancestors),
    )
