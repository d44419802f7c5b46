"""Gathering of the status of a target, from metadata and small tables.

These are the counts that each run leaves (`int_message_counts`), the halves of updates that wait
for the other one (`int_pending_halves`), and the partitions of rejected messages. Neither messages
nor images are read, and only the topics of waiting messages.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import (
    has_rows,
    iceberg_table,
    snapshots,
    unread_rows,
    view_query,
)
from dbt_common.exceptions import DbtRuntimeError

from cdc_marts.operations.erasure.progress import unfinished
from cdc_marts.operations.last_read import last_read_at
from cdc_marts.operations.status import Rejects, Run, Status, TopicStatus
from cdc_marts.relations import OWN, Relations
from cdc_marts.run_history import FAILED_STATUSES
from cdc_marts.source_formats import SOURCE_FORMATS
from cdc_marts.times import time_at

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

COUNTS = "int_message_counts"
_PENDING = "int_pending_halves"
_STATEMENTS = "int_table_changes"

#: Commands of dbt that read messages.
_RUNS = ("run", "build", "retry")
#: Operations of snapshots; a row keeps its sequence number when its file is compacted.
_WITHOUT_ROWS_WRITTEN_ANEW = ("append", "replace")


def gather(
    session: SparkSession,
    target: str,
    now: dt.datetime | None = None,
    relations: Relations = OWN,
) -> Status:
    """Return the status of the target that `session` is open on."""
    topics = _Topics()
    notes: list[str] = []
    last_run = last_run_of(session, target, relations)
    read_at = _last_read_at(session, relations)
    if last_run is not None and read_at is not None and read_at > last_run.ended_at:
        notes.append(
            "A run read messages after the last one had ended: it still works or was killed."
        )
    notes += _notes_on_erasures(session, relations)
    _add_counts(session, relations, topics, notes)
    _add_waiting(session, relations, topics, notes)
    _add_rejects(session, relations, topics, last_run)
    kinds = {kind for topic in topics.values() for kind in topic.read}
    if "update_before" in kinds:
        _add_pending(session, relations, topics)
    if kinds & {"ddl", "transaction"}:
        _add_statements(session, relations, topics)
    return Status(
        target,
        now or dt.datetime.now(dt.timezone.utc),
        sorted(topics.values(), key=lambda topic: (topic.topic, topic.source_format)),
        last_run,
        read_at,
        notes,
        relations,
    )


def _notes_on_erasures(session: SparkSession, relations: Relations) -> Iterator[str]:
    for source_format in SOURCE_FORMATS:
        landing, staging = relations.landed(source_format), relations.staging(source_format)
        if view_query(session, landing) is None and session.catalog.tableExists(landing):
            for note in unfinished(session, landing):
                yield (
                    f"{note.subject(landing, staging)} is not complete: `cdc-marts erase` still"
                    " works, or must be repeated with the same keys."
                )


def last_run_of(session: SparkSession, target: str, relations: Relations = OWN) -> Run | None:
    """Return the last run on a target that read messages and ended; None if there is none.

    Several targets may share a landing schema, and with it the history.
    """
    if not session.catalog.tableExists(relations.run_results):
        return None
    statuses = ", ".join(map(repr, FAILED_STATUSES))
    failed = f"filter(nodes, node -> node.status in ({statuses}))"
    rows = session.sql(
        "select command, unix_micros(started_at) as started, unix_micros(ended_at) as ended,"
        f" transform({failed}, node -> node.node_name) as failed from {relations.run_results}"
        f" where command in ({', '.join(map(repr, _RUNS))}) and target_name = :target"
        " order by started_at desc limit 1",
        args={"target": target},
    ).collect()
    for row in rows:
        started_at, ended_at = time_at(row.started), time_at(row.ended)
        assert started_at is not None and ended_at is not None  # the table has them not null
        return Run(f"dbt {row.command}", started_at, ended_at, tuple(row.failed))
    return None


class _Topics(dict[tuple[str, str], TopicStatus]):
    """Format and topic -> its status. A missing status is created when it is asked for."""

    def __missing__(self, key: tuple[str, str]) -> TopicStatus:
        topic = self[key] = TopicStatus(*key)
        return topic


def _add_counts(
    session: SparkSession, relations: Relations, topics: _Topics, notes: list[str]
) -> None:
    counts = relations.model(COUNTS)
    if not session.catalog.tableExists(counts):
        if any(session.catalog.tableExists(relations.staging(name)) for name in SOURCE_FORMATS):
            notes.append(f"What runs read is not counted yet: the next `dbt run` makes {counts}.")
        return
    rows = session.sql(
        "select source_format, topic, record_type, sum(message_count) as messages,"
        " max(unix_micros(last_event_at)) as event, max(unix_micros(last_landed_at)) as landed"
        f" from {counts} group by source_format, topic, record_type"
    )
    for row in rows.collect():
        topic = topics[row.source_format, row.topic]
        topic.read[row.record_type] = row.messages
        topic.last_event_at = _latest(topic.last_event_at, time_at(row.event))
        topic.last_landed_at = _latest(topic.last_landed_at, time_at(row.landed))
    behind = [name for name in SOURCE_FORMATS if _is_uncounted(session, relations, name)]
    if behind:
        notes.append(
            f"A run of some models read messages of {', '.join(behind)} that are not counted yet:"
            " the next `dbt run` counts them."
        )


def _is_uncounted(session: SparkSession, relations: Relations, source_format: str) -> bool:
    staging = relations.staging(source_format)
    if not session.catalog.tableExists(staging):
        return False
    try:
        return unread_rows(session, staging, relations.model(COUNTS))[1] > 0
    except DbtRuntimeError:
        return True


def _add_waiting(
    session: SparkSession, relations: Relations, topics: _Topics, notes: list[str]
) -> None:
    unread = []
    for source_format in SOURCE_FORMATS:
        landing, staging = relations.landed(source_format), relations.staging(source_format)
        if view_query(session, landing) is not None:
            notes.append(f"What waits in {landing} is not counted: it is a view.")
            continue
        if not session.catalog.tableExists(landing):
            continue
        consumer = staging if session.catalog.tableExists(staging) else None
        try:
            rows, count = unread_rows(session, landing, consumer)
        except DbtRuntimeError as error:
            notes.append(f"What waits in {landing} is not known. {error.msg}")
            continue
        if count:
            unread.append((source_format, rows))
    for row in _union(
        session,
        (
            f"select '{source_format}' as source_format, topic, count(*) as messages,"
            " min(unix_micros(landed_at)) as oldest, max(unix_micros(landed_at)) as landed"
            f" from {rows} group by topic"
            for source_format, rows in unread
        ),
    ):
        topic = topics[row.source_format, row.topic]
        topic.waiting = row.messages
        topic.oldest_waiting_at = time_at(row.oldest)
        topic.last_landed_at = _latest(topic.last_landed_at, time_at(row.landed))


def _add_rejects(
    session: SparkSession, relations: Relations, topics: _Topics, last_run: Run | None
) -> None:
    """Add counts of rejected messages. Staging has files of their own for these."""
    queries = []
    for source_format in SOURCE_FORMATS:
        staging = relations.staging(source_format)
        if not (session.catalog.tableExists(staging) and has_rows(session, staging)):
            continue
        before = last_run and sequence_number_before(session, staging, last_run.started_at)
        new = (
            "cast(null as bigint)"
            if before is None
            else f"count_if(_last_updated_sequence_number > {before})"
        )
        queries.append(
            "select source_format, topic, reject_code, count(*) as messages,"
            f" {new} as new_messages, max(unix_micros(landed_at)) as landed"
            f" from {staging} where record_type = 'rejected'"
            " group by source_format, topic, reject_code"
        )
    for row in _union(session, queries):
        topic = topics[row.source_format, row.topic]
        topic.rejects[row.reject_code] = Rejects(row.messages, row.new_messages)
        topic.last_landed_at = _latest(topic.last_landed_at, time_at(row.landed))


def sequence_number_before(session: SparkSession, table: str, time: dt.datetime) -> int | None:
    """Return the sequence number of the newest snapshot before a time; 0 if there was no table.

    None if rows from before were written anew since: `requeue` replaces some, a full refresh all.
    Also None if the snapshots from before have expired.
    """
    oldest = None
    for oldest in snapshots(session, iceberg_table(session, table)):
        if time_at(oldest.committed_at * 1000) < time:
            return oldest.sequence_number
        has_replaced_rows = oldest.operation not in _WITHOUT_ROWS_WRITTEN_ANEW
        if has_replaced_rows and oldest.parent_id is not None:
            return None
    # The first snapshot of a table has the number 1; before others there was one.
    is_first = oldest is None or oldest.sequence_number == 1
    return 0 if is_first else None


def _add_pending(session: SparkSession, relations: Relations, topics: _Topics) -> None:
    """Add the numbers of halves of updates that wait for the other half."""
    if not session.catalog.tableExists(relations.model(_PENDING)):
        return
    rows = session.sql(
        f"select source_format, topic, count(*) as messages from {relations.model(_PENDING)}"
        " group by source_format, topic"
    )
    for row in rows.collect():
        topics[row.source_format, row.topic].pending_update_before = row.messages


def _add_statements(session: SparkSession, relations: Relations, topics: _Topics) -> None:
    statements = relations.model(_STATEMENTS)
    if not session.catalog.tableExists(statements):
        return
    rows = session.sql(
        "select source_format, topic, count(distinct statement_id) as statements"
        f" from {statements} where change = 'not_applied' group by source_format, topic"
    )
    for row in rows.collect():
        topics[row.source_format, row.topic].statements_not_applied = row.statements


def _last_read_at(session: SparkSession, relations: Relations) -> dt.datetime | None:
    """Return when a run last read messages; None if none did."""
    tables = filter(session.catalog.tableExists, map(relations.staging, SOURCE_FORMATS))
    found = (last_read_at(snapshots(session, iceberg_table(session, table))) for table in tables)
    newest = max(filter(None, found), default=None)
    return None if newest is None else time_at(newest * 1000)


def _union(session: SparkSession, queries: Iterable[str]) -> list[Row]:
    text = " union all ".join(queries)
    return session.sql(text).collect() if text else []


def _latest(one: dt.datetime | None, other: dt.datetime | None) -> dt.datetime | None:
    return max(filter(None, (one, other)), default=None)
