"""What happens in a source database, before any format encodes it.

An encoder of a format turns these into the messages of that format:
`encode(change, …variant…) -> list[Message]`, empty where the format has no word for it.

Values of a row are plain Python: int, str, bool, bytes, Decimal, datetime (UTC, naive), None.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]

#: Types of columns, as far as formats make a difference of them.
TYPES = ("long", "text", "decimal", "boolean", "bytes", "timestamp")

SNAPSHOT, INSERT, UPDATE, DELETE = "snapshot", "insert", "update", "delete"

#: How long the producer took from the change to its message, in milliseconds.
_PUBLISHING = 731


@dataclass(frozen=True)
class Message:
    """What a format's producer hands to the queue; a value of None is a tombstone."""

    value: bytes | None
    key: bytes | None = None


@dataclass(frozen=True)
class Table:
    """A source table.  A keyless one has an empty `key`."""

    name: str
    #: Column -> one of `TYPES`.
    columns: Mapping[str, str]
    key: tuple[str, ...] = ()
    database: str = "shop"
    #: Null where the kind of database has no schemas.
    schema: str | None = None
    #: The key where only the project's settings name it.
    declared_key: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that identify a row, whether or not messages name them."""
        return self.key or self.declared_key


@dataclass(frozen=True)
class Place:
    """Where a change stands in the log of its source, and when it was made."""

    #: Rises along the log; one transaction's changes have one after another.
    position: int
    #: Epoch milliseconds.
    made_at: int
    transaction: str = "1"
    #: Which of the transaction's changes this is, from 1, and how many there are.
    index: int = 1
    size: int = 1

    @property
    def published_at(self) -> int:
        return self.made_at + _PUBLISHING

    @property
    def first_position(self) -> int:
        """The position of the transaction's first change."""
        return self.position - self.index + 1


@dataclass(frozen=True)
class RowChange:
    """One row, snapshot, inserted, updated or deleted.  Images are always given in full."""

    kind: str
    table: Table
    place: Place
    before: Row | None = None
    after: Row | None = None
    #: Columns whose values the log does not have: unchanged ones of an update.
    unavailable: frozenset[str] = frozenset()
    #: Where the row lies in its source, which stays when its key changes; null: no matter.
    row_id: str | None = None

    @property
    def is_key_change(self) -> bool:
        return self.kind == UPDATE and key_of(self.table, self.before) != key_of(
            self.table, self.after
        )

    @property
    def logged_before(self) -> Row | None:
        return _without(self.before, self.unavailable)

    @property
    def logged_after(self) -> Row | None:
        return _without(self.after, self.unavailable)

    @property
    def changed_columns(self) -> list[str]:
        """Columns of an update whose values differ, or that only one of its rows has."""
        names = dict.fromkeys([*(self.before or {}), *(self.after or {})])
        return [name for name in names if _has(self.before, name) != _has(self.after, name)]


@dataclass(frozen=True)
class Statement:
    """One statement that changed several rows of a table in one way."""

    rows: tuple[RowChange, ...]


@dataclass(frozen=True)
class Ddl:
    """A schema change.

    Kinds: create, replace, alter, drop_column, rename_column, rename, truncate, drop,
    drop_temporary (of a table that only a session has), drop_database, query (of another kind).
    """

    kind: str
    table: Table
    place: Place
    statement: str
    #: The tables that the statement is of besides.
    more_tables: tuple[Table, ...] = ()
    #: What the session was in, where that is not the table's: an empty name is no table.
    named_as: Table | None = None
    #: The column that it drops or renames.
    column: str | None = None
    #: Of a kind that may change rows without any message: whoever reads it has to warn.  The tables
    #: that it names are `tables`; null: it is no such statement.
    warns_of: tuple[Table, ...] | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        return (self.table, *self.more_tables)

    @property
    def named(self) -> Table:
        """The table that the envelope names."""
        return self.named_as or self.table

    @property
    def is_truncation(self) -> bool:
        return self.kind in ("truncate", "drop", "replace", "drop_database")


@dataclass(frozen=True)
class Transaction:
    """A transaction's begin, commit or rollback, which are also its kinds."""

    kind: str
    place: Place
    database: str = "shop"


@dataclass(frozen=True)
class Heartbeat:
    """Nothing happened, and the producer is alive."""

    place: Place


Change: TypeAlias = RowChange | Statement | Ddl | Transaction | Heartbeat


def one_by_one(changes: list[Change]) -> list[Change]:
    """The changes with a statement's rows on their own: most formats know no statements."""
    return [
        single
        for change in changes
        for single in (change.rows if isinstance(change, Statement) else (change,))
    ]


def key_of(table: Table, row: Row | None) -> dict[str, Any] | None:
    """The key columns of a row; null for a keyless table."""
    return {name: row[name] for name in table.key} if table.key and row is not None else None


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8, as producers write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def without(columns: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The columns, of a row or a table, but those of these names."""
    return {name: columns[name] for name in columns if name not in names}


def instant(millis: int) -> dt.datetime:
    """Epoch milliseconds -> naive datetime in UTC, exact."""
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=millis)


def epoch_millis(moment: dt.datetime) -> int:
    """Naive datetime in UTC -> epoch milliseconds, rounded down."""
    return (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1)


def _without(row: Row | None, names: frozenset[str]) -> Row | None:
    return None if row is None else without(row, names)


def _has(row: Row | None, name: str) -> tuple[bool, Any]:
    return (name in row, row.get(name)) if row is not None else (False, None)
