"""CDL's Debezium JSON by hand."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors import connect

_PAYLOAD = """
    op: string, before: variant, after: variant,
    source: struct<db: string, schema: string, table: string, ts_ms: bigint, lsn: bigint>
"""


def events(messages: DataFrame) -> DataFrame:
    return connect.events(
        messages,
        "cdl_debezium_json",
        payload=_PAYLOAD,
        names=("source.db", "source.schema", "source.table"),
        code="op",
        after="after",
        millis="source.ts_ms",
        position=F.col("payload.source.lsn"),
    )
