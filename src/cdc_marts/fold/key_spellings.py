"""Row keys that name the same row, with their columns in different orders."""

from __future__ import annotations

from pyspark.sql import DataFrame

from cdc_marts.fold.rules import sorted_row_key


def other_spellings(keys: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return the `row_key`s of `earlier` that name the same columns and values as one of `keys`.

    If a table gets a key of all its columns, or loses such a key, the `row_key` of a row changes,
    because a keyless row has its columns sorted by name. `keys`, `earlier`: `row_key`; if they
    contain several tables, also the columns that identify a table.
    """
    spelled = [name for name in keys.columns if name != "row_key"]
    sorted_keys = keys.select(*spelled, sorted_row_key("row_key").alias("sorted_key"))
    return (
        earlier.select(*keys.columns, sorted_row_key("row_key").alias("sorted_key"))
        .join(sorted_keys, [*spelled, "sorted_key"], "left_semi")
        .select(*keys.columns)
    )
