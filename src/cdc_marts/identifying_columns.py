"""The columns that identify messages, source tables, their rows and their schema versions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

#: A message of a landing table.
COORDINATES = ("topic", "partition", "offset")
#: A message of any format.
MESSAGE = ("source_format", *COORDINATES)
#: A source table.
TABLE = ("source_format", "table_id")
#: A row of a source table.
KEY = (*TABLE, "row_key")
#: A schema version of a source table.
VERSION = (*TABLE, "schema_id")


def is_of_table(source_format: str, table_id: str) -> Column:
    """Return whether a row is of a source table."""
    return (F.col("source_format") == source_format) & (F.col("table_id") == table_id)
