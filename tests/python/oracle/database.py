"""A real database, SQLite in memory, whose triggers write the log that producers publish.

What its tables hold is what `select` says: nothing here keeps rows of its own.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any

from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Heartbeat,
    Place,
    RowChange,
    Statement,
    Table,
    Transaction,
)
from tests.python.oracle.traits import (
    BY_ADDRESS,
    BY_HIDDEN_COLUMN,
    BY_ITSELF,
    BY_MESSAGE,
    BY_SETTING,
)

#: The log starts here, with positions that no double holds.
_FIRST_POSITION = 1_709_280_000_000_000_000
_FIRST_TRANSACTION = 57_227_594
_FIRST_MOMENT = 1_709_280_000_000
#: In milliseconds, and longer than a step of any clock.
_BETWEEN_TRANSACTIONS = (2_000, 90_000)
_BETWEEN_CHANGES = (1, 20)
_NOWHERE = Place(0, 0)

_SQL_TYPES = {"long": "integer", "boolean": "integer", "bytes": "blob"}
_READ: dict[str, Callable[[Any], Any]] = {
    "decimal": Decimal,
    "boolean": bool,
    "timestamp": dt.datetime.fromisoformat,
}

#: Kind of database -> the column that its tables without a key get.
HIDDEN_COLUMNS = {"MySQL": "__#alibaba_rds_row_id#__", "Oracle": "rowid"}

Row = dict[str, Any]
#: (address, row)
Stored = tuple[int, Row]
#: Columns of a change that the log does not have, by kind, row before and row after.
Unlogged = Callable[[str, Row | None, Row | None], frozenset[str]]


@dataclass
class SourceTable:
    """A table and how its rows are known; its name and columns are in the database's spelling."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]
    known_by: str
    database: str
    schema: str | None
    #: The column that the source adds to a table without a key.
    hidden_column: str | None = None
    #: Messages name the columns of the key in no order, so that they come sorted.
    is_key_unordered: bool = False
    #: Columns that came later, or that an insert left out: of some rows no message has them.
    added: set[str] = field(default_factory=set)
    #: The same of earlier tables of the name, whose rows have versions.
    added_before: set[str] = field(default_factory=set)
    #: A column is gone, and no message has shown it yet.
    is_version_unpublished: bool = False
    #: Columns that are unique each, of which now these, now those are the key, or none.
    unique_columns: tuple[str, ...] = ()

    @property
    def is_keyless(self) -> bool:
        return self.known_by == BY_ITSELF

    @property
    def fixed_columns(self) -> tuple[str, ...]:
        """Columns that only a change of a key changes."""
        return self.unique_columns or self.key

    @property
    def needed_columns(self) -> set[str | None]:
        """Columns that every image has."""
        return {*self.fixed_columns, self.hidden_column}

    def published(self) -> Table:
        """As messages describe it."""
        hidden = {self.hidden_column: "long"} if self.hidden_column else {}
        return Table(
            self.name,
            {**self.columns, **hidden},
            self.key if self.known_by == BY_MESSAGE else (),
            self.database,
            self.schema,
            self.key if self.known_by == BY_SETTING else (),
        )

    def published_row(self, stored: Stored) -> Row:
        address, row = stored
        return row | ({self.hidden_column: address} if self.hidden_column else {})

    @property
    def published_key(self) -> tuple[str, ...]:
        """The columns of the key in the order that the marts have."""
        is_sorted = self.is_key_unordered and self.known_by == BY_MESSAGE
        return tuple(sorted(self.key)) if is_sorted else self.key

    def identity(self, row: Mapping[str, Any], address: str | None) -> Any:
        """By what a row is one and the same while it changes; null in a keyless table."""
        if self.known_by in (BY_MESSAGE, BY_SETTING):
            return tuple(row[name] for name in self.published_key)
        if self.known_by == BY_HIDDEN_COLUMN:
            return (row[self.hidden_column],)
        return (address,) if self.known_by == BY_ADDRESS else None


class SourceDatabase:
    """Tables in SQLite, and the log of what happened to them."""

    def __init__(self, random: Random, is_coarse: bool, name: str) -> None:
        """`is_coarse`: the changes of a transaction have one time."""
        self.tables: dict[str, SourceTable] = {}
        self.log: list[Change] = []
        #: Positions of the changes that are the first to show that a column is gone.
        self.version_positions: set[int] = set()
        self._name = name
        self._random = random
        self._is_coarse = is_coarse
        self._position = _FIRST_POSITION
        self._transaction = _FIRST_TRANSACTION
        self._now = _FIRST_MOMENT
        self._changes: list[Change] = []
        self._rows: list[RowChange] = []
        self._unlogged: Unlogged = _all_logged
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.create_function("log_row", -1, self._log_row)

    # -- what it holds -----------------------------------------------------------------------

    def stored(self, table: SourceTable) -> list[Stored]:
        columns = ", ".join(map(_quoted, table.columns))
        rows = self._connection.execute(
            f"select rowid, {columns} from {_quoted(table.name)} order by rowid"
        )
        return [(address, _read_row(table.columns, values)) for address, *values in rows]

    # -- statements --------------------------------------------------------------------------

    def create(self, table: SourceTable, rows: Sequence[Row] = ()) -> None:
        """A table with the rows that it has before anybody listens to the log."""
        columns = ", ".join(
            f"{_quoted(name)} {_SQL_TYPES.get(type_, 'text')}"
            for name, type_ in table.columns.items()
        )
        self._connection.execute(f"create table {_quoted(table.name)} ({columns})")
        self.tables[table.name] = table
        for row in rows:
            self._connection.execute(*_insertion(table, [row]))
        self._listen(table)

    def full_load(self, table: SourceTable) -> None:
        published = table.published()
        loaded = [
            RowChange(
                SNAPSHOT,
                published,
                _NOWHERE,
                None,
                table.published_row(stored),
                row_id=row_id(stored[0]),
            )
            for stored in self.stored(table)
        ]
        self._write(loaded)

    def insert(
        self, table: SourceTable, rows: Sequence[Row], unlogged: Unlogged | None = None
    ) -> None:
        self._execute(*_insertion(table, rows), unlogged)

    def update(
        self,
        table: SourceTable,
        addresses: Sequence[int],
        values: Row,
        unlogged: Unlogged | None = None,
    ) -> None:
        settings = ", ".join(f"{_quoted(name)} = ?" for name in values)
        self._execute(
            f"update {_quoted(table.name)} set {settings} where {_among(addresses)}",
            list(map(_written, values.values())),
            unlogged,
        )

    def delete(
        self, table: SourceTable, addresses: Sequence[int], unlogged: Unlogged | None = None
    ) -> None:
        self._execute(f"delete from {_quoted(table.name)} where {_among(addresses)}", [], unlogged)

    def update_unheard(self, table: SourceTable, address: int, values: Row) -> None:
        """Before anybody listens to the log."""
        settings = ", ".join(f"{_quoted(name)} = ?" for name in values)
        with self._unheard(table):
            self._connection.execute(
                f"update {_quoted(table.name)} set {settings} where {_among([address])}",
                list(map(_written, values.values())),
            )

    def truncate(
        self, tables: Sequence[SourceTable], statement: str, named_as: Table | None = None
    ) -> None:
        for table in tables:
            with self._unheard(table):
                self._connection.execute(f"delete from {_quoted(table.name)}")
        self._write([self._ddl("truncate", tables, statement, named_as)])

    def drop(
        self,
        tables: Sequence[SourceTable],
        statement: str,
        named_as: Table | None = None,
        kind: str = "drop",
    ) -> None:
        for table in tables:
            self._connection.execute(f"drop table {_quoted(table.name)}")
            del self.tables[table.name]
        self._write([self._ddl(kind, tables, statement, named_as)])

    def drop_temporary(self, table: SourceTable, statement: str) -> None:
        """A table that only the session has, of the same name."""
        self._write([self._ddl("drop_temporary", [table], statement)])

    def pass_over(
        self, kind: str, table: SourceTable, statement: str, warns_of: Sequence[SourceTable] | None
    ) -> None:
        """A statement that changes nothing; null: of a kind that never does."""
        ddl = self._ddl(kind, [table], statement)
        published = None if warns_of is None else tuple(named.published() for named in warns_of)
        self._write([replace(ddl, warns_of=published)])

    def recreate(self, table: SourceTable) -> None:
        self.create(table)
        self._write([self._ddl("create", [table], f"create table {table.name} (...)")])

    def replace(self, table: SourceTable, statement: str, named_as: Table | None = None) -> None:
        self._connection.execute(f"drop table {_quoted(table.name)}")
        self.create(table)
        self._write([self._ddl("replace", [table], statement, named_as)])

    def add_column(self, table: SourceTable, name: str, type_: str, statement: str) -> None:
        sql_type = _SQL_TYPES.get(type_, "text")
        with self._unheard(table):
            self._connection.execute(
                f"alter table {_quoted(table.name)} add column {_quoted(name)} {sql_type}"
            )
            table.columns = {**table.columns, name: type_}
            table.added.add(name)
        self._write([self._ddl("alter", [table], statement)])

    def drop_column(
        self, table: SourceTable, name: str, statement: str, is_published: bool
    ) -> None:
        """`is_published`: messages have the statement, else a row shows that the column is gone."""
        with self._unheard(table):
            self._connection.execute(
                f"alter table {_quoted(table.name)} drop column {_quoted(name)}"
            )
            table.columns = {c: type_ for c, type_ in table.columns.items() if c != name}
            table.is_version_unpublished = not is_published
        self._write([self._ddl("drop_column", [table], statement, column=name)])

    def rename_column(self, table: SourceTable, name: str, to: str, statement: str) -> None:
        with self._unheard(table):
            self._connection.execute(
                f"alter table {_quoted(table.name)} rename column {_quoted(name)} to {_quoted(to)}"
            )
            table.columns = {to if c == name else c: t for c, t in table.columns.items()}
        self._write([self._ddl("rename_column", [table], statement, column=name)])

    def change_key(
        self,
        table: SourceTable,
        key: tuple[str, ...],
        known_by: str,
        hidden_column: str | None,
        statement: str,
    ) -> None:
        table.key, table.known_by, table.hidden_column = key, known_by, hidden_column
        self._write([self._ddl("alter", [table], statement)])

    def heartbeat(self) -> None:
        self._write([Heartbeat(_NOWHERE)])

    @contextmanager
    def transaction(self, commits: bool = True) -> Iterator[None]:
        """Keys are checked at its end, as deferred constraints are."""
        self._connection.execute("begin")
        yield
        if commits:
            for table in self.tables.values():
                self._check_key(table)
            ending, rows = "commit", self._changes
        else:
            ending, rows = "rollback", []
        self._connection.execute(ending)
        self._changes = []
        self._write(
            [
                Transaction("begin", _NOWHERE, self._name),
                *rows,
                Transaction(ending, _NOWHERE, self._name),
            ]
        )

    # -- the log -----------------------------------------------------------------------------

    def _execute(self, statement: str, values: list[Any], unlogged: Unlogged | None = None) -> None:
        """One statement within a transaction."""
        self._rows, self._unlogged = [], unlogged or _all_logged
        self._connection.execute(statement, values)
        if len(self._rows) == 1:
            self._changes += self._rows
        elif self._rows:
            self._changes.append(Statement(tuple(self._rows)))

    def _log_row(self, name: str, kind: str, address: int, *values: Any) -> None:
        """What the triggers call, once a row."""
        table = self.tables[name]
        size = len(table.columns)
        images = [_read_row(table.columns, values[:size]), _read_row(table.columns, values[size:])]
        before, after = {
            INSERT: (None, images[0]),
            DELETE: (images[0], None),
            UPDATE: tuple(images),
        }[kind]
        self._rows.append(
            RowChange(
                kind,
                table.published(),
                _NOWHERE,
                before and table.published_row((address, before)),
                after and table.published_row((address, after)),
                self._unlogged(kind, before, after),
                row_id=row_id(address),
            )
        )

    def _listen(self, table: SourceTable) -> None:
        old = [f"old.{_quoted(name)}" for name in table.columns]
        new = [f"new.{_quoted(name)}" for name in table.columns]
        for kind, columns in ((INSERT, new), (UPDATE, old + new), (DELETE, old)):
            side = "new" if kind == INSERT else "old"
            arguments = ", ".join([_literal(table.name), f"'{kind}'", f"{side}.rowid", *columns])
            self._connection.execute(
                f"create trigger {_trigger(kind, table)} after {kind} on {_quoted(table.name)}"
                f" begin select log_row({arguments}); end"
            )

    @contextmanager
    def _unheard(self, table: SourceTable) -> Iterator[None]:
        for kind in (INSERT, UPDATE, DELETE):
            self._connection.execute(f"drop trigger {_trigger(kind, table)}")
        yield
        self._listen(table)

    def _check_key(self, table: SourceTable) -> None:
        if table.key:
            columns = ", ".join(map(_quoted, table.key))
            twice = self._connection.execute(
                f"select {columns} from {_quoted(table.name)}"
                f" group by {columns} having count(*) > 1"
            ).fetchall()
            assert not twice, f"{table.name} has keys twice: {twice}"

    def _ddl(
        self,
        kind: str,
        tables: Sequence[SourceTable],
        statement: str,
        named_as: Table | None = None,
        column: str | None = None,
    ) -> Ddl:
        first, *more = (table.published() for table in tables)
        return Ddl(kind, first, _NOWHERE, statement, tuple(more), named_as, column)

    def _write(self, changes: Sequence[Change]) -> None:
        """Gives the changes of one transaction their places, and writes them to the log."""
        self._now += self._random.randint(*_BETWEEN_TRANSACTIONS)
        self._position += self._random.randint(0, 5)
        self._transaction += 1
        size = sum(map(_row_count, changes))
        index = 0

        def place(is_row: bool) -> Place:
            nonlocal index
            self._position += 1
            index += is_row
            return Place(self._position, self._now, str(self._transaction), index or 1, size or 1)

        for change in changes:
            self._now += 0 if self._is_coarse else self._random.randint(*_BETWEEN_CHANGES)
            if isinstance(change, Statement):
                rows = tuple(replace(row, place=place(True)) for row in change.rows)
                self._note_version(rows[0])
                self.log.append(Statement(rows))
            else:
                placed = replace(change, place=place(isinstance(change, RowChange)))
                if isinstance(placed, RowChange):
                    self._note_version(placed)
                self.log.append(placed)

    def _note_version(self, change: RowChange) -> None:
        table = self.tables.get(change.table.name)
        if table is not None and table.is_version_unpublished:
            table.is_version_unpublished = False
            self.version_positions.add(change.place.position)


def identifying_columns(table: Table) -> tuple[str, ...]:
    """By what rows are known at the time of a change; none in a keyless table."""
    return table.identity or tuple(n for n in HIDDEN_COLUMNS.values() if n in table.columns)


def _all_logged(*_: Any) -> frozenset[str]:
    return frozenset()


def _row_count(change: Change) -> int:
    return len(change.rows) if isinstance(change, Statement) else isinstance(change, RowChange)


def row_id(address: int) -> str:
    """An address as Oracle writes it."""
    return f"AAAR3sAAEAAAA{address:05d}"


def _read_row(columns: Mapping[str, str], values: Sequence[Any]) -> Row:
    return {
        name: None if value is None else _READ.get(type_, _as_it_is)(value)
        for (name, type_), value in zip(columns.items(), values, strict=False)
    }


def _as_it_is(value: Any) -> Any:
    return value


def _written(value: Any) -> Any:
    match value:
        case dt.datetime():
            return value.isoformat(sep=" ")
        case Decimal():
            return str(value)
    return value


def _insertion(table: SourceTable, rows: Sequence[Row]) -> tuple[str, list[Any]]:
    columns = ", ".join(map(_quoted, table.columns))
    places = ", ".join(["(" + ", ".join("?" * len(table.columns)) + ")"] * len(rows))
    values = [_written(row[name]) for row in rows for name in table.columns]
    return f"insert into {_quoted(table.name)} ({columns}) values {places}", values


def _among(addresses: Sequence[int]) -> str:
    return f"rowid in ({', '.join(map(str, addresses))})"


def _trigger(kind: str, table: SourceTable) -> str:
    return _quoted(f"{kind} of {table.name}")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
