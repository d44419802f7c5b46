"""Messages of Canal about one table, `shop.orders`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.python.harness.project import Landed


def change(
    offset: int,
    type_: str,
    row: Mapping[str, str | None],
    key: Sequence[str] | None = ("id",),
    partition: int = 0,
) -> Landed:
    """A change of the row with this key. The offset also gives its time, in all partitions."""
    types = dict.fromkeys(row, "varchar(20)")
    message = _message(offset, type=type_, pkNames=key, mysqlType=types, data=[row])
    return replace(message, partition=partition)


def statement(offset: int, text: str) -> Landed:
    return _message(offset, type="ALTER", isDdl=True, sql=text)


def _message(offset: int, **of_its_kind: Any) -> Landed:
    time = 1_760_000_000_000 + offset * 1000
    message = {
        "database": "shop",
        "table": "orders",
        "isDdl": False,
        "es": time,
        "ts": time,
        **of_its_kind,
    }
    return Landed("shop", offset, json.dumps(message).encode())
