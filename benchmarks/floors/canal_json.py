"""Canal JSON by hand."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors.job import change_events, read_json

_MESSAGE = """
    database string, table string, type string, es bigint, ts bigint,
    data array<variant>, old array<map<string, variant>>
"""


def events(messages: DataFrame) -> DataFrame:
    old_rows = F.coalesce("m.old", F.array())
    rows = read_json(messages, _MESSAGE).select(
        "*",
        F.posexplode_outer(F.arrays_zip(F.col("m.data"), old_rows)).alias("index", "row"),
    )
    data, old = F.col("row.data"), F.col("row.1")
    op = F.lower("m.type")
    updated = F.to_variant_object(F.map_concat(data.cast("map<string, variant>"), old))
    return change_events(
        rows,
        "canal_json",
        table_id=F.concat_ws(".", "m.database", "m.table"),
        op=op,
        before=F.when(op == "update", updated).when(op == "delete", data),
        after=F.when(op != "delete", data),
        event_at=F.timestamp_millis("m.es"),
        position=F.col("m.ts"),
        row_index=F.col("index"),
    )
