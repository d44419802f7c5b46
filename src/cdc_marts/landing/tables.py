"""The landing tables: one a format, append-only.  Their DDL stands in a macro that dbt runs too."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.formats import SOURCE_FORMATS

NAMESPACE = "landing"

_MACROS = Path(__file__).parents[3] / "macros" / "landing" / "create_landing_tables.sql"


def landing_table(source_format: str) -> str:
    return f"{NAMESPACE}.{source_format}"


def create_landing_tables(
    session: SparkSession, source_formats: Iterable[str] = SOURCE_FORMATS
) -> None:
    """Create the landing tables that are not there yet, in the session's own catalog."""
    macros = Environment(extensions=["jinja2.ext.do"]).from_string(_MACROS.read_text("utf-8"))
    session.sql(f"create namespace if not exists {NAMESPACE}")
    for source_format in source_formats:
        session.sql(macros.module.landing_table_sql(landing_table(source_format)))


def next_offset(session: SparkSession, table: str, topic: str, partition: int) -> int:
    """The offset after the highest one of a topic's partition in `table`; 0 if it has none."""
    landed = session.table(table).where(
        (F.col("topic") == topic) & (F.col("partition") == partition)
    )
    highest = landed.agg(F.max("offset")).first()[0]
    return 0 if highest is None else highest + 1
