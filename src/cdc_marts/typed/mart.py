"""The rows of a typed mart: the rows that its source table has now, in real columns.

An incremental run returns the rows of the keys that may have changed. For keys that are gone it
returns rows with a null `_last_op`, which the merge deletes. The mart is rebuilt if its table was
truncated, its declaration changed, a column was dropped from the table or from the mart, or a
column of the mart has another type, has a type from another place in the log, or comes from another
source column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from dbt.adapters.spark_session.api import ModelRun
from dbt_common.exceptions import CompilationError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.changed_keys import changed_keys, other_spellings
from cdc_marts.checkpoints import checkpointed
from cdc_marts.typed.checksums import (
    checksum_of_absences,
    checksum_of_decodings,
    checksum_of_losses,
    checksum_of_sources,
)
from cdc_marts.typed.columns import CAST_ERROR, MART_COLUMNS, TypedColumn, typed_columns
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.listed_columns import ListedColumn
from cdc_marts.typed.partitions import missing_partitions, partition_columns
from cdc_marts.typed.table_inputs import TableInputs, read_columns

#: Properties of a mart's table.
DECLARATION = "cdc_marts.declaration"
LOST_COLUMNS = "cdc_marts.lost_columns"
ABSENT_COLUMNS = "cdc_marts.absent_columns"
RENAMED_COLUMNS = "cdc_marts.renamed_columns"
DECODINGS = "cdc_marts.decodings"
MISSING_PARTITIONS = "cdc_marts.missing_partitions"

#: Inputs that have new rows if more of the table has changed than rows of some keys.
_CHANGES = ("truncations", "resolved_changes")


def rows(session: SparkSession, run: ModelRun, declared: Declaration) -> DataFrame:
    """Return the rows to write to the mart of a declared table.

    The inputs of the run have the names that `macros/typed/typed_mart.sql` gives them. Raise
    CompilationError if there is a table with the mart's name that is no typed mart.
    """
    table = TableInputs(run, declared)
    partitioned_by = partition_columns(declared.partition_by)
    if not run.has_inputs:
        return _no_rows(session, partitioned_by)
    if run.is_incremental:
        _check_is_typed_mart(session.table(run.relation), run.relation)
    run.keep_property(DECLARATION, declared.checksum)
    is_changed = run.has_something_to_write and _has_changes(table)
    if run.is_incremental and not is_changed and _is_as_declared(table):
        return session.table(run.relation).where("false")
    if not run.is_incremental and not is_changed:
        return _no_rows(session, partitioned_by)
    listed = read_columns(table, run.warn)
    columns = typed_columns(declared, listed, run.warn) or partitioned_by
    missing = missing_partitions(declared, columns, run.warn)
    run.partition_by(part for part in declared.partition_by if part not in missing)
    built_by = _properties(listed.values(), columns, missing)
    for name, value in built_by.items():
        run.keep_property(name, value)
    if run.is_incremental and not _must_rebuild(session, table, columns, built_by):
        return _changed_rows(session, table, columns)
    if run.is_incremental:
        run.rebuild()
    return _typed_rows(_live_rows(table), columns)


def _check_is_typed_mart(held: DataFrame, name: str) -> None:
    """Raise CompilationError for a table of somebody else, which the mart would replace."""
    lacking = [column for column in MART_COLUMNS if column not in held.columns]
    if lacking:
        raise CompilationError(
            f"The table {name} is no typed mart: it lacks {', '.join(lacking)}. Give the model"
            " another name, and its declaration in `vars: tables` too, or another schema; or drop"
            " the table, if nobody needs it."
        )


def _has_changes(table: TableInputs) -> bool:
    """Return whether rows of the table may have changed, or its columns."""
    if any(not keys.isEmpty() for keys in _changed_keys(table)):
        return True
    return any(map(table.has_new_rows, _CHANGES))


def _is_as_declared(table: TableInputs) -> bool:
    """Return whether the mart was built by the declaration that its table has now."""
    return table.run.table_property(DECLARATION) == table.declared.checksum


def _properties(
    listed: Iterable[ListedColumn], columns: Sequence[TypedColumn], missing: Sequence[str]
) -> dict[str, str]:
    """Return the properties of a mart with these columns. It is rebuilt if one of them changes.

    `listed`: the columns that the table has or had. `missing`: declared partitions that the mart
    does not have.
    """
    return {
        ABSENT_COLUMNS: checksum_of_absences(listed),
        LOST_COLUMNS: checksum_of_losses(columns),
        RENAMED_COLUMNS: checksum_of_sources(columns),
        DECODINGS: checksum_of_decodings(columns),
        MISSING_PARTITIONS: ", ".join(missing),
    }


def _must_rebuild(
    session: SparkSession,
    table: TableInputs,
    columns: Sequence[TypedColumn],
    built_by: Mapping[str, str],
) -> bool:
    """Return whether more has changed than rows with new events, apart from new columns."""
    run = table.run
    if not _is_as_declared(table):
        return True
    if any((run.table_property(name) or "") != value for name, value in built_by.items()):
        return True
    held = session.table(run.relation)
    types = MART_COLUMNS | {column.name: column.spark_type for column in columns}
    # Names are compared with their case: dbt would add a column that differs only in case.
    if any(types.get(name) != type_ for name, type_ in held.dtypes):
        return True
    if table.has_new_rows("truncations"):
        return True
    missing = [column for column in columns if column.name not in held.columns]
    return bool(missing) and _has_values_elsewhere(session, table, missing)


def _has_values_elsewhere(
    session: SparkSession, table: TableInputs, missing: Sequence[TypedColumn]
) -> bool:
    """Return whether rows of unchanged keys have values of columns that the mart is missing.

    Such a column is not new: somebody dropped it from the mart.
    """
    with_values = reduce(Column.__or__, (column.text().isNotNull() for column in missing))
    rows_with_values = _live_rows(table).where(with_values)
    return not rows_with_values.join(_keys(session, table), "row_key", "left_anti").isEmpty()


def _live_rows(table: TableInputs, keys: DataFrame | None = None) -> DataFrame:
    """Return the rows that the table has now, one for each key. `keys`: only these keys."""
    state = table.rows("live_rows")
    if keys is not None:
        # Spark pushes an `in` through the view, like any filter; a semi join stays above it.
        state = state.where(F.col("row_key").isin(keys))
    return state


def _typed_rows(live_rows: DataFrame, columns: Sequence[TypedColumn]) -> DataFrame:
    """Return the rows of the mart. A row that the table has several times is repeated."""
    other = ["row_key", "row_count", "last_op", "last_event_at"]
    texts = [f"text_{number}" for number in range(len(columns))]
    values = [f"value_{number}" for number in range(len(columns))]
    # In steps, so that a value that the next step uses several times is computed once.
    published = live_rows.select(
        *(column.text().alias(text) for column, text in zip(columns, texts, strict=True)),
        *("row", "schema_id", "last_sequence", *other),
    )
    read = published.select(
        *(
            column.value(F.col(text)).alias(value)
            for column, text, value in zip(columns, texts, values, strict=True)
        ),
        *(*texts, *other),
    )
    errors = map(_cast_error, columns, map(F.col, texts), map(F.col, values))
    return read.select(
        *(F.col(value).alias(column.name) for column, value in zip(columns, values, strict=True)),
        F.col("row_key").alias("_row_key"),
        F.explode(F.sequence(F.lit(1).cast("bigint"), "row_count")).alias("_row_copy"),
        F.col("last_op").alias("_last_op"),
        F.col("last_event_at").alias("_last_event_at"),
        F.array_compact(F.array(*errors, _null(CAST_ERROR))).alias("_cast_errors"),
    )


def _changed_rows(
    session: SparkSession, table: TableInputs, columns: Sequence[TypedColumn]
) -> DataFrame:
    """Return the rows of changed keys, and the rows to delete from the mart."""
    mart, keys = session.table(table.run.relation), _keys(session, table)
    typed_rows = _typed_rows(_live_rows(table, keys), columns)
    copy = ["_row_key", "_row_copy"]
    gone_rows = (
        mart.select(*copy)
        .join(keys.withColumnRenamed("row_key", "_row_key"), "_row_key", "left_semi")
        .join(typed_rows.select(*copy), copy, "left_anti")
        .select(
            *(_null(column.spark_type).alias(column.name) for column in columns),
            *copy,
            *(_null(MART_COLUMNS[name]).alias(name) for name in MART_COLUMNS if name not in copy),
        )
    )
    return typed_rows.union(gone_rows)


def _keys(session: SparkSession, table: TableInputs) -> DataFrame:
    """Return the `row_key`s whose rows may have changed, once each, with their other spellings."""
    keys = reduce(DataFrame.union, _changed_keys(table)).distinct()
    if not table.has_rows("keyless_rows"):
        return keys
    held_keys = session.table(table.run.relation).withColumnRenamed("_row_key", "row_key")
    # The mart gets its new columns before these keys are asked for: they must not read it then.
    return checkpointed(keys.union(other_spellings(keys, held_keys)).distinct())


def _changed_keys(table: TableInputs) -> Iterator[DataFrame]:
    """Yield the `row_key`s of the table whose rows may have changed, as `changed_keys` does."""
    for keys in changed_keys(table.run):
        yield keys.where(table.declared.is_of_table).select("row_key")


def _cast_error(column: TypedColumn, text: Column, value: Column) -> Column:
    """Return the entry in `_cast_errors` for a value that does not fit; null if it fits."""
    error = F.struct(
        F.lit(column.name).alias("column"),
        text.alias("text"),
        F.lit(column.spark_type).alias("type"),
    )
    return F.when(text.isNotNull() & value.isNull(), error)


def _no_rows(session: SparkSession, columns: Sequence[TypedColumn]) -> DataFrame:
    types = {column.name: column.spark_type for column in columns} | MART_COLUMNS
    return session.range(0).select(*(_null(type_).alias(name) for name, type_ in types.items()))


def _null(spark_type: str) -> Column:
    return F.lit(None).cast(spark_type)
