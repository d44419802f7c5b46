"""Values of a capture and of its database, brought to one comparable form."""

from __future__ import annotations

import base64
import datetime as dt
import re
import struct
from decimal import Context, Decimal
from typing import Any

_EPOCH = dt.datetime(1970, 1, 1)
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_MICROSECOND = dt.timedelta(microseconds=1)
_INFINITE_MICROS = 10**18
_ALL_DIGITS = Context(prec=1000)


# MariaDB as Canal publishes it: everything is text.


def canal_value(text: str | None, mysql_type: str) -> Any:
    """What a column of a Canal message says, in the database's own terms."""
    if text is None:
        return None
    kind = _kind(mysql_type)
    if kind == "enum":
        return _labels(mysql_type)[int(text) - 1]
    if kind == "set":
        labels = enumerate(_labels(mysql_type))
        return ",".join(label for bit, label in labels if int(text) >> bit & 1)
    if kind in ("blob", "binary", "varbinary"):
        return text.encode("latin-1").rstrip(b"\0") if kind == "binary" else text.encode("latin-1")
    return mariadb_value(text, mysql_type)


def mariadb_value(text: str | None, mysql_type: str) -> Any:
    """What the database says of a column, comparable with `canal_value`."""
    if text is None:
        return None
    kind = _kind(mysql_type)
    if kind == "float":
        return struct.pack("f", float(text))
    if kind == "double":
        return float(text)
    if kind in ("decimal", "bit"):
        return Decimal(text)
    if kind in ("blob", "binary", "varbinary"):
        raw = base64.b64decode(text)
        # Canal strips the zero bytes that pad BINARY(n).
        return raw.rstrip(b"\0") if kind == "binary" else raw
    if kind == "year":
        return int(text)
    return text


def canal_text(text: str | None, mysql_type: str) -> str | None:
    """How Canal writes a value that the database gives as `text`."""
    if text is None:
        return None
    kind = _kind(mysql_type)
    if kind == "enum":
        return str(_labels(mysql_type).index(text) + 1)
    if kind == "set":
        labels = _labels(mysql_type)
        return str(sum(1 << labels.index(label) for label in text.split(",") if label))
    if kind in ("blob", "binary", "varbinary"):
        return base64.b64decode(text).decode("latin-1")
    return text


def _kind(mysql_type: str) -> str:
    return re.split(r"[( ]", mysql_type)[0]


def _labels(mysql_type: str) -> list[str]:
    return [label.replace("''", "'") for label in _LABEL.findall(mysql_type)]


# PostgreSQL as Debezium publishes it: Connect's semantic types.


def debezium_value(value: Any, field: dict[str, Any]) -> Any:
    """What a column of a Debezium message says; `field` is its Connect schema."""
    if value is None:
        return None
    name, kind = field.get("name") or "", field["type"]
    parameters = field.get("parameters") or {}
    match name.rsplit(".", 1)[-1]:
        case "Decimal":
            return _decimal(value, int(parameters["scale"]))
        case "VariableScaleDecimal":
            return _decimal(value["value"], int(value["scale"]))
        case "MicroTimestamp":
            return _timestamp(value)
        case "Timestamp":
            return _timestamp(value * 1000)
        case "Date":
            return (_EPOCH + dt.timedelta(days=value)).date()
        case "Time":
            return (_EPOCH + value * 1000 * _MICROSECOND).time()
        case "ZonedTimestamp" | "ZonedTime":
            return _zoned(value)
        case "Bits":
            return int.from_bytes(base64.b64decode(value), "little")
    if kind == "float":
        return single(value)
    if kind == "double":
        return _double(value)
    if kind == "array":
        return [None if member is None else str(member) for member in value]
    if kind == "bytes":
        return base64.b64decode(value)
    return value if isinstance(value, bool) else str(value)


def postgres_value(text: str | None, field: dict[str, Any]) -> Any:
    """What the database says of a column, comparable with `debezium_value`."""
    if text is None:
        return None
    name, kind = field.get("name") or "", field["type"]
    match name.rsplit(".", 1)[-1]:
        case "Decimal" | "VariableScaleDecimal":
            return Decimal(text)
        case "MicroTimestamp" | "Timestamp":
            return text if "infinity" in text else dt.datetime.fromisoformat(six_digits(text))
        case "Date":
            return dt.date.fromisoformat(text)
        case "Time":
            return dt.time.fromisoformat(six_digits(text))
        case "ZonedTimestamp" | "ZonedTime":
            return _zoned(text)
        case "Bits":
            return int(text, 2) if text else 0
    if kind == "float":
        return single(text)
    if kind == "double":
        return _double(text)
    if kind == "array":
        return array_of(text)
    if kind == "bytes":
        return base64.b64decode(text)
    if kind == "boolean":
        return text in ("true", "1")
    return text


def _timestamp(micros: int) -> dt.datetime | str:
    """Infinity is a number beyond all years."""
    if abs(micros) > _INFINITE_MICROS:
        return "infinity" if micros > 0 else "-infinity"
    return _EPOCH + micros * _MICROSECOND


def single(number: Any) -> float | str:
    return _double(struct.unpack("f", struct.pack("f", float(number)))[0])


def _double(number: Any) -> float | str:
    """A double; NaN equals itself here, and a zero has no sign, as in a VARIANT number."""
    double = float(number)
    return double if double == double else "NaN"


def _decimal(value: str, scale: int) -> Decimal:
    unscaled = int.from_bytes(base64.b64decode(value), "big", signed=True)
    return Decimal(unscaled).scaleb(-scale, _ALL_DIGITS)


def _zoned(text: str) -> Any:
    """A time with a zone as its parts at UTC; PostgreSQL writes short zones."""
    if "infinity" in text or text.endswith("BC"):
        return text
    if re.match(r"\+?\d{5}", text):  # a year that Python does not have
        return text.lstrip("+").replace("T", " ").replace("Z", "+00")
    full = re.sub(r"([+-]\d\d)$", r"\1:00", text.replace("Z", "+00:00").replace("T", " "))
    full = re.sub(r"\.\d+", lambda f: f.group().ljust(7, "0"), full)
    has_date = re.match(r"\d+-", full)
    moment = dt.datetime.fromisoformat(full if has_date else f"1970-01-01 {full}")
    # As microseconds, not as a time at UTC: that may lie outside the years of `datetime`.
    micros = (moment.replace(tzinfo=None) - _EPOCH - moment.utcoffset()) // _MICROSECOND
    return micros if has_date else micros % (dt.timedelta(days=1) // _MICROSECOND)


def six_digits(text: str) -> str:
    return re.sub(r"\.\d+", lambda fraction: fraction.group().ljust(7, "0"), text)


def array_of(text: str) -> list[str | None]:
    """PostgreSQL's `{a,"b c",NULL}`."""
    members = re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}]+)', text)
    return [
        None if bare == "NULL" else bare or re.sub(r"\\(.)", r"\1", quoted)
        for quoted, bare in members
    ]
