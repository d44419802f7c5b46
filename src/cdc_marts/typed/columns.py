"""The columns of a typed mart, from the schema versions of its source table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from typing import Any

from pyspark.sql import Column, Row
from pyspark.sql import functions as F

from cdc_marts.fold.sequences import literal_of, order_of
from cdc_marts.typed.casts import cast_exactly, is_number
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.decoding import read_value
from cdc_marts.typed.listed_columns import ListedColumn, SchemaVersion
from cdc_marts.typed.types import DECODING_CASTS, ColumnType, common_type

Warn = Callable[[str], Any]

#: A value that does not fit its column's type.
CAST_ERROR = "struct<column:string,text:string,type:string>"

#: Columns of a typed mart that its table does not have: name -> Spark type.
MART_COLUMNS = {
    "_row_key": "string",
    "_row_copy": "bigint",
    "_last_op": "string",
    "_last_event_at": "timestamp",
    "_cast_errors": f"array<{CAST_ERROR}>",
}


@dataclass(frozen=True)
class Stretch:
    """A part of the log in which all new schema versions let a column be read alike.

    `start`: the first event of the first of these versions; None in the first stretch. `end`: the
    start of the next stretch; None in the last one.
    """

    start: Row | None
    end: Row | None

    def has_row(self) -> Column:
        """Return whether a row was last written in the stretch."""
        place = F.col("last_sequence")
        is_after_start = F.lit(True) if self.start is None else place >= literal_of(self.start)
        is_before_end = F.lit(True) if self.end is None else place < literal_of(self.end)
        return is_after_start & is_before_end


@dataclass(frozen=True)
class Decoding:
    """How values are read in rows of some schema versions, and in some stretches of the log."""

    column_type: ColumnType
    versions: list[SchemaVersion] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)

    def is_of_version(self) -> Column:
        """Return whether a row was last written by an event of one of the versions."""
        return F.col("schema_id").isin([version.schema_id for version in self.versions])

    def is_in_stretch(self) -> Column:
        """Return whether a row was last written in one of the stretches."""
        return reduce(
            Column.__or__, (stretch.has_row() for stretch in self.stretches), F.lit(False)
        )


@dataclass(frozen=True)
class TypedColumn:
    """A column of a typed mart.

    `name`, `source`: its name in the mart, and in the table. `decodings`: newest first. If the last
    event of a row names no type of the column, the row is read by the decoding in whose stretch of
    the log the event is.
    """

    name: str
    source: str
    spark_type: str
    is_cast: bool
    decodings: Sequence[Decoding]
    lost_at: str | None = None

    @property
    def is_renamed(self) -> bool:
        """Whether the mart has another name for the column than the table."""
        return self.name != self.source

    def published(self) -> Column:
        """Return the column's value in an image `row`, a VARIANT."""
        path = _variant_path(self.source)
        if path is None:
            return F.col("row").cast("map<string,variant>")[self.source]
        return F.variant_get("row", path, "variant")

    def text(self) -> Column:
        """Return the column's value in an image `row` as text; null if there is none."""
        path = _variant_path(self.source)
        if path is None:
            return self.published().try_cast("string")
        return F.try_variant_get("row", path, "string")

    def value(self, text: Column) -> Column:
        """Return the column's value, read by the type that it had when the row was last written.

        `text`: the result of `text()`. Null if the value does not fit.
        """
        newest, *others = self.decodings
        value = self._value(text, newest)
        for decoding in others:
            is_read_so = decoding.is_of_version() | (self._is_untyped() & decoding.is_in_stretch())
            value = F.when(is_read_so, self._value(text, decoding)).otherwise(value)
        return value

    def _is_untyped(self) -> Column:
        """Return whether the last event of a row names no type of the column."""
        named = (decoding.is_of_version() for decoding in self.decodings)
        return ~F.coalesce(reduce(Column.__or__, named), F.lit(False))

    def _value(self, text: Column, decoding: Decoding) -> Column:
        column_type, published = decoding.column_type, self.published()
        own_type = column_type.spark_type
        counts_seconds = own_type == "timestamp" and is_number(self.spark_type)
        if (self.is_cast and not counts_seconds) or self.spark_type in ("string", own_type):
            return read_value(text, published, column_type, self.spark_type)
        value = read_value(text, published, column_type, own_type)
        return cast_exactly(value, own_type, self.spark_type)


def _variant_path(column: str) -> str | None:
    """Return a column's path in a VARIANT object; None if it can't be written."""
    quote = next((quote for quote in "\"'" if quote not in column), None)
    return f"$[{quote}{column}{quote}]" if quote and column else None


def typed_columns(
    declared: Declaration, listed: Mapping[str, ListedColumn], warn: Warn
) -> list[TypedColumn]:
    """Return the columns that a mart has of its table, in their order.

    Warn of columns whose values are kept as text for want of a type.
    """
    columns, taken = [], {name.lower() for name in MART_COLUMNS}
    for column in listed.values():
        if column.is_current:
            name = free_name(declared.renames.get(column.name, column.name), taken)
            taken.add(name.lower())
            columns.append(_typed_column(declared, column, name, warn))
    return columns


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number appended if it is taken in any case.

    `taken`: names in lower case.
    """
    name = name or "unnamed"
    found, number = name, 1
    while found.lower() in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def _typed_column(
    declared: Declaration, column: ListedColumn, name: str, warn: Warn
) -> TypedColumn:
    """Return the column with the type that holds all values that were published for it."""
    cast = declared.casts.get(column.name)
    if cast in DECODING_CASTS:
        read_so = ColumnType(spark_type=DECODING_CASTS[cast], decoding=cast)
        return TypedColumn(
            name, column.name, read_so.spark_type, True, [Decoding(read_so)], column.lost_at
        )
    decodings = _decodings(column.named_types)
    for unknown in (d.column_type for d in decodings if not d.column_type.is_known):
        warn(
            f"Typed mart `{declared.name}`: the type `{unknown.name}` of column `{column.name}` is"
            " not in the code table source_types; its values are kept as text."
        )
    decodings = decodings or [Decoding(ColumnType())]
    own_types = list(dict.fromkeys(decoding.column_type.spark_type for decoding in decodings))
    spark_type = cast or common_type(own_types)
    if cast is None and spark_type == "string" and len(own_types) > 1:
        warn(
            f"Typed mart `{declared.name}`: column `{column.name}` has been"
            f" {', '.join(own_types)}, which only text holds all of; a cast in `vars: tables` of"
            " dbt_project.yml gives it another type."
        )
    return TypedColumn(name, column.name, spark_type, cast is not None, decodings, column.lost_at)


def _decodings(types: Sequence[tuple[SchemaVersion, ColumnType]]) -> list[Decoding]:
    """Return a decoding for each type of a column, in the order of `types`."""
    decodings: list[Decoding] = []
    for version, column_type in types:
        decoding = next((d for d in decodings if d.column_type == column_type), None)
        if decoding is None:
            decodings.append(decoding := Decoding(column_type))
        decoding.versions.append(version)
    _set_stretches(decodings)
    return decodings


def _set_stretches(decodings: Iterable[Decoding]) -> None:
    """Divide the log into stretches, and give each of them to a decoding that reads its rows."""
    seen = sorted(
        ((version, decoding) for decoding in decodings for version in decoding.versions),
        key=lambda one: (order_of(one[0].first_sequence), one[0].schema_id),
    )
    stretches = groupby(seen, key=lambda one: one[1].column_type.reading)
    begins = [next(stretch) for _, stretch in stretches]
    ends = [*(version.first_sequence for version, _ in begins[1:]), None]
    for (_, decoding), start, end in zip(begins, [None, *ends], ends, strict=False):
        decoding.stretches.append(Stretch(start, end))
