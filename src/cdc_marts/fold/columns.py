"""Columns by which the fold knows messages, tables, keys, schema versions and transactions."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

#: A message.
MESSAGE = ("source_format", "topic", "partition", "offset")
#: A source table.
TABLE = ("source_format", "table_id")
#: A row of a source table.
KEY = (*TABLE, "row_key")
#: A schema version of a source table.
VERSION = (*TABLE, "schema_id")
#: The first and the last place in the log at which a schema version was seen; `whole`: all columns.
SEQUENCES = ("first_sequence", "last_sequence", "first_whole_sequence", "last_whole_sequence")


def transaction_of_effect() -> Column:
    """The transaction of an effect.

    If messages name no transaction, changes of one time count as one transaction.  The macro of
    the same name gives the same in SQL.
    """
    return F.coalesce("transaction_id", F.col("event_at").cast("string"))
