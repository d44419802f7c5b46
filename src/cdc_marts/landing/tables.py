"""The landing tables: one per format, append-only. Their DDL is in a macro that dbt runs too."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.spark_session.api import has_rows
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.landing.outcome import Partition
from cdc_marts.package_macros import package_macro


def create_landing_table(session: SparkSession, name: str) -> None:
    """Create a landing table (`schema.name`) in the session's own catalog if it is not there."""
    landing_table_sql = package_macro("landing/create_landing_tables.sql", "landing_table_sql")
    session.sql(f"create namespace if not exists {name.rpartition('.')[0]}")
    session.sql(landing_table_sql(name))


def highest_offsets(
    session: SparkSession, table: str, topics: Sequence[str]
) -> dict[Partition, int]:
    """Return topic and partition -> highest offset, for the partitions that `table` has."""
    if not has_rows(session, table):
        return {}
    landed = session.table(table).where(F.col("topic").isin(*topics))
    highest = landed.groupBy("topic", "partition").agg(F.max("offset").alias("highest"))
    return {(row.topic, row.partition): row.highest for row in highest.collect()}
