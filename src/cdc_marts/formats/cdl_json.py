"""CDL JSON (`message_version` 1.0) as Huawei's CDL writes it.

Source: MapReduce Service, "CDL JSON and open source Debezium JSON data formats".
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.cdl.payload import COMMON_PAYLOAD, FieldNames, stage
from cdc_marts.formats.connect.envelope import read_payload
from cdc_marts.parsing.settings import KeySettings
from cdc_marts.parsing.values import non_empty

SOURCE_FORMAT = "cdl_json"

PAYLOAD = f"""
    DATA_STORE string, SEG_OWNER string, TABLE_NAME string, OPERATION string, TIMESTAMP string,
    data variant, before variant,
    transaction struct<properties: array<struct<name: string, value: string>>>,
    {COMMON_PAYLOAD}
"""

FIELD_NAMES = FieldNames(
    SOURCE_FORMAT,
    name="CDL JSON",
    message_version="1.0",
    source_op="OPERATION",
    table_name="TABLE_NAME",
    after="data",
    lsn="lsn",
    event_millis="TIMESTAMP",
)


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed CDL JSON into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables whose `unique` names none.
    """
    payload = F.col("payload")
    named = read_payload(messages, PAYLOAD).select(
        "*",
        F.lower(non_empty(payload.DATA_STORE)).alias("source_type"),
        F.lit(None).cast("string").alias("database_name"),
        non_empty(payload.SEG_OWNER).alias("schema_name"),
        non_empty(payload.TABLE_NAME).alias("table_name"),
        payload.OPERATION.alias("source_op"),
        payload.before.alias("before"),
        payload.data.alias("after"),
        F.lit(False).alias("is_snapshot"),
        _property("lsn").alias("lsn"),
        _property("txId").alias("transaction_id"),
        payload.TIMESTAMP.alias("event_millis"),
        F.lit(None).cast("string").alias("published_millis"),
    )
    return stage(named, FIELD_NAMES, key_settings)


def _property(name: str) -> Column:
    """Return a value of the transaction's properties, which come in any order."""
    properties = F.col("payload.transaction.properties")
    named = F.filter(properties, lambda member: member["name"] == name)
    return F.get(named, F.lit(0))["value"]
