"""The landing table that a staging table was built from, before `landing_schema` was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import all_snapshots, iceberg_table, view_query

from cdc_marts.operations.last_read import newest_watermarks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def former_landing_schema(session: SparkSession, landing_table: str, staging: str) -> str | None:
    """Return the schema of the landing table that `staging` has read, if it is another table.

    `landing_table`: the one that it would read now. None if `staging` has read this one, also if it
    was renamed since, or has read none.
    """
    schema, _, name = landing_table.rpartition(".")
    for source, snapshot in newest_watermarks(session, staging).items():
        former, _, read = source.rpartition(".")
        if read == name and former != schema and snapshot:
            return None if _has_snapshot(session, landing_table, snapshot) else former
    return None


def _has_snapshot(session: SparkSession, table: str, snapshot: int) -> bool:
    if view_query(session, table) is not None:
        # What it reads has another name, and so has the watermark.
        return False
    return snapshot in all_snapshots(session, iceberg_table(session, table)).by_id
