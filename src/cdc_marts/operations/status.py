"""The status of a target: what landed, what waits, what was rejected, and when the last run was.

It is read from metadata and small tables: the counts that each run leaves (`int_message_counts`),
the halves of updates that wait for the other one (`int_pending_halves`), and the partitions of
rejected messages. Neither messages nor images are read, and only the topics of waiting messages.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_session.api import (
    has_rows,
    iceberg_table,
    snapshots,
    unread_rows,
    view_query,
    watermarks_in,
)
from dbt_common.exceptions import DbtRuntimeError

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


@dataclass
class Rejects:
    """Quarantined messages with one code."""

    total: int = 0
    #: number from the last run; None if it is not known which these are
    new: int | None = None


@dataclass
class TopicStatus:
    """The status of the messages of a topic."""

    source_format: str
    topic: str
    #: record type -> number of messages that runs read, without rejected ones
    read: Counter[str] = field(default_factory=Counter)
    #: number of messages that landed after the last run read
    waiting: int = 0
    #: reject code -> quarantined messages
    rejects: dict[str, Rejects] = field(default_factory=dict)
    pending_update_before: int = 0
    statements_not_applied: int = 0
    last_landed_at: dt.datetime | None = None
    #: the time of the newest event or heartbeat that was read
    last_event_at: dt.datetime | None = None

    @property
    def name(self) -> str:
        """The name of the topic with its format. Topics of several formats may have one name."""
        return f"{self.topic} ({self.source_format})"

    @property
    def rejected(self) -> int:
        return sum(rejects.total for rejects in self.rejects.values())

    @property
    def landed(self) -> int:
        return self.read.total() + self.rejected + self.waiting

    def lag(self, now: dt.datetime) -> dt.timedelta | None:
        """Return the age of the newest event, or of the newest landing if messages have no time."""
        newest = self.last_event_at or self.last_landed_at
        return None if newest is None else now - newest

    @property
    def landing_lag(self) -> dt.timedelta | None:
        """The time from the newest event to the newest landing."""
        if self.last_event_at is None or self.last_landed_at is None:
            return None
        return self.last_landed_at - self.last_event_at


@dataclass(frozen=True)
class Run:
    """A run of dbt in the history of runs."""

    command: str
    started_at: dt.datetime
    ended_at: dt.datetime
    #: names of the nodes that failed
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Status:
    """The status of a target."""

    target: str
    checked_at: dt.datetime
    topics: list[TopicStatus]
    #: the last run that ended; None if no run has ended
    last_run: Run | None
    #: when a run last read messages; None if no run has
    last_read_at: dt.datetime | None
    #: sentences about what is not known
    notes: list[str]
    #: where the tables of the target are
    relations: Relations = OWN


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
    last_read_at = max(
        filter(None, map(_last_read_at(session, relations), SOURCE_FORMATS)), default=None
    )
    if last_run is not None and last_read_at is not None and last_read_at > last_run.ended_at:
        notes.append(
            "A run read messages after the last one had ended: it still works or was killed."
        )
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
        last_read_at,
        notes,
        relations,
    )


def breaches(
    status: Status, max_lag: dt.timedelta | None = None, max_rejects: int | None = None
) -> Iterator[str]:
    """Yield a sentence for each topic and threshold if the topic is above the threshold."""
    for topic in status.topics:
        lag = topic.lag(status.checked_at)
        if max_lag is not None and lag is not None and lag > max_lag:
            yield f"The newest event of {topic.name} is {span(lag)} old, more than {span(max_lag)}."
        if max_rejects is not None and topic.rejected > max_rejects:
            messages = "message is" if topic.rejected == 1 else "messages are"
            yield (
                f"{topic.rejected:,} {messages} quarantined of {topic.name},"
                f" more than {max_rejects:,}."
            )


def as_json(status: Status) -> dict[str, Any]:
    """Return the status as a JSON object. Times are in ISO 8601, and spans in seconds."""
    run = status.last_run
    return {
        "target": status.target,
        "checked_at": _iso(status.checked_at),
        "last_run": None
        if run is None
        else {
            "command": run.command,
            "started_at": _iso(run.started_at),
            "ended_at": _iso(run.ended_at),
            "outcome": "failed" if run.failed else "succeeded",
            "failed": list(run.failed),
        },
        "last_read_at": _iso(status.last_read_at),
        "topics": [
            {
                "source_format": topic.source_format,
                "topic": topic.topic,
                "landed": topic.landed,
                "waiting": topic.waiting,
                "read": dict(sorted(topic.read.items())),
                "rejected": topic.rejected,
                "rejects": {
                    code: {"total": rejects.total, "new": rejects.new}
                    for code, rejects in sorted(topic.rejects.items())
                },
                "pending_update_before": topic.pending_update_before,
                "statements_not_applied": topic.statements_not_applied,
                "last_landed_at": _iso(topic.last_landed_at),
                "last_event_at": _iso(topic.last_event_at),
                "lag_seconds": _seconds(topic.lag(status.checked_at)),
                "landing_lag_seconds": _seconds(topic.landing_lag),
            }
            for topic in status.topics
        ],
        "notes": status.notes,
    }


def span(time: dt.timedelta) -> str:
    """Return a span in its largest unit and the next one, such as 2h 5m."""
    seconds = max(0, int(time.total_seconds()))
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,}{unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0s"


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
            f" max(unix_micros(landed_at)) as landed from {rows} group by topic"
            for source_format, rows in unread
        ),
    ):
        topic = topics[row.source_format, row.topic]
        topic.waiting = row.messages
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
        before = last_run and _sequence_number_before(session, staging, last_run.started_at)
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


def _sequence_number_before(session: SparkSession, table: str, time: dt.datetime) -> int | None:
    """Return the sequence number of the newest snapshot before a time; 0 if there was no table.

    None if rows from before were written anew since: `requeue` replaces some, a full refresh all.
    Also None if the snapshots from before have expired.
    """
    millis = time.timestamp() * 1000
    oldest = None
    for oldest in snapshots(session, iceberg_table(session, table)):
        if oldest.committed_at < millis:
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


def _last_read_at(
    session: SparkSession, relations: Relations
) -> Callable[[str], dt.datetime | None]:
    def of_format(source_format: str) -> dt.datetime | None:
        staging = relations.staging(source_format)
        if not session.catalog.tableExists(staging):
            return None
        found = snapshots(session, iceberg_table(session, staging))
        # The first snapshot has empty watermarks if nothing had landed when the table was made.
        reads = (s.committed_at for s in found if any(watermarks_in(s).values()))
        return time_at(next((millis * 1000 for millis in reads), None))

    return of_format


def _union(session: SparkSession, queries: Iterable[str]) -> list[Row]:
    text = " union all ".join(queries)
    return session.sql(text).collect() if text else []


def _latest(one: dt.datetime | None, other: dt.datetime | None) -> dt.datetime | None:
    return max(filter(None, (one, other)), default=None)


def _iso(time: dt.datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")


def _seconds(time: dt.timedelta | None) -> int | None:
    return None if time is None else int(time.total_seconds())
