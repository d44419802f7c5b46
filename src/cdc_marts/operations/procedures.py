"""The procedures that Iceberg adds to Spark's SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def call(session: SparkSession, procedure: str, table: str, *arguments: str) -> list[Any]:
    """Return the rows that a procedure returns. `arguments`: further ones, as `name => value`."""
    catalog = session.conf.get("spark.sql.defaultCatalog")
    given = ", ".join((f"table => '{table}'", *arguments))
    return session.sql(f"call {catalog}.system.{procedure}({given})").collect()
