"""Erasure of rows from the landed messages, and by a rebuild from everything made from these.

Nothing is deleted from a table that a model builds. The landed messages lose the row, the tables
that follow from them are built anew, and older snapshots are deleted with their files. So the
tables are as after a rebuild, because a rebuild has made them.
"""

from __future__ import annotations

import importlib
import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.spark_session.api import (
    forget_past,
    iceberg_table,
    rewrite_rows,
    snapshots,
    unread_rows,
    view_query,
)
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from cdc_marts.coordinates import COORDINATES
from cdc_marts.local_rows import local_rows
from cdc_marts.offset_blocks import in_blocks, removed_of
from cdc_marts.operations.maintenance import ORPHANS_OLDER_THAN, needed_snapshots
from cdc_marts.operations.unknown_table import no_such_table
from cdc_marts.parsing.records import STAGING_COLUMNS
from cdc_marts.printing import printable
from cdc_marts.relations import OWN, Relations

#: Property of a landing table during an erasure. At first, it is the id of the snapshot that the
#: erasure found. A commit that changed messages has a property of its own.
_UNFINISHED = "cdc_marts.unfinished-erasure"
_LANDING_HAS_CHANGED = "true"
_REDACTED = "cdc_marts.redacted"
_COORDINATES = (
    StructType()
    .add("topic", StringType())
    .add("partition", IntegerType())
    .add("offset", LongType())
)
_REPLACEMENT = StructType([*_COORDINATES.fields, StructField("replacement", BinaryType())])
#: A row to erase, by the coordinates of its message. A null index means all rows of the message.
_ROW_TO_ERASE = (
    StructType()
    .add("erased_topic", StringType())
    .add("erased_partition", IntegerType())
    .add("erased_offset", LongType())
    .add("erased_row", IntegerType())
)
_PAIRING_ID = StructType().add("pairing_id", StringType())
#: The columns that a tombstone has in staging.
_OF_TOMBSTONES = ("source_format", *COORDINATES, "row_index", "landed_at", "landing_commit")
#: A part of a JSON text: a string, which is the group, or space between values.
_TEXT_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')
#: Types of records that name a row. Other records are about whole messages.
_ROWS = ("change", "update_before")


class ErasureError(Exception):
    """The erasure is not possible; the message says why and what to do."""


@dataclass(frozen=True)
class Found:
    """The traces of rows in the landed messages."""

    #: all keys of the rows, also before and after changes of their keys
    row_keys: list[str]
    #: the keys under which the source has a row now, as far as the marts know
    live_keys: list[str]
    #: messages with nothing but these rows
    whole: list[Row]
    #: messages that have other rows too, with the indexes of the rows to erase
    shared: list[Row]
    #: messages that name no row, but whose text has all values of one of the keys
    mentions: list[Row]
    #: `pairing_id` of the split updates of these rows
    pairing_ids: list[str]


@dataclass(frozen=True)
class Erasure:
    """The erasure of rows of a source table on a target."""

    session: SparkSession
    source_format: str
    table_id: str
    relations: Relations = field(default=OWN)

    @property
    def landing(self) -> str:
        return self.relations.landed(self.source_format)

    @property
    def staging(self) -> str:
        return self.relations.staging(self.source_format)

    @property
    def is_unfinished(self) -> bool:
        """Whether an erasure was interrupted after it had changed messages of the format."""
        table = iceberg_table(self.session, self.landing)
        progress = table.properties().get(_UNFINISHED)
        if progress is None:
            return False
        if progress == _LANDING_HAS_CHANGED:
            return True
        for found in snapshots(self.session, table):
            if str(found.id) == progress:
                return False
            if _REDACTED in found.summary:
                return True
        # The snapshots since the erasure began have expired.
        return True

    def count_waiting(self) -> int:
        """Return how many messages of the format no run has read."""
        self._check_is_built()
        return unread_rows(self.session, self.landing, self.staging)[1]

    def find(self, keys: Iterable[str]) -> Found:
        """Return what exists of the rows with these keys (`row_key`), and change nothing.

        Raise ErasureError if no message names one of them, unless an erasure is unfinished.
        """
        self._check_is_built()
        asked = list(dict.fromkeys(map(compact_key, keys)))
        named = self._rows_of_table().select("row_key").union(self._events().select("row_key"))
        missing = set(asked) - {
            row["row_key"] for row in named.where(F.col("row_key").isin(asked)).distinct().collect()
        }
        if missing and not self.is_unfinished:
            raise ErasureError(self._no_such_rows(sorted(missing)))
        row_keys = self._followed(asked)
        pairing_ids = self._pairing_ids(row_keys)
        whole, shared = self._messages(row_keys, pairing_ids)
        return Found(
            row_keys,
            self._live(row_keys),
            whole,
            shared,
            self._mentions(row_keys),
            pairing_ids,
        )

    def erase(self, found: Found, with_mentions: bool, rebuild: Callable[[], None]) -> None:
        """Delete what was found from the landing table, and rebuild what follows from it.

        If messages were removed from landing, their rows in staging become tombstones, because a
        rebuild of staging keeps these rows.

        `with_mentions`: erase `found.mentions` too. `rebuild`: it builds the staging table and
        everything that is made from it. If the process is interrupted, another erasure of the same
        rows completes it.

        If it raises ErasureError, nothing was changed.
        """
        whole = [*found.whole, *(found.mentions if with_mentions else ())]
        replacements = self._replacements(whole, found.shared)
        replacements |= dict.fromkeys(self._lone_tombstones(whole, found.row_keys))
        if not self.is_unfinished:
            before = next(snapshots(self.session, iceberg_table(self.session, self.landing)), None)
            # A landing table without snapshots has no message to change.
            self._note(_LANDING_HAS_CHANGED if before is None else str(before.id))
        self._redact(replacements)
        # From now on, landing has lost the rows, and staging may lose them.
        self._note(_LANDING_HAS_CHANGED)
        self._redact_irreplaceable_rows(whole, found.shared)
        rebuild()

    def forget(self, tables: Sequence[str], is_alone: bool) -> list[str]:
        """Delete the content of older snapshots, which completes the erasure.

        `tables`: the landing table, and all tables that were built anew. `is_alone`: no other
        process can write to the landing table meanwhile. Return the tags and branches of tables,
        made by somebody else, that keep older snapshots.
        """
        now = int(time.time() * 1000) + 1
        young = now if is_alone else now - int(ORPHANS_OLDER_THAN.total_seconds() * 1000)
        needed = needed_snapshots(self.session, tables)
        references = []
        for table in tables:
            orphans_before = young if table == self.landing else now
            names = forget_past(self.session, table, needed[table], orphans_before)
            references += [f"{table}: {name}" for name in names]
        self._note(None)
        return references

    def has_rows(self, found: Found) -> bool:
        """Return whether a message that was read meanwhile names one of these rows."""
        # Only an event, and no message, has the key of a keyless row that is made of two halves.
        return any(
            not self._coordinates_of_rows(rows, found.row_keys, found.pairing_ids).isEmpty()
            for rows in (self._rows_of_table(), self._events())
        )

    def _check_is_built(self) -> None:
        if not self.session.catalog.tableExists(self.staging):
            raise ErasureError(f"There is no {self.staging} yet: run dbt first.")
        if view_query(self.session, self.landing) is not None:
            raise ErasureError(
                f"{self.landing} is a view: erase the messages in the table behind it. Then rebuild"
                f" what was made from them (dbt run --full-refresh --select"
                f" stg_{self.source_format}+), and expire older snapshots (cdc-marts maintain"
                " --keep-days 0)."
            )

    def _rows_of_table(self) -> DataFrame:
        return self.session.table(self.staging).where(
            F.col("record_type").isin(*_ROWS) & (F.col("table_id") == self.table_id)
        )

    def _followed(self, asked: Sequence[str]) -> list[str]:
        """Return the keys, and the keys that their rows had before or later.

        Such keys are found as far as messages name them.
        """
        found, new = list(asked), list(asked)
        while new:
            is_of_new = F.col("old_key").isin(new) | F.col("new_key").isin(new)
            pairs = self._key_changes().where(is_of_new).distinct().collect()
            new = sorted({key for pair in pairs for key in pair} - set(found))
            found += new
        return found

    def _of_table(self, model: str) -> DataFrame:
        """Return the rows of a model that belong to the source table."""
        return self.session.table(self.relations.model(model)).where(
            (F.col("source_format") == self.source_format) & (F.col("table_id") == self.table_id)
        )

    def _events(self) -> DataFrame:
        return self._of_table("change_events")

    def _key_changes(self) -> DataFrame:
        """Return `old_key` and `new_key` of each change of a key, from one event or from two."""
        pairs = self._of_table("int_split_key_changes")
        in_one_event = (
            self._events()
            .where("previous_row_key <> row_key")
            .select(F.col("previous_row_key").alias("old_key"), F.col("row_key").alias("new_key"))
        )
        return in_one_event.union(pairs.select("old_key", "new_key"))

    def _pairing_ids(self, row_keys: Sequence[str]) -> list[str]:
        """Return the `pairing_id` of the split updates of rows with these keys.

        A half may name only a part of the row. The event that both halves make has the key of the
        marts. For a keyless row, this key has the columns of both halves.
        """
        halves = [
            rows.where(_is_of(row_keys)).select("pairing_id")
            for rows in (self._rows_of_table(), self._events())
        ]
        found = halves[0].union(halves[1]).where("pairing_id is not null").distinct().collect()
        return sorted(row["pairing_id"] for row in found)

    def _coordinates_of_rows(
        self, rows: DataFrame, row_keys: Sequence[str], pairing_ids: Sequence[str]
    ) -> DataFrame:
        """Return the coordinates of records or events with these keys, or of these updates."""
        columns = (*COORDINATES, "row_index")
        halves = local_rows(self.session, [(id_,) for id_ in pairing_ids], _PAIRING_ID)
        of_updates = rows.join(F.broadcast(halves), "pairing_id", "left_semi")
        return rows.where(_is_of(row_keys)).select(*columns).union(of_updates.select(*columns))

    def _messages(
        self, row_keys: Sequence[str], pairing_ids: Sequence[str]
    ) -> tuple[list[Row], list[Row]]:
        """Return messages with only these rows, and messages that have other rows too."""
        of_rows = self._coordinates_of_rows(self._rows_of_table(), row_keys, pairing_ids)
        rows_of_messages = of_rows.groupBy(*COORDINATES).agg(
            F.collect_set("row_index").alias("rows")
        )
        in_messages = (
            self.session.table(self.staging)
            .where(F.col("record_type").isin(*_ROWS))
            .join(rows_of_messages, list(COORDINATES))
            .groupBy(*COORDINATES, "rows")
            .agg(F.count("*").alias("count"))
            .collect()
        )
        whole: list[Row] = []
        shared: list[Row] = []
        for message in in_messages:
            (shared if message["count"] > len(message["rows"]) else whole).append(message)
        return whole, shared

    def _mentions(self, row_keys: Sequence[str]) -> list[Row]:
        """Return quarantined messages and statements whose text has all values of a key.

        Statements that change tables stay, because they are not about rows.
        """
        text = F.coalesce("ddl_text", F.decode("value", "ISO-8859-1"))
        is_mention = _has_values_of(text, row_keys)
        if is_mention is None:
            return []
        changes_no_table = (F.col("record_type") == "ddl") & F.col("table_changes").isNull()
        names_no_row = F.col("record_type").isin("rejected", "transaction") | changes_no_table
        staged = self.session.table(self.staging).where(names_no_row & text.isNotNull())
        return staged.where(is_mention).select(*COORDINATES).distinct().collect()

    def _live(self, row_keys: Sequence[str]) -> list[str]:
        state = self.relations.model("latest_state")
        try:
            rows = self.session.table(state)
        except AnalysisException as error:
            if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
                return []
            raise
        live = rows.where(
            (F.col("source_format") == self.source_format)
            & (F.col("table_id") == self.table_id)
            & F.col("row_key").isin(list(row_keys))
        )
        return sorted(row["row_key"] for row in live.select("row_key").collect())

    def _replacements(
        self, whole: Sequence[Row], shared: Sequence[Row]
    ) -> dict[tuple[Any, ...], bytes | None]:
        """Return the coordinates of a message -> its new value."""
        rows_of = {_coordinates(message): message["rows"] for message in shared}
        of_shared = self.session.table(self.landing).join(
            self._coordinates_frame(shared), list(COORDINATES), "left_semi"
        )
        messages = of_shared.where("value is not null").select(*COORDINATES, "value")
        replacements: dict[tuple[Any, ...], bytes | None] = {
            _coordinates(message): self._without_rows(message, rows_of[_coordinates(message)])
            for message in messages.collect()
        }
        replacements |= dict.fromkeys(map(_coordinates, whole))
        return replacements | dict.fromkeys(self._tombstones(list(replacements)))

    def _redact(self, replacements: Mapping[tuple[Any, ...], bytes | None]) -> None:
        """Delete keys of messages and replace their values. They do not count as new messages."""
        rows = [(*coordinates, value) for coordinates, value in replacements.items()]
        redacted = local_rows(self.session, rows, _REPLACEMENT).withColumn(
            "is_redacted", F.lit(True)
        )

        def of_redacted(rows: DataFrame) -> DataFrame:
            joined = rows.join(F.broadcast(redacted), list(COORDINATES), "left")
            is_redacted = F.col("is_redacted").isNotNull()
            return joined.withColumns(
                {
                    "key": F.when(~is_redacted, F.col("key")),
                    "value": F.when(is_redacted, F.col("replacement")).otherwise(F.col("value")),
                }
            )

        landed = self.session.table(self.landing).select(*COORDINATES, "_file")
        files = landed.join(F.broadcast(redacted), list(COORDINATES), "left_semi").select("_file")
        paths = {row["_file"] for row in files.distinct().collect()}
        rewrite_rows(self.session, self.landing, paths, of_redacted, {_REDACTED: "true"})

    def _tombstones(self, messages: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return the coordinates of queue tombstones with the record key of one of `messages`."""
        landed = self.session.table(self.landing)
        keys = (
            landed.join(self._coordinates_frame(messages), list(COORDINATES), "left_semi")
            .where("key is not null")
            .select("topic", "key")
            .distinct()
        )
        found = landed.where("value is null").join(F.broadcast(keys), ["topic", "key"], "left_semi")
        return [_coordinates(row) for row in found.select(*COORDINATES).collect()]

    def _lone_tombstones(self, messages: Sequence[Row], row_keys: Sequence[str]) -> list[Any]:
        """Return the coordinates of queue tombstones whose record key has the values of a row key.

        They are in the topics of `messages` that were removed from landing. The record keys of
        removed messages are unknown.
        """
        topics = {row["topic"] for row in self._irreplaceable(messages).select("topic").collect()}
        is_of_row = _has_values_of(F.decode("key", "ISO-8859-1"), row_keys)
        if not topics or is_of_row is None:
            return []
        without_value = self.session.table(self.landing).where("value is null")
        found = without_value.where(F.col("topic").isin(*topics) & is_of_row)
        return [_coordinates(row) for row in found.select(*COORDINATES).collect()]

    def _redact_irreplaceable_rows(self, whole: Sequence[Row], shared: Sequence[Row]) -> None:
        """Replace rows in staging by tombstones if their messages were removed from landing."""
        files = self._irreplaceable([*whole, *shared]).select("_file").distinct().collect()
        if not files:
            return
        rows = [(*_coordinates(message), None) for message in whole]
        rows += [(*_coordinates(message), row) for message in shared for row in message["rows"]]
        redacted = F.broadcast(
            local_rows(self.session, rows, _ROW_TO_ERASE).withColumn("is_redacted", F.lit(True))
        )
        is_same_row = F.coalesce(F.col("row_index") == F.col("erased_row"), F.lit(True))
        for name in COORDINATES:
            is_same_row = is_same_row & (F.col(name) == F.col(f"erased_{name}"))

        def of_redacted(records: DataFrame) -> DataFrame:
            is_redacted = F.col("is_redacted").isNotNull()
            emptied = {
                name: F.when(~is_redacted, F.col(name))
                for name in STAGING_COLUMNS
                if name not in _OF_TOMBSTONES
            }
            record_type = F.when(is_redacted, "tombstone").otherwise(F.col("record_type"))
            return records.join(redacted, is_same_row, "left").withColumns(
                {**emptied, "record_type": record_type}
            )

        rewrite_rows(self.session, self.staging, {row["_file"] for row in files}, of_redacted)

    def _irreplaceable(self, messages: Sequence[Row]) -> DataFrame:
        """Return `topic` and `_file` of the staging rows of messages that landing no longer has."""
        staged = self.session.table(self.staging).select(*COORDINATES, "_file")
        if not self.session.catalog.tableExists(self.relations.removed_messages):
            return staged.where("false")
        removed = self.session.table(self.relations.removed_messages)
        of_messages = staged.join(self._coordinates_frame(messages), list(COORDINATES), "left_semi")
        return in_blocks(of_messages, removed_of(removed, self.source_format))

    def _coordinates_frame(self, messages: Sequence[Any]) -> DataFrame:
        """Return the coordinates of messages as a small DataFrame."""
        coordinates = [_coordinates(message) for message in messages]
        return F.broadcast(local_rows(self.session, coordinates, _COORDINATES))

    def _without_rows(self, message: Row, rows: Collection[int]) -> bytes:
        parser = importlib.import_module(f"cdc_marts.formats.{self.source_format}")
        try:
            return bytes(parser.without_rows(bytes(message["value"]), rows))
        except ValueError as error:
            name = f"{printable(message['topic'])} {message['partition']} {message['offset']}"
            raise ErasureError(
                f"The message {name} holds other rows too, and can't be split: {error}."
            ) from error

    def _note(self, progress: str | None) -> None:
        """Keep the progress of the erasure (`_UNFINISHED`); None if it is complete."""
        action = f"set tblproperties ('{_UNFINISHED}' = '{progress}')"
        if progress is None:
            action = f"unset tblproperties if exists ('{_UNFINISHED}')"
        self.session.sql(f"alter table {self.landing} {action}")

    def _no_such_rows(self, missing: Sequence[str]) -> str:
        tables = self.session.table(self.staging).where(F.col("record_type").isin(*_ROWS))
        names = [row["table_id"] for row in tables.select("table_id").distinct().collect()]
        if self.table_id not in names:
            return no_such_table(self.source_format, self.table_id, names, self.relations)
        [columns] = self._rows_of_table().select("key_columns").limit(1).collect()
        shown = ",".join(f"{json.dumps(name, ensure_ascii=False)}:…" for name in columns[0])
        return (
            f"No message that was read names a row {', '.join(map(printable, missing))} of"
            f" {printable(self.table_id)}. Give a key as the column row_key of"
            f" {self.relations.model('latest_state')} or"
            f" {self.relations.model('change_events')} has it: {{{printable(shown)}}}."
        )


def _is_of(row_keys: Collection[str]) -> Column:
    keys = list(row_keys)
    is_previous = F.coalesce(F.col("previous_row_key").isin(keys), F.lit(False))
    return F.col("row_key").isin(keys) | is_previous


def _coordinates(message: Any) -> tuple[Any, ...]:
    """Return topic, partition and offset of a message."""
    return tuple(message[: len(COORDINATES)])


def compact_key(key: str) -> str:
    """Return a key as `row_key` has it, without spaces between its values.

    Values stay as they are written: Python would round decimals, and would escape control
    characters in another way.
    """
    try:
        json.loads(key)
    except ValueError:
        return key
    return _TEXT_OR_SPACE.sub(r"\1", key)


def _values_of(row_key: str) -> list[str]:
    """Return the values in a key as texts, without null, empty and nested values."""
    try:
        values = json.loads(row_key, parse_float=str, parse_int=str).values()
    except (ValueError, AttributeError):
        return []
    return [value for value in values if isinstance(value, str) and value]


def _has_values_of(text: Column, row_keys: Sequence[str]) -> Column | None:
    """Return whether a text has all values of a key; None if no key has values to look for."""
    is_mention = None
    for values in filter(None, map(_values_of, row_keys)):
        has_all = F.lit(True)
        for value in values:
            has_all = has_all & text.rlike(_word(value))
        is_mention = has_all if is_mention is None else is_mention | has_all
    return is_mention


def _word(value: str) -> str:
    """Return a regular expression for a value that is no part of a longer word or number.

    It fits texts, and bytes that are read as one character each.
    """
    ways = {re.escape(value), re.escape(value.encode().decode("latin-1"))}
    return rf"(?<![0-9A-Za-z_])(?:{'|'.join(sorted(ways))})(?![0-9A-Za-z_])"
