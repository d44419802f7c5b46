"""The columns that the images of a schema version lack, and the parts of the log where they do.

Few tables have schema versions with different columns. So the versions are collected and compared
in Python, as in `lost_columns.py`; most runs then end without a further query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StringType, StructType

from cdc_marts.fold.rules import is_of_format_that
from cdc_marts.fold.sequences import order_of
from cdc_marts.identifying_columns import VERSION
from cdc_marts.local_rows import local_rows

#: Source format and id of a table.
_TableKey = tuple[str, str]
#: The sequences at which a stretch begins and ends (None: open), and the columns missing there.
_Stretch = tuple[Row, Row | None, list[str]]


def missing_columns(versions: DataFrame, table_columns: DataFrame) -> DataFrame:
    """Return the stretches of the log in which a schema version may lack columns of its table.

    `versions`: the model `int_table_schemas`; versions of formats with sparse rows are ignored,
    because they show no columns. `table_columns`: the model `int_table_columns`.

    The result has source_format, table_id, schema_id, from_sequence, to_sequence, column_names. In
    some stretches, no column is missing: there, a complete list shows that the table had lost the
    column. They are kept because such a list is a weak proof, and a later message may refute it.
    After a statement has dropped the column, there is no such stretch.
    """
    versions_of_tables = _versions_that_differ(versions)
    columns = _columns_of(versions_of_tables, table_columns)
    sequence = table_columns.schema["first_sequence"].dataType
    schema = (
        StructType()
        .add("source_format", StringType())
        .add("table_id", StringType())
        .add("schema_id", LongType())
        .add("from_sequence", sequence)
        .add("to_sequence", sequence)
        .add("column_names", ArrayType(StringType()))
    )
    missing = [
        (*table, version.schema_id, start.asDict(), end and end.asDict(), names)
        for table, its_versions in versions_of_tables.items()
        for version in its_versions
        for start, end, names in _stretches(version, columns[table])
    ]
    return local_rows(versions.sparkSession, missing, schema)


def _versions_that_differ(versions: DataFrame) -> dict[_TableKey, list[Row]]:
    """Return the schema versions of the tables that have versions with different columns."""
    tables: defaultdict[_TableKey, list[Row]] = defaultdict(list)
    with_columns = versions.where(
        ~is_of_format_that("has_sparse_rows") & F.col("column_names").isNotNull()
    )
    for version in with_columns.select(*VERSION, "column_names", "last_sequence").collect():
        tables[version.source_format, version.table_id].append(version)
    return {
        table: its_versions
        for table, its_versions in tables.items()
        if len({frozenset(version.column_names) for version in its_versions}) > 1
    }


def _columns_of(
    tables: dict[_TableKey, list[Row]], table_columns: DataFrame
) -> dict[_TableKey, list[Row]]:
    """Return the rows of `table_columns` for these tables."""
    columns: dict[_TableKey, list[Row]] = {table: [] for table in tables}
    if not tables:
        return columns
    ids = sorted({table_id for _, table_id in tables})
    for column in table_columns.where(F.col("table_id").isin(ids)).collect():
        columns.get((column.source_format, column.table_id), []).append(column)
    return columns


def _stretches(version: Row, columns: list[Row]) -> Iterator[_Stretch]:
    """Yield the stretches in which a version may lack columns, in the order of the log."""
    lacking = [
        column
        for column in columns
        if column.column_name not in version.column_names
        and order_of(column.first_sequence) < order_of(version.last_sequence)
    ]
    boundaries = {
        order_of(sequence): sequence
        for column in lacking
        for sequence in (column.first_sequence, column.lost_sequence, column.dropped_sequence)
        if sequence is not None
    }
    starts = [boundaries[order] for order in sorted(boundaries)]
    for start, end in pairwise([*starts, None]):
        there = [column for column in lacking if _is_in(column, start)]
        if there:
            missing = {
                column.column_name for column in there if _is_after(column.lost_sequence, start)
            }
            yield start, end, sorted(missing)


def _is_in(column: Row, sequence: Row) -> bool:
    """Return whether the table has had the column by a sequence, and no statement dropped it."""
    is_seen = order_of(column.first_sequence) <= order_of(sequence)
    return is_seen and _is_after(column.dropped_sequence, sequence)


def _is_after(end: Row | None, sequence: Row) -> bool:
    return end is None or order_of(sequence) < order_of(end)
