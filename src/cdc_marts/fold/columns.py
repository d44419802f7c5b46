"""The columns that identify messages, tables, keys and schema versions in the fold."""

from __future__ import annotations

from cdc_marts.coordinates import COORDINATES

#: A message.
MESSAGE = ("source_format", *COORDINATES)
#: A source table.
TABLE = ("source_format", "table_id")
#: A row of a source table.
KEY = (*TABLE, "row_key")
#: A schema version of a source table.
VERSION = (*TABLE, "schema_id")
#: The first and the last place in the log of events of a schema version. `whole`: only events that
#: list all columns.
SEQUENCES = ("first_sequence", "last_sequence", "first_whole_sequence", "last_whole_sequence")
