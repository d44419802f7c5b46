"""Values as a database prints them, as a typed mart holds them."""

from __future__ import annotations

import base64
import datetime as dt
import re
from decimal import Decimal
from typing import Any

from tests.python.end_to_end.database_values import array_of, single, six_digits


def typed(text: str | None, spark_type: str) -> Any:
    """What a column of this Spark type holds of a value that its database prints so.

    `number`: text that is a number.

    Python's own values, as Spark gives them; a `timestamp` as UTC without zone.
    """
    if text is None:
        return None
    element = re.fullmatch("array<(.*)>", spark_type)
    if element:
        return [typed(member, element[1]) for member in array_of(text)]
    match spark_type.split("(")[0]:
        case "int" | "bigint":
            return int(text)
        case "decimal":
            return Decimal(text)
        case "number":
            return Decimal(text).normalize()
        case "float":
            return as_text(float(single(text)))
        case "double":
            return as_text(float(text))
        case "boolean":
            return text in ("true", "1", "t")
        case "date":
            return dt.date.fromisoformat(text)
        case "timestamp_ntz":
            return dt.datetime.fromisoformat(six_digits(text))
        case "timestamp":
            zoned = re.sub(r"([+-]\d\d)$", r"\1:00", six_digits(text))
            moment = dt.datetime.fromisoformat(zoned)
            return moment.astimezone(dt.timezone.utc).replace(tzinfo=None)
        case "binary":
            return base64.b64decode(text)
    return text


def collected(value: Any) -> Any:
    """A value of a mart, comparable with `typed`."""
    if isinstance(value, bytearray):
        return bytes(value)
    return as_text(value) if isinstance(value, float) else value


def as_text(double: float) -> str:
    """NaN equals itself so, and a zero has no sign, as in a VARIANT number."""
    return repr(double + 0.0)


#: What databases have and Spark, or the years 1 to 9999, have not: NULL, and a cast error.
_BEYOND_SPARK = re.compile(r"-?infinity|0000-00-00.*|\d{5,}-.*|.* BC")


def is_beyond_spark(text: str | None) -> bool:
    return text is not None and _BEYOND_SPARK.fullmatch(text) is not None
