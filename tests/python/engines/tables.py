"""The tables of the workload in both databases, and the values that it draws for them."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

_TEXTS = (
    *("", " ", "null", "NULL", "it's", 'say "so"', "back\\slash", "line\nbreak\ttab", "50%_"),
    *("北京 🚚", "naïve", "\u2028", "{}", "__x__"),
)
_STATUSES = ("new", "paid", "shipped")
_FLAGS = ("gift", "rush", "fragile")
_FIRST = dt.datetime(1990, 1, 1)


@dataclass(frozen=True)
class Dialect:
    """How a database writes what the workload does."""

    name: str
    #: kind of column -> its type
    types: dict[str, str]
    escapes_backslashes: bool

    def text(self, value: str) -> str:
        """A text as a literal."""
        quoted = value.replace("'", "''")
        return f"'{quoted}'".replace("\\", "\\\\") if self.escapes_backslashes else f"'{quoted}'"

    def binary(self, value: bytes) -> str:
        """Bytes as a literal."""
        return f"x'{value.hex()}'" if self.escapes_backslashes else f"'\\x{value.hex()}'"

    def value(self, kind: str, rng: random.Random) -> str:
        """A value for a column of this kind, as a literal."""
        if rng.random() < 0.12:
            return "null"
        drawn = _DRAWN[kind](rng)
        if isinstance(drawn, bytes):
            return self.binary(drawn)
        if isinstance(drawn, bool):
            return str(drawn).lower()
        if isinstance(drawn, (int, float, Decimal)):
            return str(drawn)
        return self.text(drawn)


MARIADB = Dialect(
    "MariaDB",
    {
        "big": "bigint",
        "unsigned": "bigint unsigned",
        "int": "int",
        "varchar": "varchar(200)",
        "text": "text",
        "large": "mediumtext",
        "micros": "datetime(6)",
        "millis": "datetime(3)",
        "seconds": "datetime",
        "zoned": "timestamp(6) null",
        "date": "date",
        "time": "time(3)",
        "money": "decimal(18,4)",
        "number": "decimal(38,0)",
        "bool": "tinyint(1)",
        "json": "json",
        "status": f"enum({', '.join(map(repr, _STATUSES))})",
        "flags": f"set({', '.join(map(repr, _FLAGS))})",
        "bytes": "varbinary(64)",
        "single": "float",
        "double": "double",
        "bit": "bit(12)",
        "char": "char(8)",
        "year": "year",
    },
    escapes_backslashes=True,
)

POSTGRES = Dialect(
    "PostgreSQL",
    {
        "big": "bigint",
        "int": "integer",
        "varchar": "varchar(200)",
        "text": "text",
        "large": "text",
        "micros": "timestamp(6)",
        "millis": "timestamp(3)",
        "seconds": "timestamp(0)",
        "zoned": "timestamptz(6)",
        "date": "date",
        "time": "time(3)",
        "money": "numeric(18,4)",
        "number": "numeric(38,0)",
        "bool": "boolean",
        "json": "jsonb",
        "bytes": "bytea",
        "single": "real",
        "double": "double precision",
        "char": "char(8)",
        "uuid": "uuid",
        "texts": "text[]",
    },
    escapes_backslashes=False,
)


def _text(rng: random.Random) -> str:
    return rng.choice(_TEXTS) + rng.choice(["", "", f" {rng.randrange(1000)}"])


def _large(rng: random.Random) -> str:
    """Text that PostgreSQL keeps outside of the row, where it is long enough."""
    return rng.randbytes(rng.choice([10, 1500, 3000])).hex()


def _moment(digits: int) -> Callable[[random.Random], str]:
    def draw(rng: random.Random) -> str:
        moment = _FIRST + dt.timedelta(seconds=rng.randrange(1_400_000_000))
        fraction = f".{rng.randrange(10**digits):0{digits}}" if digits else ""
        return f"{moment:%Y-%m-%d %H:%M:%S}{fraction}"

    return draw


def _date(rng: random.Random) -> str:
    return (_FIRST + dt.timedelta(days=rng.randrange(30_000))).date().isoformat()


def _time(rng: random.Random) -> str:
    second = dt.timedelta(seconds=rng.randrange(86_400))
    return f"{(_FIRST + second):%H:%M:%S}.{rng.randrange(1000):03}"


def _json(rng: random.Random) -> str:
    return json.dumps({"a": rng.randrange(5), "b": [None, True, _text(rng)]}, ensure_ascii=False)


#: kind -> a Python value of it
_DRAWN: dict[str, Callable[[random.Random], object]] = {
    "big": lambda rng: rng.choice([0, -1, 2**53 + 1, 2**63 - 1, -(2**63), rng.randrange(10**6)]),
    "unsigned": lambda rng: rng.choice([0, 2**53 + 1, 2**63, 2**64 - 1, rng.randrange(10**6)]),
    "int": lambda rng: rng.choice([0, -1, 2**31 - 1, -(2**31), rng.randrange(10**6)]),
    "varchar": _text,
    "text": _text,
    "large": _large,
    "micros": _moment(6),
    "millis": _moment(3),
    "seconds": _moment(0),
    "zoned": _moment(6),
    "date": _date,
    "time": _time,
    "money": lambda rng: Decimal(rng.randrange(-(10**13), 10**13)).scaleb(-rng.randrange(5)),
    "number": lambda rng: rng.choice([0, -1, 10**38 - 1, rng.randrange(10**38)]),
    "bool": lambda rng: rng.random() < 0.5,
    "json": _json,
    "status": lambda rng: rng.choice(_STATUSES),
    "flags": lambda rng: ",".join(f for f in _FLAGS if rng.random() < 0.5),
    "bytes": lambda rng: rng.randbytes(rng.randrange(8)),
    # Exact in a float, and of few digits: a snapshot of MariaDB rounds floats to six.
    "single": lambda rng: rng.randrange(-4000, 4000) / 8,
    "double": lambda rng: rng.choice([0.1, -1e300, 1e-300, rng.random()]),
    "bit": lambda rng: rng.randrange(2**12),
    "char": lambda rng: rng.choice(["", "ab", "12345678", "é"]),
    "year": lambda rng: rng.randrange(1901, 2155),
    "uuid": lambda rng: f"{rng.randrange(2**128):032x}",
    "texts": lambda rng: rng.choice(["{}", '{a,"b c",NULL}', "{\"it''s\"}", '{"\\"x\\""}']),
}


@dataclass(frozen=True)
class TableShape:
    """A table as it is created: columns by name with their kinds; the key's come first."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]
    #: what PostgreSQL logs of a row before a change
    is_logged_whole: bool = False

    def create(self, dialect: Dialect) -> list[str]:
        """The statements that create it."""
        columns = [f"{name} {dialect.types[kind]}" for name, kind in self.columns.items()]
        if self.key:
            columns.append(f"primary key ({', '.join(self.key)})")
        created = [f"create table {self.name} ({', '.join(columns)})"]
        if dialect is POSTGRES:
            # Long texts are kept outside of the row, and are not sent while they stay.
            created += [
                f"alter table {self.name} alter column {name} set storage external"
                for name, kind in self.columns.items()
                if kind == "large"
            ]
            if self.is_logged_whole:
                created.append(f"alter table {self.name} replica identity full")
        return created


def shapes(dialect: Dialect) -> list[TableShape]:
    """The tables that are there from the beginning."""

    def of(*columns: str) -> dict[str, str]:
        """`name:kind` of the columns whose kinds the database has."""
        pairs = (column.split(":") for column in columns)
        return {name: kind for name, kind in pairs if kind in dialect.types}

    return [
        TableShape(
            "customers",
            of(
                *("id:big", "name:varchar", "email:varchar", "note:large", "created_at:micros"),
                *("balance:money", "active:bool", "tags:json"),
            ),
            ("id",),
            is_logged_whole=True,
        ),
        TableShape(
            "orders",
            of(
                *("cust_id:big", "order_no:int", "amount:money", "placed_at:millis", "qty:int"),
                *("changed_at:zoned", "ship_date:date", "ship_time:time", "status:status"),
                *("flags:flags", "payload:bytes", "reference:uuid", "labels:texts"),
            ),
            ("cust_id", "order_no"),
        ),
        TableShape(
            "measures",
            of(
                *("id:big", "f:single", "d:double", "n:number", "u:unsigned", "b:bit", "c:char"),
                *("y:year", "at:seconds"),
            ),
            ("id",),
        ),
        TableShape("docs", of("id:big", "title:varchar", "body:large", "version:int"), ("id",)),
        TableShape("scratch", of("id:int", "v:varchar", "n:int"), ("id",)),
        TableShape("events", of("k:big", "who:varchar", "at:seconds"), (), is_logged_whole=True),
    ]


#: A table that the workload creates.
LATE = TableShape("late", {"id": "big", "v": "varchar", "at": "micros"}, ("id",))
#: A table whose row says how far a producer is.
MARKER = TableShape("marker", {"id": "int", "v": "varchar"}, ("id",))
