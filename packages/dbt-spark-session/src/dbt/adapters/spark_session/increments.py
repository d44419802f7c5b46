"""Exact increments: the rows that were appended to a table since a consumer last read it.

For each input, a consumer keeps the snapshot up to which it has read, its watermark, among the
properties of its own snapshots (`read-up-to.<input>`). So data and watermark are one commit: a kill
leaves both or neither. Neither clocks nor the order of arrival matter. Snapshots that only rewrite
files (compaction) have no new rows. Tables are Iceberg tables.

What a run of a consumer reads is an `IncrementalRead` (`incremental_read`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from dbt.adapters.spark_session.catalog import Metadata, Snapshot, iceberg_table
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

WATERMARK = "read-up-to."
#: The property of a commit with rows that dbt selected (--sample), which has no watermarks.
SAMPLE = "is-sample"
SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."

#: Operations of snapshots that bring no new rows: compaction, and deletes.
_WITHOUT_NEW_ROWS = ("replace", "delete")

#: The watermark of an input that had no snapshot yet.
NO_SNAPSHOT = 0


def incremental_inputs(model: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[Any]:
    """Return the incremental models that a model reads, directly or through views.

    `nodes`: the nodes of dbt's graph, by their unique ids.
    """
    return [node for node in _read_by(model, nodes) if _is_incremental(node)]


def views_of(model: Mapping[str, Any], nodes: Mapping[str, Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the views that a model reads, directly or through views, with their incremental models.

    These are the models that the view itself may read. `nodes`: as in `incremental_inputs`.
    """
    for view in _read_by(model, nodes):
        if not _is_incremental(view):
            read = (nodes[name] for name in view["depends_on"]["nodes"] if name in nodes)
            yield view, [node for node in read if _is_incremental(node)]


def _read_by(model: Mapping[str, Any], nodes: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the incremental models and the views that a model reads, directly or through views."""
    seen, waiting = set(), list(model["depends_on"]["nodes"])
    while waiting:
        name = waiting.pop()
        node = nodes.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        is_view = node["config"]["materialized"] in ("view", "ephemeral")
        if is_view:
            waiting += node["depends_on"]["nodes"]
        if is_view or _is_incremental(node):
            yield node


def _is_incremental(node: Mapping[str, Any]) -> bool:
    return bool(node["config"]["materialized"] == "incremental")


def unread_rows(session: SparkSession, name: str, consumer: str | None) -> tuple[str, int]:
    """Return the appended rows that `consumer` has not read: a table expression, and their number.

    The number is known without a query if the writers of the table count their rows. `consumer`:
    its name, or None if it does not exist. Raise DbtRuntimeError as a run of `consumer` would.
    """
    metadata = Metadata(session)
    newest = metadata.newest_snapshot(name)
    if newest is None:
        return no_rows(name, "*"), 0
    if consumer is None:
        return _all_rows(metadata, name, newest)
    check_for_moves(metadata, consumer, [name])
    watermark = watermark_of(metadata, consumer, name)
    if watermark is None:
        return _all_rows(metadata, name, newest)
    appends = appends_after(metadata, name, watermark, newest.id, consumer)
    if not appends:
        return no_rows(name, "*"), 0
    count = sum(metadata.added_rows(name, snapshot) for snapshot in appends)
    return appended_rows(metadata, name, "*", watermark, newest.id), count


def rows_up_to(session: SparkSession, name: str, end: int) -> tuple[str, int]:
    """Return all rows that a table had at a snapshot: a table expression, and their number."""
    metadata = Metadata(session)
    return _all_rows(metadata, name, next(metadata.snapshots(name, end)))


def _all_rows(metadata: Metadata, name: str, snapshot: Snapshot) -> tuple[str, int]:
    rows = appended_rows(metadata, name, "*", None, snapshot.id)
    return rows, metadata.total_rows(name, snapshot)


def rows_after(session: SparkSession, name: str, start: int, end: int) -> tuple[str, int] | None:
    """Return the rows that were appended between two snapshots: a table expression, their number.

    None if snapshot `end` is not the one of `start` with more rows: rows were deleted or
    overwritten since, or `start` has expired, or it is of a table that was rebuilt.
    """
    metadata, count = Metadata(session), 0
    for snapshot in metadata.snapshots(name, end):
        if snapshot.id == start:
            rows = appended_rows(metadata, name, "*", start, end) if count else no_rows(name, "*")
            return rows, count
        if snapshot.operation == "append":
            count += metadata.added_rows(name, snapshot)
        elif changes_rows(snapshot):
            return None
    return None


def brings_rows(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has rows that the one before it did not have.

    True for an append whose writer did not count its rows.
    """
    if snapshot.operation == "append":
        return snapshot.added_rows != 0
    return snapshot.operation not in _WITHOUT_NEW_ROWS


def changes_rows(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has other rows than the one before it."""
    return snapshot.operation == "delete" or brings_rows(snapshot)


def watermarks_of(metadata: Metadata, consumer: str, at: int | None = None) -> dict[str, int]:
    """Return the newest watermarks of `consumer`: input -> snapshot.

    `at`: the snapshot of `consumer` to begin with; None for its newest.
    """
    oldest = None
    for oldest in metadata.snapshots(consumer, at):
        if found := watermarks_in(oldest):
            return found
    if oldest is not None and oldest.parent_id is not None:
        raise _expired(consumer)
    return {}


def watermarks_in(snapshot: Snapshot) -> dict[str, int]:
    """Return the watermarks that a consumer committed with its snapshot: input -> snapshot."""
    return {
        name.removeprefix(WATERMARK): int(value)
        for name, value in snapshot.summary.items()
        if name.startswith(WATERMARK)
    }


def commit_watermarks(
    session: SparkSession,
    consumer: str,
    watermarks: Mapping[str, int],
    properties: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Commit what `consumer` has read (input -> snapshot), without a change of its rows.

    `properties`: further properties of the commit, as in `Snapshot.summary`.
    """
    commit = iceberg_table(session, consumer).newAppend()
    for source, snapshot in watermarks.items():
        commit.set(f"{WATERMARK}{source}", str(snapshot))
    for name, value in properties.items():
        commit.set(name, value)
    commit.commit()


def appended_rows(metadata: Metadata, name: str, columns: str, start: int | None, end: int) -> str:
    """Return the rows that were appended after snapshot `start`, up to `end`; None: all rows.

    For an empty table, return a query that Spark knows to be empty, and leaves out with its joins.
    """
    if start is None:
        if end == NO_SNAPSHOT or not next(metadata.snapshots(name, end)).has_rows:
            return no_rows(name, columns)
        return f"(select {columns} from {name} version as of {end})"
    # With `branch_main` the table has another name: Spark resolves a table once per query and drops
    # the options of further uses (SPARK-58330), so a query over new and all rows would read either
    # twice.
    return (
        f"(select {columns} from {name}.branch_main with (`start-snapshot-id` = '{start}',"
        f" `end-snapshot-id` = '{end}'))"
    )


def no_rows(name: str, columns: str) -> str:
    """Return a table expression of a table's columns, without rows."""
    return f"(select {columns} from {name} where false)"


def watermark_of(metadata: Metadata, consumer: str, source: str) -> int | None:
    """Return the snapshot of `source` up to which `consumer` has read; None if it never read it.

    Raise DbtRuntimeError if that is not known: it expired, or `consumer` has the rows of a sample.
    """
    oldest, has_watermarks = None, False
    for oldest in metadata.snapshots(consumer):
        found = watermarks_in(oldest)
        if source in found:
            return found[source] or None
        has_watermarks = has_watermarks or bool(found)
    if oldest is None or has_watermarks:
        return None
    if oldest.parent_id is not None:
        raise _expired(consumer)
    if SAMPLE in oldest.summary and oldest.has_rows:
        raise DbtRuntimeError(
            f"{consumer} was built with --sample, so its rows cannot be distinguished from those"
            " that it has not read: rebuild it and what follows it with --full-refresh."
        )
    return None


def check_for_moves(metadata: Metadata, consumer: str, inputs: Collection[str]) -> None:
    """Raise DbtRuntimeError if an input of `consumer` is in another schema than before.

    `inputs`: all that it reads now. An input has moved if the last run read a table of this name
    in another schema instead: to `consumer`, all rows of the new table would be new.
    """
    read = watermarks_of(metadata, consumer)
    gone = {_table(name): name for name in read if name not in inputs and read[name]}
    for name in sorted(inputs):
        if name not in read and _table(name) in gone:
            raise DbtRuntimeError(
                f"{consumer} has read {gone[_table(name)]}, and now reads {name}: rebuild"
                f" {consumer} and what follows it with --full-refresh."
            )


def _table(name: str) -> str:
    return name.rpartition(".")[2]


def _expired(consumer: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"The snapshots in which {consumer} committed its watermarks have expired: rebuild it and"
        " what follows it with --full-refresh."
    )


def appends_after(
    metadata: Metadata, name: str, watermark: int, up_to: int, consumer: str
) -> list[Snapshot]:
    """Return the snapshots that brought rows to `name` after `watermark`, up to `up_to`.

    Raise DbtRuntimeError if the rows that `consumer` has not read can't be distinguished from
    others.
    """
    appends: list[Snapshot] = []
    if up_to == watermark:
        return appends
    for snapshot in metadata.snapshots(name, up_to):
        if snapshot.id == watermark:
            return appends
        if not brings_rows(snapshot):
            continue
        if snapshot.operation != "append":
            raise DbtRuntimeError(
                f"{name} was overwritten (snapshot {snapshot.id}) after {consumer} read it, so"
                f" its new rows cannot be distinguished from its old ones: rebuild {consumer}"
                " and what follows it with --full-refresh."
            )
        appends.append(snapshot)
    raise rebuilt_error(name, consumer)


def rebuilt_error(name: str, consumer: str) -> DbtRuntimeError:
    """Return the error if no snapshot of `name` leads back to the watermark of `consumer`."""
    return DbtRuntimeError(
        f"{name} was rebuilt, or its snapshots expired, after {consumer} read it: rebuild"
        f" {consumer} and what follows it with --full-refresh."
    )
