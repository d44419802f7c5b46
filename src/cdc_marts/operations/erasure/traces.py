"""The traces of rows: the messages that name them, and the texts that have the values of a key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.local_rows import local_rows
from cdc_marts.operations.erasure.copies import unread_mentions
from cdc_marts.operations.erasure.erased_table import ErasedTable, ErasureError, MessageRows
from cdc_marts.operations.erasure.keys import has_key, has_values_of
from cdc_marts.operations.erasure.other_keys import other_keys
from cdc_marts.operations.erasure.progress import Note
from cdc_marts.operations.unknown_table import no_such_table
from cdc_marts.parsing.ops import ROW_RECORDS
from cdc_marts.printing import printable

_PAIRING_ID = StructType().add("pairing_id", StringType())


@dataclass(frozen=True)
class Found:
    """The traces of rows in the landed messages."""

    #: the keys that were given, without spaces
    asked: list[str]
    #: all keys of the rows, also before and after changes of their keys
    row_keys: list[str]
    #: the keys under which the source has a row now, as far as the marts know
    live_keys: list[str]
    #: messages with nothing but these rows
    whole: list[MessageRows]
    #: messages that have other rows too, with the indexes of the rows to erase
    shared: list[MessageRows]
    #: messages that name no row, but whose text has all values of one of the keys
    mentions: list[MessageRows]
    #: other messages, with copies that no run reads and that have all values of one of the keys
    copied: list[MessageRows]
    #: `pairing_id` of the split updates of these rows
    pairing_ids: list[str]


def find(table: ErasedTable, asked: list[str], interrupted: Sequence[Note]) -> Found:
    """Return what exists of the rows with these keys (`row_key`).

    `interrupted`: the notes of erasures that an erasure of these rows completes. Raise ErasureError
    if no message names one of the keys, unless there are such notes.
    """
    named = _keys_in(table, "row_key")
    missing = set(asked) - {
        row["row_key"] for row in named.where(F.col("row_key").isin(asked)).distinct().collect()
    }
    if missing and not interrupted:
        raise ErasureError(_no_such_rows(table, sorted(missing)))
    row_keys = _followed(table, [*asked, *_noted(table, interrupted)])
    pairing_ids = _pairing_ids(table, row_keys)
    whole, shared = _messages(table, row_keys, pairing_ids)
    of_rows = {message.coordinates for message in (*whole, *shared)}
    copied = sorted(unread_mentions(table, row_keys) - of_rows)
    return Found(
        asked,
        row_keys,
        _live(table, row_keys),
        whole,
        shared,
        _mentions(table, row_keys),
        [MessageRows(*coordinates) for coordinates in copied],
        pairing_ids,
    )


def are_back(table: ErasedTable, found: Found, with_mentions: bool) -> bool:
    """Return whether a message that landed meanwhile names one of these rows, or mentions it.

    `with_mentions`: mentions were erased too.
    """
    # Only an event, and no message, has the key of a keyless row that is made of two halves.
    return (
        any(
            not _coordinates_of_rows(rows, found.row_keys, found.pairing_ids).isEmpty()
            for rows in (table.records(), table.events())
        )
        or bool(unread_mentions(table, found.row_keys))
        or (with_mentions and bool(_mentions(table, found.row_keys)))
    )


def _keys_in(table: ErasedTable, column: str) -> DataFrame:
    """Return the keys in a column of records and events, as `row_key`."""
    key = F.col(column).alias("row_key")
    return table.records().select(key).union(table.events().select(key))


def _noted(table: ErasedTable, interrupted: Sequence[Note]) -> list[str]:
    """Return the keys of interrupted erasures that records or events still have.

    The messages that led from one key of a row to another may have lost the row already.
    """
    keys = _keys_in(table, "row_key").union(_keys_in(table, "previous_row_key"))
    found: set[str] = set()
    for rows in (note.rows for note in interrupted if note.rows is not None):
        noted = keys.where(rows.has_key(F.col("row_key"))).distinct().collect()
        found |= {row["row_key"] for row in noted}
    return sorted(found)


def _followed(table: ErasedTable, asked: Sequence[str]) -> list[str]:
    """Return the keys, and the other keys of their rows, as far as messages name them.

    A row gets another key by a change of its key, or by a change of the key of its table.
    """
    records = table.records()
    found = new = list(dict.fromkeys(asked))
    while new:
        is_of_new = F.col("old_key").isin(new) | F.col("new_key").isin(new)
        pairs = _key_changes(table).where(is_of_new).distinct().collect()
        keys = {key for pair in pairs for key in pair}
        keys |= other_keys(records, new)
        new = sorted(keys - set(found))
        found = [*found, *new]
    return found


def _key_changes(table: ErasedTable) -> DataFrame:
    """Return `old_key` and `new_key` of each change of a key, from one event or from two."""
    pairs = table.rows_of("int_split_key_changes")
    in_one_event = (
        table.events()
        .where("previous_row_key <> row_key")
        .select(F.col("previous_row_key").alias("old_key"), F.col("row_key").alias("new_key"))
    )
    return in_one_event.union(pairs.select("old_key", "new_key"))


def _pairing_ids(table: ErasedTable, row_keys: Sequence[str]) -> list[str]:
    """Return the `pairing_id` of the split updates of rows with these keys.

    A half may name only a part of the row. The event that both halves make has the key of the
    marts. For a keyless row, this key has the columns of both halves.
    """
    halves = [
        rows.where(has_key(row_keys)).select("pairing_id")
        for rows in (table.records(), table.events())
    ]
    found = halves[0].union(halves[1]).where("pairing_id is not null").distinct().collect()
    return sorted(row["pairing_id"] for row in found)


def _coordinates_of_rows(
    rows: DataFrame, row_keys: Sequence[str], pairing_ids: Sequence[str]
) -> DataFrame:
    """Return the coordinates of records or events with these keys, or of these updates."""
    columns = (*COORDINATES, "row_index")
    halves = local_rows(rows.sparkSession, [(id_,) for id_ in pairing_ids], _PAIRING_ID)
    of_updates = rows.join(F.broadcast(halves), "pairing_id", "left_semi")
    return rows.where(has_key(row_keys)).select(*columns).union(of_updates.select(*columns))


def _messages(
    table: ErasedTable, row_keys: Sequence[str], pairing_ids: Sequence[str]
) -> tuple[list[MessageRows], list[MessageRows]]:
    """Return messages with only these rows, and messages that have other rows too."""
    of_rows = _coordinates_of_rows(table.records(), row_keys, pairing_ids)
    rows_of_messages = of_rows.groupBy(*COORDINATES).agg(F.collect_set("row_index").alias("rows"))
    in_messages = (
        table.session.table(table.staging)
        .where(F.col("record_type").isin(*ROW_RECORDS))
        .join(rows_of_messages, list(COORDINATES))
        .groupBy(*COORDINATES, "rows")
        .agg(F.count("*").alias("count"))
        .collect()
    )
    whole: list[MessageRows] = []
    shared: list[MessageRows] = []
    for topic, partition, offset, rows, count in in_messages:
        if count > len(rows):
            shared.append(MessageRows(topic, partition, offset, tuple(rows)))
        else:
            whole.append(MessageRows(topic, partition, offset))
    return whole, shared


def _mentions(table: ErasedTable, row_keys: Sequence[str]) -> list[MessageRows]:
    """Return quarantined messages and statements whose text has all values of a key.

    Statements that change tables stay, because they are not about rows.
    """
    text = F.coalesce("ddl_text", F.decode("value", "ISO-8859-1"))
    is_mention = has_values_of(text, row_keys)
    if is_mention is None:
        return []
    changes_no_table = (F.col("record_type") == "ddl") & F.col("table_changes").isNull()
    names_no_row = F.col("record_type").isin("rejected", "transaction") | changes_no_table
    staged = table.session.table(table.staging).where(names_no_row & text.isNotNull())
    mentions = staged.where(is_mention).select(*COORDINATES).distinct().collect()
    return [MessageRows(*coordinates) for coordinates in mentions]


def _live(table: ErasedTable, row_keys: Sequence[str]) -> list[str]:
    try:
        rows = table.rows_of("latest_state")
    except AnalysisException as error:
        if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
            return []
        raise
    live = rows.where(F.col("row_key").isin(list(row_keys)))
    return sorted(row["row_key"] for row in live.select("row_key").collect())


def _no_such_rows(table: ErasedTable, missing: Sequence[str]) -> str:
    relations = table.relations
    of_rows = table.session.table(table.staging).where(F.col("record_type").isin(*ROW_RECORDS))
    names = [row["table_id"] for row in of_rows.select("table_id").distinct().collect()]
    if table.table_id not in names:
        return no_such_table(table.source_format, table.table_id, names, relations)
    [columns] = table.records().select("key_columns").limit(1).collect()
    shown = ",".join(f"{json.dumps(name, ensure_ascii=False)}:…" for name in columns[0])
    form = f"{{{printable(shown)}}}" if shown else "the whole row, because the table has no key"
    return (
        f"No message that was read names a row {', '.join(map(printable, missing))} of"
        f" {printable(table.table_id)}. Give a key as the column row_key of"
        f" {relations.model('latest_state')} or"
        f" {relations.model('change_events')} has it: {form}."
    )
