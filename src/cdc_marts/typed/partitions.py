"""The partitions of a typed mart, as `partition_by` of its declaration names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cdc_marts.typed.columns import MART_COLUMNS, Decoding, TypedColumn, Warn
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.types import ColumnType

#: A transform of Iceberg: a column, and before or after it a number of buckets or letters.
_TRANSFORM = re.compile(r"\w+\(\s*(?:\d+\s*,)?(.*?)(?:,\s*\d+\s*)?\)")


def partition_columns(partition_by: Iterable[str]) -> list[TypedColumn]:
    """Return the partition columns of a mart whose table has no message yet."""
    columns = []
    for transform in partition_by:
        name = _partition_column(transform)
        is_of_time = re.match(r"(year|month|day|hour)s?\(", transform)
        spark_type = "timestamp" if is_of_time else "string"
        columns.append(TypedColumn(name, name, spark_type, True, [Decoding(ColumnType())]))
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
