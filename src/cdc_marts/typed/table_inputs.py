"""A declared source table in the models that a typed mart reads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields

from dbt.adapters.spark_session.api import ModelRun
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.source_formats import has_trait, type_systems_in
from cdc_marts.typed.column_checks import check_columns, check_types
from cdc_marts.typed.columns import Warn
from cdc_marts.typed.declaration import Declaration
from cdc_marts.typed.listed_columns import (
    ListedColumn,
    SchemaVersion,
    key_first,
    listed_columns,
    unlisted_column,
)
from cdc_marts.typed.types import CodeTable, TypeRule, type_systems_of


@dataclass(frozen=True)
class TableInputs:
    """The rows of the declared table in the inputs of a run."""

    run: ModelRun
    declared: Declaration

    def rows(self, name: str) -> DataFrame:
        return self.run.rows(name).where(self.declared.is_of_table)

    def new_rows(self, name: str) -> DataFrame:
        return self.run.new_rows(name).where(self.declared.is_of_table)

    def has_rows(self, name: str) -> bool:
        return not self.rows(name).isEmpty()

    def has_new_rows(self, name: str) -> bool:
        return not self.new_rows(name).isEmpty()


def read_columns(table: TableInputs, warn: Warn) -> dict[str, ListedColumn]:
    """Return the columns that the table has or had.

    Key columns come first, then other listed columns, then unlisted ones.
    """
    versions = _versions(table)
    source_format = table.declared.source_format
    type_systems = type_systems_in(source_format)
    has_sparse_rows = has_trait(source_format, "has_sparse_rows")
    listed = listed_columns(
        versions,
        _code_table(table, type_systems_of(type_systems, _source_type(versions))),
        None if has_sparse_rows else _current_columns(table),
        _lost_columns(table),
    )
    if has_sparse_rows:
        listed |= {n: unlisted_column(n) for n in _unlisted_columns(table) if n not in listed}
    listed = key_first(listed, table.declared.key or _key_columns(table))
    check_columns(table.declared, listed, warn)
    if type_systems:
        check_types(table.declared, listed, warn)
    return listed


def _versions(table: TableInputs) -> list[SchemaVersion]:
    """Return the schema versions: first those that list all columns, newest first."""
    versions = (
        table.rows("schema_versions")
        .orderBy(F.desc_nulls_last("last_whole_sequence"), F.desc("last_sequence"))
        .select(
            *("schema_id", "first_sequence", "source_type"),
            *("column_names", "column_types", "column_parameters"),
        )
    )
    return [
        SchemaVersion(
            row.schema_id,
            row.first_sequence,
            row.source_type,
            row.column_names,
            row.column_types or {},
            row.column_parameters or {},
        )
        for row in versions.collect()
    ]


def _source_type(versions: Sequence[SchemaVersion]) -> str | None:
    """Return the kind of database that the version with the most types names."""
    widest = max(versions, key=lambda version: len(version.types), default=None)
    return widest.source_type if widest is not None and widest.types else None


def _code_table(table: TableInputs, type_systems: Sequence[str]) -> CodeTable:
    rules = table.run.rows("code_table").where(F.col("type_system").isin(list(type_systems)))
    columns = [field.name for field in fields(TypeRule)]
    return CodeTable([TypeRule(*row) for row in rules.select(*columns).collect()], type_systems)


def _current_columns(table: TableInputs) -> list[str]:
    columns = table.rows("columns").where(F.col("lost_sequence").isNull())
    return [row.column_name for row in columns.select("column_name").collect()]


def _lost_columns(table: TableInputs) -> dict[str, str]:
    """Return column -> the event that lost it last, a JSON text."""
    lost = (
        table.rows("lost_columns")
        .groupBy("column_name")
        .agg(F.to_json(F.max("sequence")).alias("lost_at"))
    )
    return {row.column_name: row.lost_at for row in lost.collect()}


def _key_columns(table: TableInputs) -> list[str]:
    """Return the key columns of some row of the table."""
    effect = table.rows("effects").select("row_key").first()
    return list(json.loads(effect.row_key)) if effect is not None and effect.row_key else []


def _unlisted_columns(table: TableInputs) -> list[str]:
    """Return the columns of rows that no schema version describes, sorted by name."""
    names = F.map_keys(F.col("row").cast("map<string,variant>"))
    unlisted = table.rows("live_rows").where(F.col("schema_id").isNull())
    # Many rows have the same names: each list is taken apart once.
    lists = unlisted.select(names.alias("names")).distinct()
    columns = lists.select(F.explode("names").alias("name")).distinct().sort("name")
    return [row.name for row in columns.collect()]
