"""The baseline of Lindorm."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines import connect

_PAYLOAD = """
    op: string, before: variant, after: variant, ts_ms: bigint,
    source: struct<db: string, namespace: string, table: string, ts_ms: bigint>
"""


def events(messages: DataFrame) -> DataFrame:
    payload = F.col("m.payload")
    source = payload.source
    return connect.events(
        messages,
        "lindorm_debezium",
        payload=_PAYLOAD,
        after="after",
        source_type=F.lit("lindorm"),
        database_name=source.db,
        schema_name=source.namespace,
        table_name=source.table,
        source_op=payload.op,
        event_at=F.timestamp_millis(source.ts_ms),
        published_at=F.timestamp_millis(payload.ts_ms),
        position=source.ts_ms,
    )
