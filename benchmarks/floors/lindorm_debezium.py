"""Lindorm by hand."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors import connect

_PAYLOAD = """
    op: string, before: variant, after: variant,
    source: struct<db: string, namespace: string, table: string, ts_ms: bigint>
"""


def events(messages: DataFrame) -> DataFrame:
    return connect.events(
        messages,
        "lindorm_debezium",
        payload=_PAYLOAD,
        names=("source.db", "source.namespace", "source.table"),
        code="op",
        after="after",
        millis="source.ts_ms",
        position=F.col("payload.source.ts_ms"),
    )
