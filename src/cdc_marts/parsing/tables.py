"""The id of a source table."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

#: The names of a table, as columns of messages that are being parsed.
TABLE_NAMES = ("database_name", "schema_name", "table_name")


def table_id_of(*names: str | Column) -> Column:
    """Return the names of a table that are not null, joined by `.`: by default `TABLE_NAMES`."""
    return F.concat_ws(".", *(names or TABLE_NAMES))
