"""The columns of a typed mart, from the schema versions of its source table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.typed.casts import cast_exactly
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.decoding import read_value
from cdc_marts.typed.types import CodeTable, SourceType, common_type

Warn = Callable[[str], Any]

#: A transform of Iceberg: a column, and before or after it a number of buckets or letters.
_TRANSFORM = re.compile(r"\w+\(\s*(?:\d+\s*,)?(.*?)(?:,\s*\d+\s*)?\)")

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
class SchemaVersion:
    """The columns that messages listed: their names in order, and their types if these were named.

    `source_type`: the kind of database. `parameters`: column -> parameters of its Connect type, a
    JSON text.
    """

    schema_id: int
    source_type: str | None
    columns: Sequence[str]
    types: Mapping[str, str]
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ListedColumn:
    """A column of a source table, with its type in each schema version that lists it."""

    name: str
    #: newest first
    types: Sequence[tuple[int, SourceType]]
    is_current: bool
    #: the event that lost it last, a JSON text; None if it was never lost
    lost_at: str | None

    @property
    def named_types(self) -> list[tuple[int, SourceType]]:
        """The types, without the versions that name no type of the column."""
        return [(schema_id, type_) for schema_id, type_ in self.types if type_.name]


@dataclass(frozen=True)
class Decoding:
    """How values are read in rows of some schema versions."""

    source_type: SourceType
    schema_ids: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class TypedColumn:
    """A column of a typed mart.

    `name`, `source`: its name in the mart, and in the table. `decodings`: newest first. A row of
    any other schema version is read by the newest.
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
        newest, *older = self.decodings
        value = self._value(text, newest)
        for decoding in older:
            is_older = F.col("schema_id").isin(decoding.schema_ids)
            value = F.when(is_older, self._value(text, decoding)).otherwise(value)
        return value

    def _value(self, text: Column, decoding: Decoding) -> Column:
        source_type, published = decoding.source_type, self.published()
        own_type = source_type.spark_type
        if self.is_cast or self.spark_type in ("string", own_type):
            return read_value(text, published, source_type, self.spark_type)
        value = read_value(text, published, source_type, own_type)
        return cast_exactly(value, own_type, self.spark_type)


def _variant_path(column: str) -> str | None:
    """Return a column's path in a VARIANT object; None if it can't be written."""
    quote = next((quote for quote in "\"'" if quote not in column), None)
    return f"$[{quote}{column}{quote}]" if quote and column else None


def listed_columns(
    versions: Iterable[SchemaVersion],
    code_table: CodeTable,
    current: Iterable[str] | None,
    lost: Mapping[str, str],
) -> dict[str, ListedColumn]:
    """Return name -> column, of all schema versions. The versions come newest first.

    `current`: the columns that the table has now; None if it has all. `lost`: column -> the event
    that lost it last.
    """
    types: dict[str, list[tuple[int, SourceType]]] = {}
    for version in versions:
        for name in version.columns:
            parameters = json.loads(version.parameters.get(name) or "{}")
            type_ = code_table.source_type(version.types.get(name) or "", parameters)
            types.setdefault(name, []).append((version.schema_id, type_))
    current = types if current is None else set(current)
    return {
        name: ListedColumn(name, of_versions, name in current, lost.get(name))
        for name, of_versions in types.items()
    }


def unlisted_column(name: str) -> ListedColumn:
    """Return a column that rows have and no schema version lists."""
    return ListedColumn(name, types=(), is_current=True, lost_at=None)


def key_first(columns: Mapping[str, ListedColumn], key: Sequence[str]) -> dict[str, ListedColumn]:
    """Return the columns with the key columns first."""
    # The row key of a keyless table is its whole row.
    first = [name for name in key if name in columns] if len(key) < len(columns) else []
    return {name: columns[name] for name in (*first, *columns)}


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


def partition_columns(partition_by: Iterable[str]) -> list[TypedColumn]:
    """Return the columns by which a mart is partitioned before its table's first message."""
    columns = []
    for transform in partition_by:
        name = _partition_column(transform)
        is_of_time = re.match(r"(year|month|day|hour)s?\(", transform)
        spark_type = "timestamp" if is_of_time else "string"
        columns.append(TypedColumn(name, name, spark_type, True, [Decoding(SourceType())]))
    return columns


def _partition_column(transform: str) -> str:
    """Return the name in `days(name)` or `bucket(16, name)`, or of a column without a transform."""
    match = _TRANSFORM.fullmatch(transform.strip())
    name = (match[1] if match else transform).strip()
    is_quoted = len(name) > 2 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if is_quoted else name


def missing_partitions(
    declared: Declaration, columns: Sequence[TypedColumn], warn: Warn
) -> list[str]:
    """Return the parts of `partition_by` whose column the mart lacks, and warn with what to write.

    This is no error: the source may have dropped the column, and a message may bring it.
    """
    names = {name.lower() for name in (*MART_COLUMNS, *(column.name for column in columns))}
    missing = [t for t in declared.partition_by if _partition_column(t).lower() not in names]
    for transform in missing:
        wanted = _partition_column(transform)
        renamed = [c.name for c in columns if c.is_renamed and c.source == wanted]
        if renamed:
            advice = f"column `{wanted}` is `{renamed[0]}` there: write that"
        else:
            there = ", ".join(column.name for column in columns)
            advice = f"it has {there}: write one of them, or remove `{transform}`"
        warn(
            f"Typed mart `{declared.name}`: `partition_by` names a column `{wanted}`, which the"
            f" mart does not have. It is built without the partition `{transform}`. In"
            f" `vars: tables` of dbt_project.yml, {advice}."
        )
    return missing


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
    decodings: list[Decoding] = []
    for schema_id, source_type in column.named_types:
        decoding = next((d for d in decodings if d.source_type == source_type), None)
        if decoding is None:
            decodings.append(decoding := Decoding(source_type))
            if not source_type.is_known:
                warn(
                    f"Typed mart `{declared.name}`: the type `{source_type.name}` of column"
                    f" `{column.name}` is not in the code table source_types; its values are kept"
                    " as text."
                )
        decoding.schema_ids.append(schema_id)
    decodings = decodings or [Decoding(SourceType())]
    own_types = list(dict.fromkeys(decoding.source_type.spark_type for decoding in decodings))
    cast = declared.casts.get(column.name)
    spark_type = cast or common_type(own_types)
    if cast is None and spark_type == "string" and len(own_types) > 1:
        warn(
            f"Typed mart `{declared.name}`: column `{column.name}` has been"
            f" {', '.join(own_types)}, which only text holds all of; a cast in `vars: tables` of"
            " dbt_project.yml gives it another type."
        )
    return TypedColumn(name, column.name, spark_type, cast is not None, decodings, column.lost_at)


def check_columns(declared: Declaration, listed: Mapping[str, ListedColumn], warn: Warn) -> None:
    """Warn of renames and casts of columns that the table lacks, and of names that are given twice.

    This is no error: a message may bring new columns.
    """
    if not listed:
        return
    for setting, columns in (("renames", declared.renames), ("casts", declared.casts)):
        for column in columns:
            if column not in listed:
                warn(
                    f"Typed mart `{declared.name}`: `{setting}` names a column `{column}`, but"
                    f" {declared.table_id} has {', '.join(listed)}."
                )
    taken = {column.lower() for column in listed if column not in declared.renames}
    taken.update(name.lower() for name in MART_COLUMNS)
    for column, name in declared.renames.items():
        if name.lower() in taken:
            warn(
                f"Typed mart `{declared.name}`: `{column}` of {declared.table_id} is renamed to"
                f" `{name}`, which is another column's name; one of them gets a number."
            )
        taken.add(name.lower())


def check_types(declared: Declaration, listed: Mapping[str, ListedColumn], warn: Warn) -> None:
    """Warn of columns whose type the messages should name, and do not."""
    untyped = [
        column.name
        for column in listed.values()
        if column.is_current and not column.named_types and column.name not in declared.casts
    ]
    if untyped:
        warn(
            f"Typed mart `{declared.name}`: the messages of {declared.table_id} name no type of"
            f" {', '.join(untyped)}; their values are kept as text. Casts in `vars: tables` of"
            " dbt_project.yml give them types."
        )


def checksum_of_losses(columns: Iterable[TypedColumn]) -> str:
    """Return a checksum of the last losses of the mart's columns.

    It changes if a table drops a column and later has it again.
    """
    return _checksum([column.source, column.lost_at] for column in columns if column.lost_at)


def checksum_of_absences(listed: Iterable[ListedColumn]) -> str:
    """Return a checksum of the columns that the table had and lacks now."""
    return _checksum([column.name] for column in listed if not column.is_current)


def checksum_of_sources(columns: Iterable[TypedColumn]) -> str:
    """Return a checksum of the renamed columns and their source columns.

    It changes if a name of the mart comes to mean another column of the table: names are given anew
    in each run, so a new column may take the name that another one was renamed to. Columns that are
    named as in the table, as most new ones are, don't change it.
    """
    return _checksum([column.name, column.source] for column in columns if column.is_renamed)


def _checksum(pairs: Iterable[list[str]]) -> str:
    """Return a checksum of the pairs.

    Empty for no pairs, like the property of a table that lacks it.
    """
    text = sorted(pairs)
    if not text:
        return ""
    return hashlib.md5(json.dumps(text).encode(), usedforsecurity=False).hexdigest()
