"""Building blocks of the formats' messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Message:
    """One of the messages of a change. `value` and `key` are strings or binaries."""

    value: Column
    key: Column | None = None
    #: whether the change has this message; None if it always has
    is_published: Column | None = None


def json(members: Column) -> Column:
    """Return a struct as compact JSON, with its nulls."""
    return F.to_json(members, {"ignoreNullFields": "false"})


def json_object(members: Mapping[str, object]) -> Column:
    """Return a struct of these members. A value that is not a column becomes a literal."""
    return F.struct(
        *(
            (value if isinstance(value, Column) else F.lit(value)).alias(name)
            for name, value in members.items()
        )
    )


def json_of_texts(members: Mapping[str, Column], only_where: Mapping[str, Column]) -> Column:
    """Return a JSON object of texts. `only_where`: name -> whether the object has this member."""
    pairs = (part for name, value in members.items() for part in (F.lit(name), value))

    def is_kept(name: Column, _: Column) -> Column:
        conditions = ((name != one) | is_there for one, is_there in only_where.items())
        return reduce(Column.__and__, conditions, F.lit(True))

    return F.map_filter(F.create_map(*pairs), is_kept)


def code_of(op: Column, codes: Mapping[str, str]) -> Column:
    """Return a format's code of an operation."""
    return F.coalesce(*(F.when(op == ours, code) for ours, code in codes.items()))


def texts(values: Mapping[str, Column], types: Mapping[str, str]) -> dict[str, Column]:
    """Return column values as databases write them if all values are text."""
    return {name: _text(value, types[name]) for name, value in values.items()}


def moment(millis: Column, pattern: str = "yyyy-MM-dd HH:mm:ss") -> Column:
    """Return epoch milliseconds as text, in UTC."""
    return F.date_format(F.timestamp_millis(millis), pattern)


def _text(value: Column, type_: str) -> Column:
    match type_:
        case "boolean":
            return value.cast("int").cast("string")
        case "timestamp":
            return moment(value)
    return value.cast("string")
