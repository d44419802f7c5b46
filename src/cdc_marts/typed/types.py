"""The Spark type of a source type, and the type that holds the values of several types.

Spark types are names, as `DataType.simpleString` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: The most digits of a Spark decimal.
MOST_DIGITS = 38

_LENGTH = re.compile(r"\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)")
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")

#: Other names for a type in a declared cast -> Spark's name.
_ALIASES = {
    "tinyint": "int",
    "smallint": "int",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "timestamp_ltz": "timestamp",
}
_CASTABLE = (
    *("boolean", "int", "bigint", "float", "double", "string", "binary"),
    *("date", "timestamp", "timestamp_ntz", "variant"),
)
#: A cast that names the rule of decoding by which values are read -> its Spark type.
DECODING_CASTS = {
    "epoch_days": "date",
    "epoch_millis": "timestamp",
    "epoch_micros": "timestamp",
    "epoch_nanos": "timestamp",
    "hexadecimal": "binary",
}
CASTABLE_TYPES = ", ".join(("decimal(p,s)", *_CASTABLE, *DECODING_CASTS))

#: Sets of types -> the type that holds all their values.
_WIDER = {
    frozenset({"int", "bigint"}): "bigint",
    frozenset({"float", "double"}): "double",
    frozenset({"int", "double"}): "double",
    frozenset({"int", "float", "double"}): "double",
    frozenset({"date", "timestamp_ntz"}): "timestamp_ntz",
}


@dataclass(frozen=True)
class Digits:
    """The number of digits that a number may have before and after its point."""

    whole: int
    scale: int


#: Digits of a decimal without published bounds.
_UNBOUND = Digits(20, 18)


@dataclass(frozen=True)
class ColumnType:
    """A type as messages name it, with its rule of the code table.

    `name`: as published; empty if messages name none. `parameters`: of a Connect type. For an
    array, `parameters` and `decoding` are those of its elements.
    """

    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    spark_type: str = "string"
    decoding: str = "text"
    #: whether the code table has a rule for it
    is_known: bool = False

    @property
    def is_array(self) -> bool:
        return self.spark_type.startswith("array<")

    @property
    def reading(self) -> ColumnType:
        """The type, without the name of a text, which does not decide how values are read."""
        if self.decoding != "text":
            return self
        return ColumnType(spark_type=self.spark_type)

    @property
    def element(self) -> ColumnType:
        """The type of an array's elements."""
        spark_type = self.spark_type.removeprefix("array<").removesuffix(">")
        return ColumnType(self.name, self.parameters, spark_type, self.decoding, self.is_known)


@dataclass(frozen=True)
class TypeRule:
    """A row of the code table, for type names of a type system that match a pattern.

    The pattern matches the whole name in lower case.
    """

    type_system: str
    type_pattern: str
    spark_type: str
    decoding: str


@dataclass(frozen=True)
class CodeTable:
    """The rules for the types of a table. Its type systems are tried in their order."""

    rules: Sequence[TypeRule]
    type_systems: Sequence[str]

    def column_type(self, name: str, parameters: Mapping[str, Any]) -> ColumnType:
        """Return a type as published. If it has no rule, its values are text."""
        items = parameters if name == "array" else {}
        rule = self._rule(items.get("name") or items.get("type") or name)
        if items:
            parameters = items.get("parameters") or {}
        if rule is None:
            return ColumnType(name, parameters)
        spark_type = completed_type(rule.spark_type, name, parameters)
        if name == "array":
            spark_type = f"array<{spark_type}>"
        return ColumnType(name, parameters, spark_type, rule.decoding, is_known=True)

    def _rule(self, name: str) -> TypeRule | None:
        return next(
            (
                rule
                for type_system in self.type_systems
                for rule in self.rules
                if rule.type_system == type_system and re.fullmatch(rule.type_pattern, name.lower())
            ),
            None,
        )


def type_systems_of(of_format: Sequence[str], source_type: str | None) -> Sequence[str]:
    """Return the type systems in which the types of a table are looked up, in this order.

    `of_format`: those of the table's format. `source_type`: the kind of database, if a format
    carries tables of several kinds.
    """
    if list(of_format) == ["dts"]:
        return [_DTS_TYPE_SYSTEMS.get(source_type or "", "dts")]
    return [source_type] if source_type is not None and source_type in of_format else of_format


#: DTS numbers types per kind of database.
_DTS_TYPE_SYSTEMS = {
    "mysql": "dts_mysql",
    "drds": "dts_mysql",
    "oracle": "dts_oracle",
    "postgresql": "dts_postgresql",
    "ppas": "dts_postgresql",
}


def castable_type(name: Any) -> str | None:
    """Return Spark's name of a type in a declared cast, or the name of a cast in `DECODING_CASTS`.

    None for a type that is not allowed.
    """
    name = re.sub(r"\s+", "", str(name).lower())
    decimal = re.fullmatch(r"(?:decimal|numeric|dec)\((\d+)(?:,(\d+))?\)", name)
    if decimal:
        precision, scale = int(decimal[1]), int(decimal[2] or 0)
        is_possible = scale <= precision and 1 <= precision <= MOST_DIGITS
        return f"decimal({precision},{scale})" if is_possible else None
    name = _ALIASES.get(name, name)
    return name if name in (*_CASTABLE, *DECODING_CASTS) else None


def completed_type(spark_type: str, type_name: str, parameters: Mapping[str, Any]) -> str:
    """Return the code table's Spark type, completed by the length and scale that are published.

    `spark_type`: `decimal` and `bits` stand for types that depend on these.
    """
    length = _LENGTH.search(type_name)
    if spark_type == "bits":
        return _bits_type(int(length[1] if length else parameters.get("length", 1)))
    if spark_type == "decimal":
        return decimal_type(_published_digits(length, parameters))
    return spark_type


def _bits_type(length: int) -> str:
    if length > 64:
        return "binary"
    return "bigint" if length < 64 else "decimal(20,0)"


def _published_digits(length: re.Match[str] | None, parameters: Mapping[str, Any]) -> Digits:
    if length:
        precision, scale = int(length[1]), int(length[2] or 0)
    elif "scale" in parameters:
        precision = int(parameters.get("connect.decimal.precision") or MOST_DIGITS)
        scale = int(parameters["scale"])
    else:
        return _UNBOUND
    return Digits(max(precision - scale, 0), max(scale, 0))


def decimal_type(digits: Digits) -> str:
    """Return a decimal of so many digits; text if Spark's decimals have fewer."""
    precision = max(digits.whole + digits.scale, 1)
    return f"decimal({precision},{digits.scale})" if precision <= MOST_DIGITS else "string"


def exact_digits(spark_type: str) -> Digits | None:
    """Return the digits of an exact number type; None for any other type."""
    if spark_type in ("int", "bigint"):
        return Digits(10 if spark_type == "int" else 19, 0)
    decimal = _DECIMAL.fullmatch(spark_type)
    if decimal is None:
        return None
    precision, scale = int(decimal[1]), int(decimal[2])
    return Digits(precision - scale, scale)


def common_type(spark_types: Iterable[str]) -> str:
    """Return the type that holds the values of all these types exactly.

    It is a wider number, a timestamp for dates and timestamps, or else text.
    """
    types = frozenset(spark_types)
    if len(types) == 1:
        return next(iter(types))
    if types in _WIDER:
        return _WIDER[types]
    digits = [exact_digits(spark_type) for spark_type in types]
    exact = [d for d in digits if d is not None]
    if len(exact) < len(digits):
        return "string"
    return decimal_type(Digits(max(d.whole for d in exact), max(d.scale for d in exact)))
