"""The repair of a table that differs from its source, from a full load that has landed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.rules import is_row_of_full_load
from cdc_marts.identifying_columns import MESSAGE, is_of_table
from cdc_marts.local_rows import local_rows
from cdc_marts.operations.unknown_table import no_such_table
from cdc_marts.printing import printable
from cdc_marts.relations import OWN, WITH_WHAT_FOLLOWS, Relations
from cdc_marts.source_formats import has_trait
from cdc_marts.times import time_at

_RECORDS = "int_records"
_STATEMENTS = "int_resolved_changes"
_SCHEMAS = "int_table_schemas"
#: Traits of the formats in which a list of columns may not be complete.
_WITHOUT_COMPLETE_LISTS = ("has_sparse_rows", "inserts_leave_out_columns")


class ResyncError(Exception):
    """The repair is not possible; the message says why and what to do."""


@dataclass(frozen=True)
class Resynced:
    """The outcome of a repair."""

    #: When the load began. Changes that the stream published before count as part of the load.
    loaded_since: dt.datetime
    #: Number of rows of the load that were read.
    loaded_rows: int
    #: Number of rows of the table, before and now.
    rows: tuple[int, int]


def resync(
    session: SparkSession,
    source_format: str,
    table_id: str,
    run_dbt: Callable[[list[str]], None],
    turn: AbstractContextManager[Callable[[], None]],
    since: dt.datetime | None = None,
    topic: str | None = None,
    relations: Relations = OWN,
    *,
    keep_changes: bool = False,
) -> Resynced:
    """Replace everything that the table had when a full load began by the rows of this load.

    The load is the snapshot rows of the table that landed `since` a time (with its zone), or in a
    `topic`, or both. Without a time, it began when its first row was written. If a format loads by
    inserts, the load is all inserts of the topic, which may have nothing else of the table.
    `run_dbt` runs a command of dbt in the same process. `turn` keeps other runs and repairs off the
    target while the repair is requested: two at once would get the same number. Its function is
    called before the request, and raises if the turn is over. `keep_changes`: changes that landed
    after `since`, and before the first row of the load was written, stay on top of the load.

    If it raises ResyncError, nothing was changed.
    """
    table = _RepairedTable(session, relations, source_format, table_id)
    with turn as check_turn:
        loaded_since, loaded_rows = _request(
            table, since, topic, check_turn, keep_changes=keep_changes
        )
        rows_before = table.row_count()
    run_dbt(["run", "--select", WITH_WHAT_FOLLOWS])
    return Resynced(loaded_since, loaded_rows, (rows_before, table.row_count()))


def _request(
    table: _RepairedTable,
    since: dt.datetime | None,
    topic: str | None,
    check_turn: Callable[[], None],
    *,
    keep_changes: bool,
) -> tuple[dt.datetime, int]:
    """Request a repair, which the next run makes; return when the load began, and its rows.

    The arguments and errors are those of `resync`.
    """
    session, relations = table.session, table.relations
    source_format, table_id = table.source_format, table.table_id
    for table_name in (relations.resyncs, relations.model(_STATEMENTS)):
        if not session.catalog.tableExists(table_name):
            raise ResyncError(f"There is no {table_name} yet: run dbt first.")
    _check_is_known(table)
    if has_trait(source_format, "loads_by_inserts"):
        _check_has_load_alone(table, since, topic)
    load = table.load(since, topic)
    if load is None:
        where = " ".join(
            [
                *([f"since {since:%Y-%m-%d %H:%M:%S} UTC"] if since else []),
                *([f"in topic {printable(topic)}"] if topic else []),
            ]
        )
        raise ResyncError(
            f"No run has read a row of a full load of {printable(table_id)} that landed {where}."
            " Land the load, run dbt, and repeat this command."
        )
    loaded_rows, began_at = load
    loaded_since = since or began_at
    number = table.next_number(loaded_since)
    position = table.highest_position(loaded_since)
    if not (keep_changes or loaded_since >= began_at):
        _check_has_no_changes_beyond(table, position, loaded_since, began_at)
    if not any(has_trait(source_format, trait) for trait in _WITHOUT_COMPLETE_LISTS):
        _check_keeps_columns(table, position, loaded_since, topic)
    times = (loaded_since.astimezone(dt.timezone.utc), dt.datetime.now(dt.timezone.utc))
    request = (source_format, table_id, number, topic, times[0], position, times[1])
    requests = local_rows(session, [request], session.table(relations.resyncs).schema)
    check_turn()
    requests.writeTo(relations.resyncs).append()
    return loaded_since, loaded_rows


@dataclass(frozen=True)
class _RepairedTable:
    session: SparkSession
    relations: Relations
    source_format: str
    table_id: str

    @property
    def records(self) -> DataFrame:
        return self.session.table(self.relations.model(_RECORDS))

    def load(self, since: dt.datetime | None, topic: str | None) -> tuple[int, dt.datetime] | None:
        """Return the number of rows of a load, and when the first was written; None if no rows."""
        rows = self.landed(since).where(_is_row_of_load(topic))
        written_at = F.least("landed_at", F.coalesce("published_at", "event_at", "landed_at"))
        [(count, first)] = rows.select(F.count("*"), F.min(F.unix_micros(written_at))).collect()
        began_at = time_at(first)
        return None if began_at is None else (count, began_at)

    def next_number(self, loaded_since: dt.datetime) -> int:
        """Return the number of a new resync. Raise ResyncError if its load is not the newest."""
        requests = self.of_table(self.relations.resyncs)
        [(count, last)] = requests.select(
            F.count("*"), F.max(F.unix_micros("loaded_since"))
        ).collect()
        before = time_at(last)
        if before is not None and loaded_since <= before:
            raise ResyncError(
                f"{printable(self.table_id)} was already repaired from a load since"
                f" {before:%Y-%m-%d %H:%M:%S} UTC. If that run was interrupted, `dbt run` completes"
                " it. A new repair needs a later load."
            )
        return count + 1

    def highest_position(self, loaded_since: dt.datetime) -> Decimal | None:
        """Return the highest position that the table had when the load began; None if none."""
        landed_before = F.col("landed_at") < F.lit(loaded_since)
        changes = self.changes().where(landed_before).select("sequence.position")
        statements = self.records.where("record_type in ('ddl', 'transaction')")
        truncations = (
            self.of_table(self.relations.model(_STATEMENTS))
            .withColumn("offset", F.col("sequence.offset"))
            .join(statements.where(landed_before).select(*MESSAGE), [*MESSAGE], "left_semi")
            .select("sequence.position")
        )
        [(highest,)] = changes.union(truncations).select(F.max("position")).collect()
        return highest

    def row_count(self) -> int:
        row_count = F.coalesce(F.sum("row_count"), F.lit(0))
        [(count,)] = self.of_table(self.relations.model("latest_state")).select(row_count).collect()
        return count

    def landed(self, since: dt.datetime | None) -> DataFrame:
        """Return the changes that landed since a time, or all."""
        changes = self.changes()
        return changes if since is None else changes.where(F.col("landed_at") >= F.lit(since))

    def changes(self) -> DataFrame:
        return self.of_table(self.relations.model(_RECORDS)).where("record_type = 'change'")

    def of_table(self, relation: str) -> DataFrame:
        return self.session.table(relation).where(is_of_table(self.source_format, self.table_id))


def _check_is_known(table: _RepairedTable) -> None:
    if not table.changes().isEmpty():
        return
    of_format = table.records.where(F.col("source_format") == table.source_format)
    known = of_format.where("record_type = 'change'").select("table_id").distinct()
    names = sorted(row["table_id"] for row in known.collect() if row["table_id"])
    raise ResyncError(no_such_table(table.source_format, table.table_id, names, table.relations))


def _check_has_load_alone(
    table: _RepairedTable, since: dt.datetime | None, topic: str | None
) -> None:
    """Raise ResyncError unless the load is alone in its topic: the stream has inserts too."""
    if topic is None:
        raise ResyncError(
            f"In {table.source_format}, the rows of a full load are inserts, which look like"
            " those of the stream. Land the load in a topic of its own, and name it by --topic."
        )
    others = table.landed(since).where((F.col("topic") == topic) & (F.col("op") != "insert"))
    if not others.isEmpty():
        raise ResyncError(
            f"Topic {printable(topic)} also contains updates or deletes of"
            f" {printable(table.table_id)}, so its inserts are not only those of a full load."
            " Land the load in a topic of its own."
        )


def _check_has_no_changes_beyond(
    table: _RepairedTable,
    position: Decimal | None,
    loaded_since: dt.datetime,
    began_at: dt.datetime,
) -> None:
    """Raise ResyncError if changes landed in between, beyond the position of the load."""
    if table.highest_position(began_at) == position:
        return
    began = began_at.isoformat()
    raise ResyncError(
        f"Changes of {printable(table.table_id)} landed between {loaded_since.isoformat()}"
        f" (--since) and {began}, when the first row of the load was written. If the load"
        f" contains them, repeat the command with --since {began}. If it does not, add"
        " --keep-changes: they then stay on top of the load."
    )


def _check_keeps_columns(
    table: _RepairedTable, position: Decimal | None, loaded_since: dt.datetime, topic: str | None
) -> None:
    """Raise ResyncError if changes from before the load would end columns of its rows.

    Such a change landed after the load began, and so counts after it. It lists the columns that
    the table had before: without one that the table got shortly before the load.
    """
    versions = table.of_table(table.relations.model(_SCHEMAS)).select("schema_id", "column_names")
    # A change that the load has overtaken shows its columns at its own position.
    has_own_positions = has_trait(table.source_format, "follows_loads")
    change_position = F.col("message_position" if has_own_positions else "sequence.position")
    is_behind = F.lit(True) if position is None else change_position > F.lit(position)
    is_of_load = _is_row_of_load(topic)
    lists = table.landed(loaded_since).join(versions, ["schema_id"])
    old_lists = lists.where(
        (F.col("op") != "snapshot")
        & ~is_of_load
        & F.col("lists_all_columns")
        & is_behind
        & (F.col("event_at") < F.lit(loaded_since))
    ).select("column_names")
    loaded_columns = lists.where(is_of_load).select(F.explode("column_names").alias("column"))
    lost = loaded_columns.distinct().join(
        old_lists.distinct(), ~F.array_contains("column_names", F.col("column"))
    )
    names = sorted({row["column"] for row in lost.select("column").collect()})
    if names:
        raise ResyncError(
            f"Changes of {printable(table.table_id)} from before the load, which landed after it"
            f" began, list the table without {', '.join(map(printable, names))}. They count"
            " after the load, so its rows would lose these columns. Land until the stream has"
            " caught up, and load the table again."
        )


def _is_row_of_load(topic: str | None) -> Column:
    """Return whether a change is a row of a load, in its topic if it has one."""
    in_topic = F.lit(True) if topic is None else F.col("topic") == topic
    return in_topic & is_row_of_full_load()
