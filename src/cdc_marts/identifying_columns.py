"""The columns that identify messages, source tables, their rows and their schema versions."""

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
