"""The shop: one day of a small shop's database, as all nine formats publish it.

It ends with the same rows in every format, as far as the format has words for them.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from tests.python.samples.database import Database, Source

#: Larger than 2^53: it is another number once it has been through a double.
RENUMBERED_ORDER = 9007199254740993

_OPENED = dt.datetime(2024, 3, 1, 8, 0)

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


def day_of(source: Source) -> Database:
    """The shop at the end of its day."""
    shop = Database(source, _COLUMNS, _KEYS)
    _opening(shop)
    _morning(shop)
    _noon(shop)
    _evening(shop)
    return shop


def _opening(shop: Database) -> None:
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


def _morning(shop: Database) -> None:
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


def _noon(shop: Database) -> None:
    """Orders get a column, payments lose one and are emptied."""
    shop.wait_until(_at(4, 0))
    shop.add_column("orders", "channel", "text", "varchar(20)")
    shop.update_all("orders", channel="web")
    shop.update("orders", (102,), channel="store")
    shop.drop_column("payments", "terminal")
    shop.truncate("payments")


def _evening(shop: Database) -> None:
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
