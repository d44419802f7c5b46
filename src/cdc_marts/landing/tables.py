"""The landing tables: one a format, append-only.  Their DDL stands in a macro that dbt runs too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jinja2 import Environment
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.formats import SOURCE_FORMATS
from cdc_marts.landing.outcome import Place
from cdc_marts.package_files import PACKAGE_ROOT
from dbt.adapters.spark_session.catalog import has_rows

NAMESPACE = "landing"

_MACROS = PACKAGE_ROOT / "macros" / "landing" / "create_landing_tables.sql"


def landing_table(source_format: str) -> str:
    return f"{NAMESPACE}.{source_format}"


def create_landing_tables(
    session: SparkSession, source_formats: Iterable[str] = SOURCE_FORMATS
) -> None:
    """Create the landing tables that are not there yet, in the session's own catalog."""
    macros = Environment(extensions=["jinja2.ext.do"]).from_string(_MACROS.read_text("utf-8"))
    landing_table_sql = vars(macros.module)["landing_table_sql"]
    session.sql(f"create namespace if not exists {NAMESPACE}")
    for source_format in source_formats:
        session.sql(landing_table_sql(landing_table(source_format)))


def highest_offsets(session: SparkSession, table: str, topics: Sequence[str]) -> dict[Place, int]:
    """Topic and partition -> their highest offset in `table`, where they have one."""
    if not has_rows(session, table):
        return {}
    landed = session.table(table).where(F.col("topic").isin(*topics))
    highest = landed.groupBy("topic", "partition").agg(F.max("offset").alias("highest"))
    return {(row.topic, row.partition): row.highest for row in highest.collect()}
