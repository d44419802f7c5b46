"""DTS Avro messages for tests and samples: a binary writer for that one record schema.

It shares nothing with the parser's schema, so that neither hides a mistake of the other.

    encode(row("INSERT", "shop.orders", after={"id": 1, "note": "hello"}, key=["id"]))
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SOURCE_TYPES = (
    *(
        "MySQL",
        "Oracle",
        "SQLServer",
        "PostgreSQL",
        "MongoDB",
        "Redis",
        "DB2",
        "PPAS",
        "DRDS",
    ),
    *("HBASE", "HDFS", "FILE", "OTHER"),
)
OPERATIONS = (
    *(
        "INSERT",
        "UPDATE",
        "DELETE",
        "DDL",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "ABORT",
        "HEARTBEAT",
    ),
    *("CHECKPOINT", "COMMAND", "FILL", "FINISH", "CONTROL", "RDB", "NOOP", "INIT"),
)
_BRANCHES = (
    *("null", "Integer", "Character", "Decimal", "Float", "Timestamp", "DateTime"),
    *(
        "TimestampWithTimeZone",
        "BinaryGeometry",
        "TextGeometry",
        "BinaryObject",
        "TextObject",
    ),
    "EmptyObject",
)
_DATE_TIME_PARTS = ("year", "month", "day", "hour", "minute", "second", "millis")

#: A record without an event: what `encode` fills in for members that are not given.
DEFAULTS: dict[str, Any] = {
    "version": 0,
    "id": 1,
    "sourceTimestamp": 1_700_000_000,
    "sourcePosition": "4@1",
    "safeSourcePosition": "4@1",
    "sourceTxid": "",
    "sourceType": "MySQL",
    "sourceVersion": "8.0.36",
    "operation": "NOOP",
    "objectName": None,
    "processTimestamps": None,
    "tags": {},
    "fields": None,
    "beforeImages": None,
    "afterImages": None,
}


@dataclass(frozen=True)
class Value:
    """A branch of the value union with its encoded members."""

    branch: str
    members: bytes = b""


# -- values ------------------------------------------------------------------------------------


def integer(digits: int | str, precision: int = 19) -> Value:
    return Value("Integer", varint(precision) + _string(str(digits)))


def character(text: str | bytes, charset: str = "utf8mb4", encoding: str = "utf-8") -> Value:
    """Text marked with a database charset, in bytes of a Python encoding (or as they are)."""
    data = text if isinstance(text, bytes) else text.encode(encoding)
    return Value("Character", _string(charset) + _bytes(data))


def decimal_(digits: decimal.Decimal | str, precision: int = 38, scale: int = 10) -> Value:
    return Value("Decimal", _string(str(digits)) + varint(precision) + varint(scale))


def float_(number: float, precision: int = 53, scale: int = 0) -> Value:
    return Value("Float", struct.pack("<d", number) + varint(precision) + varint(scale))


def timestamp(seconds: int, micros: int = 0) -> Value:
    return Value("Timestamp", varint(seconds) + varint(micros))


def date_time(**parts: int | None) -> Value:
    """Any of year, month, day, hour, minute, second, millis (which is microseconds)."""
    return Value("DateTime", _date_time(parts))


def date_time_with_zone(zone: str, **parts: int | None) -> Value:
    return Value("TimestampWithTimeZone", _date_time(parts) + _string(zone))


def binary_geometry(data: bytes) -> Value:
    return Value("BinaryGeometry", _string("wkb") + _bytes(data))


def text_geometry(text: str) -> Value:
    return Value("TextGeometry", _string("wkt") + _string(text))


def binary_object(data: bytes, type_: str = "blob") -> Value:
    return Value("BinaryObject", _string(type_) + _bytes(data))


def text_object(text: str, type_: str = "json") -> Value:
    return Value("TextObject", _string(type_) + _string(text))


#: The two branches that mean NULL, and the one that means "not carried".
NO_BRANCH = Value("null")
NULL = Value("EmptyObject", b"\x00")
NONE = Value("EmptyObject", b"\x02")


def value(plain: Any) -> Value:
    """A Python value in the branch that fits it; None is NULL."""
    match plain:
        case Value():
            return plain
        case None:
            return NULL
        case bool() | int():
            return integer(int(plain))
        case float():
            return float_(plain)
        case decimal.Decimal():
            return decimal_(plain)
        case str():
            return character(plain)
        case bytes():
            return binary_object(plain)
        case dt.datetime():
            parts = {part: getattr(plain, part) for part in _DATE_TIME_PARTS[:6]}
            return date_time(**parts, millis=plain.microsecond)
        case dt.date():
            return date_time(year=plain.year, month=plain.month, day=plain.day)
    raise TypeError(f"no DTS value for {plain!r}")


# -- records -----------------------------------------------------------------------------------


def row(
    operation: str,
    object_name: str | None,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    key: Sequence[str] = (),
    **members: Any,
) -> dict[str, Any]:
    """A row change as a record for `encode`; a column that one image lacks is NONE there."""
    columns = list({**(before or {}), **(after or {})})
    return {
        "operation": operation,
        "objectName": object_name,
        "tags": {"pk_uk_info": json.dumps({"PRIMARY": list(key)})} if key else {},
        "fields": [(column, 253) for column in columns],
        "beforeImages": image(before, columns),
        "afterImages": image(after, columns),
        **members,
    }


def ddl(object_name: str | None, statement: str, **members: Any) -> dict[str, Any]:
    """A schema change as a record for `encode`: the statement is the image after."""
    return {
        "operation": "DDL",
        "objectName": object_name,
        "afterImages": statement,
        **members,
    }


def image(columns: Mapping[str, Any] | None, names: Sequence[str]) -> list[Value] | None:
    """Column values by name -> values by position; None stays None."""
    if columns is None:
        return None
    return [value(columns[name]) if name in columns else NONE for name in names]


def encode(record: Mapping[str, Any], born_timestamp: int | None = None) -> bytes:
    """A record (members as in `DEFAULTS`) -> one message.

    `born_timestamp` (epoch milliseconds) is what newer producers write at the end.
    """
    unknown = record.keys() - DEFAULTS.keys()
    if unknown:
        raise TypeError(f"not a member of a DTS record: {sorted(unknown)}")
    members = {**DEFAULTS, **record}
    parts = [
        varint(members["version"]),
        varint(members["id"]),
        varint(members["sourceTimestamp"]),
        _string(members["sourcePosition"]),
        _string(members["safeSourcePosition"]),
        _string(members["sourceTxid"]),
        varint(SOURCE_TYPES.index(members["sourceType"])),
        _string(members["sourceVersion"]),
        varint(OPERATIONS.index(members["operation"])),
        _union(members["objectName"], _string),
        _union(members["processTimestamps"], lambda times: _array(times, varint)),
        _array(members["tags"].items(), lambda tag: _string(tag[0]) + _string(tag[1])),
        _text_or_array(members["fields"], lambda field: _string(field[0]) + varint(field[1])),
        _text_or_array(members["beforeImages"], _value),
        _text_or_array(members["afterImages"], _value),
        b"" if born_timestamp is None else varint(born_timestamp),
    ]
    return b"".join(parts)


# -- Avro's binary encoding --------------------------------------------------------------------


def varint(number: int) -> bytes:
    """A varint, zigzag: also Avro's int, enum and union branch."""
    rest = (number << 1) ^ (number >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _bytes(data: bytes) -> bytes:
    return varint(len(data)) + data


def _string(text: str | bytes) -> bytes:
    return _bytes(text if isinstance(text, bytes) else text.encode())


def _array(items: Any, write: Callable[[Any], bytes]) -> bytes:
    """One block and the end; a map is an array of its entries."""
    written = [write(item) for item in items]
    block = varint(len(written)) + b"".join(written) if written else b""
    return block + varint(0)


def _union(member: Any, write: Callable[[Any], bytes]) -> bytes:
    return varint(0) if member is None else varint(1) + write(member)


def _text_or_array(member: Any, write: Callable[[Any], bytes]) -> bytes:
    if isinstance(member, list):
        return varint(2) + _array(member, write)
    return _union(member, _string)


def _value(value_: Value) -> bytes:
    return varint(_BRANCHES.index(value_.branch)) + value_.members


def _date_time(parts: Mapping[str, int | None]) -> bytes:
    unknown = parts.keys() - set(_DATE_TIME_PARTS)
    if unknown:
        raise TypeError(f"not a part of a DateTime: {sorted(unknown)}")
    return b"".join(_union(parts.get(part), varint) for part in _DATE_TIME_PARTS)
