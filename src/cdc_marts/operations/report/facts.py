"""What the page shows of a target: small aggregates, made by Spark or read from metadata."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import view_query

from cdc_marts.operations.status import Status
from cdc_marts.operations.status_gathering import COUNTS
from cdc_marts.operations.status_gathering import gather as gather_status
from cdc_marts.operations.stored_tables import TableCounts, split_tables
from cdc_marts.relations import Relations
from cdc_marts.source_formats import with_format
from cdc_marts.times import days_before, micros_of, time_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.project.inventory import BuiltTable, Inventory

_RECORDS = "int_staging_records"
_EVENTS = "change_events"
_STATE = "latest_state"
_RUNS = "runs"
_MODEL_RUNS = "model_runs"

_RUNS_SHOWN = 60

#: Buckets of time, and the longest span that each is for.
_BUCKETS = (("minute", dt.timedelta(hours=2)), ("hour", dt.timedelta(days=3)))
_LARGEST_BUCKET = "day"


@dataclass(frozen=True)
class Traffic:
    """Messages of a topic that landed within a bucket of time and were read."""

    source_format: str
    topic: str
    #: when the bucket begins
    at: dt.datetime
    messages: int
    #: seconds from event to landing; None if no message has the time of its event
    median_lag: float | None
    longest_lag: float | None

    @property
    def name(self) -> str:
        return with_format(self.topic, self.source_format)


@dataclass
class TableActivity:
    """A source table: the number of its events, and the rows that it has now."""

    source_format: str
    table_id: str
    #: op -> events
    operations: Counter[str] = field(default_factory=Counter)
    live_rows: int = 0

    @property
    def name(self) -> str:
        return with_format(self.table_id, self.source_format)


@dataclass(frozen=True)
class StoredTable:
    """A table of the project, as the metadata of its newest snapshot has it."""

    name: str
    layer: str
    #: rows in its data files, even if they were deleted later
    rows: int
    files: int
    #: bytes
    size: int


@dataclass(frozen=True)
class RunTime:
    """A run of dbt."""

    command: str
    started_at: dt.datetime
    seconds: float
    outcome: str
    warnings: int
    failed: tuple[str, ...]


@dataclass(frozen=True)
class NodeTime:
    """A node of the last run."""

    name: str
    status: str
    seconds: float
    rows_written: int | None


@dataclass(frozen=True)
class Facts:
    """Everything that the page shows."""

    status: Status
    #: the unit of time of `traffic`: minute, hour or day
    bucket: str
    #: the time at which `traffic` begins
    since: dt.datetime
    traffic: list[Traffic]
    source_tables: list[TableActivity]
    stored_tables: list[StoredTable]
    #: the oldest first
    runs: list[RunTime]
    #: the slowest first
    nodes: list[NodeTime]


def gather(session: SparkSession, target: str, days: int, inventory: Inventory) -> Facts:
    """Return the facts of the target that `session` is open on, with the traffic of `days`."""
    relations = inventory.relations
    found = gather_status(session, target, relations=relations)
    since = days_before(found.checked_at, days)
    bucket = _bucket(session, relations, since)
    return Facts(
        found,
        bucket,
        since,
        list(_traffic(session, relations, bucket, since)),
        _source_tables(session, relations),
        list(_stored_tables(session, inventory.tables, relations)),
        list(_runs(session, target, relations)),
        list(_nodes(session, target, relations)),
    )


def _bucket(session: SparkSession, relations: Relations, since: dt.datetime) -> str:
    """Return the bucket that fits the time over which messages landed, by the counts of runs."""
    counts = relations.model(COUNTS)
    if not session.catalog.tableExists(counts):
        return _LARGEST_BUCKET
    [(first, last)] = session.sql(
        "select min(unix_micros(last_landed_at)), max(unix_micros(last_landed_at))"
        f" from {counts} where last_landed_at >= timestamp_micros({micros_of(since)})"
    ).collect()
    if first is None:
        return _LARGEST_BUCKET
    span = dt.timedelta(microseconds=last - first)
    return next((name for name, longest in _BUCKETS if span <= longest), _LARGEST_BUCKET)


def _traffic(
    session: SparkSession, relations: Relations, bucket: str, since: dt.datetime
) -> Iterator[Traffic]:
    records = relations.model(_RECORDS)
    if not _has_view(session, records):
        return
    lag = "(unix_micros(landed_at) - unix_micros(event_at)) / 1e6"
    rows = session.sql(
        f"select source_format, topic, unix_micros(date_trunc('{bucket}', landed_at)) as at,"
        f" count(*) as messages, percentile_approx({lag}, 0.5) as median, max({lag}) as longest"
        f" from {records} where row_index = 0"
        f" and landed_at >= timestamp_micros({micros_of(since)})"
        " group by 1, 2, 3 order by 3, 1, 2"
    )
    for row in rows.collect():
        at = time_at(row.at)
        yield Traffic(row.source_format, row.topic, at, row.messages, row.median, row.longest)


def _source_tables(session: SparkSession, relations: Relations) -> list[TableActivity]:
    events, state = relations.model(_EVENTS), relations.model(_STATE)
    tables: dict[tuple[str, str], TableActivity] = {}
    if _has_view(session, events):
        for row in session.sql(
            "select source_format, table_id, op, count(*) as events"
            f" from {events} group by source_format, table_id, op"
        ).collect():
            key = (row.source_format, row.table_id)
            tables.setdefault(key, TableActivity(*key)).operations[row.op] = row.events
    if _has_view(session, state):
        for row in session.sql(
            "select source_format, table_id, sum(row_count) as live_rows"
            f" from {state} group by source_format, table_id"
        ).collect():
            key = (row.source_format, row.table_id)
            tables.setdefault(key, TableActivity(*key)).live_rows = row.live_rows
    return sorted(tables.values(), key=lambda table: (-table.operations.total(), table.name))


def _stored_tables(
    session: SparkSession, built: Mapping[str, BuiltTable], relations: Relations
) -> Iterator[StoredTable]:
    layers = {name.lower(): table.layer for name, table in built.items()}
    own, _ = split_tables(session, built, relations.schemas)
    for name in own:
        counts = TableCounts.of(session, name)
        yield StoredTable(name, layers[name.lower()], counts.rows, counts.files, counts.size)


def _runs(session: SparkSession, target: str, relations: Relations) -> Iterator[RunTime]:
    """Yield the runs of the target alone.

    Other targets may share its landing schema and so its history.
    """
    runs = relations.model(_RUNS)
    if not _has_view(session, runs):
        return
    rows = session.sql(
        "select command, unix_micros(started_at) as started, cast(seconds as double) as seconds,"
        f" outcome, warning_count, failed_nodes from {runs} where target_name = :target"
        f" order by started_at desc limit {_RUNS_SHOWN}",
        args={"target": target},
    )
    for row in reversed(rows.collect()):
        yield RunTime(
            f"dbt {row.command}",
            time_at(row.started),
            row.seconds,
            row.outcome,
            row.warning_count,
            tuple(row.failed_nodes),
        )


def _nodes(session: SparkSession, target: str, relations: Relations) -> Iterator[NodeTime]:
    """Yield the nodes of the last run that has any."""
    runs, model_runs = relations.model(_RUNS), relations.model(_MODEL_RUNS)
    if not (_has_view(session, runs) and _has_view(session, model_runs)):
        return
    rows = session.sql(
        f"select node_name, status, seconds, rows_written from {model_runs}"
        " where run_id = ("
        f"select max_by(run_id, run_started_at) from {model_runs}"
        f" where run_id in (select run_id from {runs} where target_name = :target))"
        " order by seconds desc, node_name",
        args={"target": target},
    )
    for row in rows.collect():
        yield NodeTime(row.node_name, row.status, row.seconds, row.rows_written)


def _has_view(session: SparkSession, name: str) -> bool:
    return session.catalog.databaseExists(name.split(".")[0]) and (
        view_query(session, name) is not None
    )
