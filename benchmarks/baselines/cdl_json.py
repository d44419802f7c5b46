"""The baseline of CDL JSON."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines import connect

_PAYLOAD = """
    DATA_STORE: string, SEG_OWNER: string, TABLE_NAME: string, OPERATION: string,
    TIMESTAMP: bigint, data: variant, before: variant,
    transaction: struct<properties: array<struct<name: string, value: string>>>
"""


def events(messages: DataFrame) -> DataFrame:
    payload = F.col("m.payload")
    properties = F.map_from_entries(payload.transaction.properties)
    return connect.events(
        messages,
        "cdl_json",
        payload=_PAYLOAD,
        after="data",
        source_type=F.lower(payload.DATA_STORE),
        schema_name=payload.SEG_OWNER,
        table_name=payload.TABLE_NAME,
        source_op=payload.OPERATION,
        event_at=F.timestamp_millis(payload.TIMESTAMP),
        transaction_id=properties["txId"],
        position=properties["lsn"],
    )
