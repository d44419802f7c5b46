"""CDL JSON by hand."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors import connect

_PAYLOAD = """
    SEG_OWNER: string, TABLE_NAME: string, OPERATION: string, TIMESTAMP: bigint,
    transaction: struct<properties: array<struct<name: string, value: bigint>>>,
    data: variant, before: variant
"""


def events(messages: DataFrame) -> DataFrame:
    properties = F.map_from_entries("payload.transaction.properties")
    return connect.events(
        messages,
        "cdl_json",
        payload=_PAYLOAD,
        names=("SEG_OWNER", "TABLE_NAME"),
        code="OPERATION",
        after="data",
        millis="TIMESTAMP",
        position=properties["lsn"],
    )
