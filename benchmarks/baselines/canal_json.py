"""The baseline of Canal JSON."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines.job import change_events, read_json

_MESSAGE = """
    database string, table string, type string, es bigint, ts bigint, gtid string,
    mysqlType map<string, string>, data array<variant>, old array<map<string, variant>>
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
        row_index=F.col("index"),
        source_type=F.lit("mysql"),
        database_name=F.col("m.database"),
        table_name=F.col("m.table"),
        op=op,
        source_op=F.col("m.type"),
        before=F.when(op == "update", updated).when(op == "delete", data),
        after=F.when(op != "delete", data),
        column_types=F.col("m.mysqlType"),
        event_at=F.timestamp_millis("m.es"),
        published_at=F.timestamp_millis("m.ts"),
        transaction_id=F.nullif("m.gtid", F.lit("")),
        position=F.col("m.ts"),
    )
