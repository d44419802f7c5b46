"""A source database in small: statements change its rows and go to its log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
    epoch_millis,
)

#: The log starts here, with positions that no double holds.
_FIRST_POSITION = 1_709_280_000_000_000_000
_FIRST_TRANSACTION = 57_227_594
#: In milliseconds.
_BETWEEN_TRANSACTIONS = 90_000
_BETWEEN_CHANGES = 7


@dataclass(frozen=True)
class Source:
    """What the database of a format is like, and what the format has words for."""

    database: str = "shop"
    schema: str | None = None
    #: How it spells its names.
    spelled: Callable[[str], str] = str.lower
    #: Without a word for TRUNCATE the rows are deleted one by one.
    has_truncate: bool = True
    #: Where a key can't change, a row is deleted and inserted under its new key.
    has_key_changes: bool = True
    #: A topic that keeps the columns it was made with: added ones are not in it, dropped ones NULL.
    has_fixed_columns: bool = False


class Database:
    """Tables (name -> column -> type) with their keys, their rows, and the log of what was done."""

    def __init__(
        self,
        source: Source,
        columns: Mapping[str, Mapping[str, str]],
        keys: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.log: list[Change] = []
        #: Changes that the queue got a second time.
        self.redelivered: list[Change] = []
        self._source = source
        self._first_columns = columns
        self._columns = dict(columns)
        self._keys = keys
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in columns}
        self._position = _FIRST_POSITION
        self._transaction = _FIRST_TRANSACTION
        self._now = 0
        self._open: list[Change] | None = None

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows that the table has now, as the format has them, in the order of their keys."""
        rows = [self._published(table, row) for row in self._rows[table]]
        return sorted(rows, key=lambda row: self._key(table, row))

    def column_types(self, table: str) -> Mapping[str, str]:
        """The columns that the table has now, as the format has them."""
        return self._published_columns(table)

    def wait_until(self, moment: dt.datetime) -> None:
        self._now = epoch_millis(moment)

    # -- statements --------------------------------------------------------------------------

    def snapshot(self, table: str, **row: Any) -> None:
        self._rows[table].append(row)
        self._write(self._change(SNAPSHOT, table, after=row))

    def insert(self, table: str, **row: Any) -> None:
        self._rows[table].append(row)
        self._write(self._change(INSERT, table, after=row))

    def update(
        self, table: str, key: tuple[int, ...], unavailable: tuple[str, ...] = (), **values: Any
    ) -> None:
        """`unavailable`: columns that stay and that the log does not have."""
        before, after = self._updated(table, key, values)
        change = self._change(UPDATE, table, before, after, unavailable)
        if change.is_key_change and not self._source.has_key_changes:
            with self.transaction():
                self._write(self._change(DELETE, table, before))
                self._write(self._change(INSERT, table, after=after))
        else:
            self._write(change)

    def update_all(self, table: str, **values: Any) -> None:
        """One statement that changes every row."""
        changes = []
        for row in list(self._rows[table]):
            before, after = self._updated(table, self._key(table, row), values)
            changes.append(self._change(UPDATE, table, before, after))
        self._write(Statement(tuple(changes)))

    def delete(self, table: str, key: tuple[int, ...]) -> None:
        row = self._row(table, key)
        self._rows[table].remove(row)
        self._write(self._change(DELETE, table, row))

    def add_column(self, table: str, name: str, type_: str, sql_type: str) -> None:
        self._columns[table] = {**self._columns[table], name: type_}
        self._rows[table] = [{**row, name: None} for row in self._rows[table]]
        self._write_ddl("alter", table, f"alter table {table} add column {name} {sql_type}")

    def drop_column(self, table: str, name: str) -> None:
        self._columns[table] = _without(self._columns[table], name)
        self._rows[table] = [_without(row, name) for row in self._rows[table]]
        self._write_ddl("drop_column", table, f"alter table {table} drop column {name}")

    def truncate(self, table: str) -> None:
        if self._source.has_truncate:
            self._rows[table].clear()
            self._write_ddl("truncate", table, f"truncate table {table}")
            return
        with self.transaction():
            for row in list(self._rows[table]):
                self.delete(table, self._key(table, row))

    def heartbeat(self) -> None:
        self._write(Heartbeat(_NOWHERE))

    def roll_back(self) -> None:
        """A transaction of which the log has nothing but that it failed."""
        with self.transaction(ends_in="rollback"):
            pass

    @contextmanager
    def transaction(self, ends_in: str = "commit") -> Iterator[None]:
        self._open = [Transaction("begin", _NOWHERE, self._source.database)]
        yield
        changes = [*self._open, Transaction(ends_in, _NOWHERE, self._source.database)]
        self._open = None
        self._log(changes)

    def redeliver(self) -> None:
        """The last change goes to the queue again."""
        self.redelivered.append(self.log[-1])

    # -- the log -----------------------------------------------------------------------------

    def _change(
        self,
        kind: str,
        table: str,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
        unavailable: tuple[str, ...] = (),
    ) -> RowChange:
        spelled = self._source.spelled
        return RowChange(
            kind,
            self._table(table),
            _NOWHERE,
            None if before is None else self._spelled(self._published(table, before)),
            None if after is None else self._spelled(self._published(table, after)),
            frozenset(spelled(name) for name in unavailable),
        )

    def _write_ddl(self, kind: str, table: str, statement: str) -> None:
        self._write(Ddl(kind, self._table(table), _NOWHERE, statement))

    def _write(self, change: Change) -> None:
        if self._open is not None:
            self._open.append(change)
        else:
            self._log([change])

    def _log(self, changes: list[Change]) -> None:
        """Gives the changes of one transaction their places."""
        self._now += _BETWEEN_TRANSACTIONS
        self._transaction += 1
        size = sum(map(_row_count, changes))
        index = 0

        def place(is_row: bool) -> Place:
            nonlocal index
            self._position += 1
            self._now += _BETWEEN_CHANGES
            index += is_row
            return Place(self._position, self._now, str(self._transaction), index or 1, size or 1)

        for change in changes:
            if isinstance(change, Statement):
                placed = [replace(row, place=place(True)) for row in change.rows]
                self.log.append(Statement(tuple(placed)))
            else:
                self.log.append(replace(change, place=place(isinstance(change, RowChange))))

    # -- rows and tables ---------------------------------------------------------------------

    def _table(self, name: str) -> Table:
        spelled = self._source.spelled
        return Table(
            name=spelled(name),
            columns=self._spelled(self._published_columns(name)),
            key=tuple(map(spelled, self._keys[name])),
            database=self._source.database,
            schema=self._source.schema,
        )

    def _published_columns(self, table: str) -> Mapping[str, str]:
        return (self._first_columns if self._source.has_fixed_columns else self._columns)[table]

    def _published(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        return {name: row.get(name) for name in self._published_columns(table)}

    def _spelled(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        return {self._source.spelled(name): value for name, value in columns.items()}

    def _key(self, table: str, row: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(row[name] for name in self._keys[table])

    def _row(self, table: str, key: tuple[int, ...]) -> dict[str, Any]:
        return next(row for row in self._rows[table] if self._key(table, row) == key)

    def _updated(
        self, table: str, key: tuple[int, ...], values: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        before = self._row(table, key)
        after = before | values
        rows = self._rows[table]
        rows[rows.index(before)] = after
        return before, after


#: The place of a change before the log gives it one.
_NOWHERE = Place(0, 0)


def _without(columns: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {column: value for column, value in columns.items() if column != name}


def _row_count(change: Change) -> int:
    return len(change.rows) if isinstance(change, Statement) else isinstance(change, RowChange)
