"""The shop: one day of a small shop's database, which all nine formats tell.

It ends with the same rows in every format, as far as the format has words for them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
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

#: Larger than 2^53: it is another number once it has been through a double.
RENUMBERED_ORDER = 9007199254740993

_OPENED = dt.datetime(2024, 3, 1, 8, 0)
#: The day starts here in the log, with positions that no double holds.
_FIRST_POSITION = 1_709_280_000_000_000_000
_BETWEEN_TRANSACTIONS = 90_000
_BETWEEN_CHANGES = 7

_COLUMNS = {
    "customers": {
        "id": "long",
        "name": "text",
        "email": "text",
        "is_vip": "boolean",
        "created_at": "timestamp",
    },
    "orders": {
        "id": "long",
        "customer_id": "long",
        "status": "text",
        "amount": "decimal",
        "note": "text",
        "ordered_at": "timestamp",
    },
    "payments": {
        "order_id": "long",
        "number": "long",
        "method": "text",
        "terminal": "text",
        "amount": "decimal",
        "paid_at": "timestamp",
    },
}
_KEYS = {"customers": ("id",), "orders": ("id",), "payments": ("order_id", "number")}


@dataclass(frozen=True)
class Source:
    """What the database of a format is like, and what the format has words for."""

    database: str = "shop"
    schema: str | None = None
    #: How it spells its names.
    spelled: Callable[[str], str] = str.lower
    #: Without a word for TRUNCATE the shop deletes row by row.
    has_truncate: bool = True
    #: Where a key can't change, the row is deleted and inserted under its new key.
    has_key_changes: bool = True
    #: A topic that keeps the columns it was made with: added ones are not in it, dropped ones NULL.
    has_fixed_columns: bool = False


class Shop:
    """The shop's database: every statement changes its rows and goes to its log."""

    def __init__(self, source: Source) -> None:
        self.log: list[Change] = []
        #: Changes that the queue got a second time.
        self.redelivered: list[Change] = []
        self._source = source
        self._columns: dict[str, Mapping[str, str]] = dict(_COLUMNS)
        self._rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _COLUMNS}
        self._position = _FIRST_POSITION
        self._now = epoch_millis(_OPENED)
        self._transaction = 57227594
        self._open: list[Change] | None = None

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows that the table has now, as the format tells them, in the order of their keys."""
        rows = [self._told(table, row) for row in self._rows[table]]
        return sorted(rows, key=lambda row: [row[name] for name in _KEYS[table]])

    def column_types(self, table: str) -> Mapping[str, str]:
        """The columns that the table has now, as the format tells them."""
        return self._told_columns(table)

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
            before, after = self._updated(table, _key(table, row), values)
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
                self.delete(table, _key(table, row))

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
            None if before is None else self._spelled(self._told(table, before)),
            None if after is None else self._spelled(self._told(table, after)),
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
            columns=self._spelled(self._told_columns(name)),
            key=tuple(map(spelled, _KEYS[name])),
            database=self._source.database,
            schema=self._source.schema,
        )

    def _told_columns(self, table: str) -> Mapping[str, str]:
        return (_COLUMNS if self._source.has_fixed_columns else self._columns)[table]

    def _told(self, table: str, row: dict[str, Any]) -> dict[str, Any]:
        return {name: row.get(name) for name in self._told_columns(table)}

    def _spelled(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        return {self._source.spelled(name): value for name, value in columns.items()}

    def _row(self, table: str, key: tuple[int, ...]) -> dict[str, Any]:
        return next(row for row in self._rows[table] if _key(table, row) == key)

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


def _key(table: str, row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(row[name] for name in _KEYS[table])


def _without(columns: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {column: value for column, value in columns.items() if column != name}


def _row_count(change: Change) -> int:
    return len(change.rows) if isinstance(change, Statement) else isinstance(change, RowChange)


# -- the story -------------------------------------------------------------------------------


def day_of(source: Source) -> Shop:
    """The shop at the end of its day."""
    shop = Shop(source)
    _opening(shop)
    _morning(shop)
    _noon(shop)
    _evening(shop)
    return shop


def _opening(shop: Shop) -> None:
    """The full load: what the shop had when the capture began."""
    shop.wait_until(_at(0, 0))
    shop.snapshot("customers", **_customer(1, "Ada O'Neill", "ada@example.com", True, _at(-3, 1)))
    shop.snapshot("customers", **_customer(2, "李雷", "lilei@example.com", False, _at(-3, 2)))
    shop.snapshot("customers", **_customer(3, 'Zoë "Zed" Müller', None, False, _at(-3, 3)))
    note = "ring twice,\nthen leave it at C:\\door"
    shop.snapshot("orders", **_order(101, 1, "129.90", note, _at(-1, 1)))
    note = "gift: 🎁 “née”\u2028second line"
    shop.snapshot("orders", **_order(102, 2, "8.05", note, _at(-1, 2)))
    shop.snapshot("payments", **_payment(101, 1, "card", "100.00", _at(-1, 30)), terminal="T1")
    shop.heartbeat()


def _morning(shop: Shop) -> None:
    """A new customer, orders on their way, one given up, one that gets another number."""
    shop.wait_until(_at(1, 0))
    with shop.transaction():
        shop.insert("customers", **_customer(4, "Grace", "grace@example.com", False, _at(1, 0)))
        shop.insert("orders", **_order(103, 4, "42.00", "null", _at(1, 1)))
    shop.update("orders", (101,), status="packed")
    shop.update("customers", (2,), email="li.lei@example.com")
    shop.redeliver()
    with shop.transaction():
        shop.insert("payments", **_payment(102, 1, "cash", "8.05", _at(1, 5)), terminal=None)
        shop.update("orders", (102,), unavailable=("note",), status="paid")
    shop.insert("orders", **_order(104, 1, "1000.00", "a long text that stays", _at(1, 7)))
    shop.update("orders", (104,), unavailable=("note",), id=RENUMBERED_ORDER)
    shop.delete("orders", (103,))
    shop.delete("customers", (3,))
    shop.roll_back()
    shop.update("customers", (2,), email=None)
    shop.update("orders", (RENUMBERED_ORDER,), amount=Decimal("999.99"))
    shop.heartbeat()


def _noon(shop: Shop) -> None:
    """Orders get a column, payments lose one and are emptied."""
    shop.wait_until(_at(4, 0))
    shop.add_column("orders", "channel", "text", "varchar(20)")
    shop.update_all("orders", channel="web")
    shop.update("orders", (102,), channel="store")
    shop.drop_column("payments", "terminal")
    shop.truncate("payments")


def _evening(shop: Shop) -> None:
    """Payments are entered anew, and a customer who had gone is back."""
    shop.wait_until(_at(9, 0))
    with shop.transaction():
        shop.insert("payments", **_payment(101, 1, "card", "100.00", _at(9, 0)))
        shop.insert("payments", **_payment(101, 2, "cash", "29.90", _at(9, 1)))
        shop.insert("payments", **_payment(102, 1, "cash", "8.05", _at(9, 1)))
    shop.insert("customers", **_customer(3, "Zoë Müller", "zoe@example.com", True, _at(9, 2)))
    shop.update("orders", (101,), status="shipped", note='sent as "fragile"')
    shop.update("payments", (101, 2), method="card")
    shop.delete("payments", (102, 1))
    shop.heartbeat()


def final_rows() -> dict[str, list[dict[str, Any]]]:
    """What the shop's tables hold at the end of its day."""
    return {
        "customers": [
            _customer(1, "Ada O'Neill", "ada@example.com", True, _at(-3, 1)),
            _customer(2, "李雷", None, False, _at(-3, 2)),
            _customer(3, "Zoë Müller", "zoe@example.com", True, _at(9, 2)),
            _customer(4, "Grace", "grace@example.com", False, _at(1, 0)),
        ],
        "orders": [
            {
                **_order(101, 1, "129.90", 'sent as "fragile"', _at(-1, 1)),
                "status": "shipped",
                "channel": "web",
            },
            {
                **_order(102, 2, "8.05", "gift: 🎁 “née”\u2028second line", _at(-1, 2)),
                "status": "paid",
                "channel": "store",
            },
            {
                **_order(RENUMBERED_ORDER, 1, "999.99", "a long text that stays", _at(1, 7)),
                "channel": "web",
            },
        ],
        "payments": [
            _payment(101, 1, "card", "100.00", _at(9, 0)),
            _payment(101, 2, "card", "29.90", _at(9, 1)),
        ],
    }


def _customer(
    id_: int, name: str, email: str | None, is_vip: bool, created_at: dt.datetime
) -> dict[str, Any]:
    return {"id": id_, "name": name, "email": email, "is_vip": is_vip, "created_at": created_at}


def _payment(
    order_id: int, number: int, method: str, amount: str, paid_at: dt.datetime
) -> dict[str, Any]:
    return {
        "order_id": order_id,
        "number": number,
        "method": method,
        "amount": Decimal(amount),
        "paid_at": paid_at,
    }


def _order(
    id_: int, customer_id: int, amount: str, note: str, ordered_at: dt.datetime
) -> dict[str, Any]:
    return {
        "id": id_,
        "customer_id": customer_id,
        "status": "new",
        "amount": Decimal(amount),
        "note": note,
        "ordered_at": ordered_at,
    }


def _at(hours: int, minutes: int) -> dt.datetime:
    """So long after the shop opened."""
    return _OPENED + dt.timedelta(hours=hours, minutes=minutes)
