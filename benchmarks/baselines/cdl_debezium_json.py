"""The baseline of CDL's Debezium JSON."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines import connect

_PAYLOAD = """
    op: string, before: variant, after: variant, ts_ms: bigint,
    source: struct<
        connector: string, db: string, schema: string, table: string, ts_ms: bigint,
        txId: string, lsn: bigint
    >
"""


def events(messages: DataFrame) -> DataFrame:
    payload = F.col("m.payload")
    source = payload.source
    return connect.events(
        messages,
        "cdl_debezium_json",
        payload=_PAYLOAD,
        after="after",
        source_type=F.lower(source.connector),
        database_name=source.db,
        schema_name=source["schema"],
        table_name=source.table,
        source_op=payload.op,
        event_at=F.timestamp_millis(source.ts_ms),
        published_at=F.timestamp_millis(payload.ts_ms),
        transaction_id=source.txId,
        position=source.lsn,
    )
