"""Debezium JSON (`message_version` 2.0) as Huawei's CDL writes it.

Source: MapReduce Service, "CDL JSON and open source Debezium JSON data formats";
Debezium, connector for PostgreSQL.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.formats.cdl.payload import COMMON_PAYLOAD, FieldNames, stage
from cdc_marts.formats.connect.envelope import read_payload
from cdc_marts.parsing.settings import KeySettings
from cdc_marts.parsing.values import non_empty

SOURCE_FORMAT = "cdl_debezium_json"

PAYLOAD = f"""
    source struct<
        connector: string, db: string, schema: string, table: string,
        snapshot: string, lsn: string, txId: string, ts_ms: string
    >,
    op string, ts_ms string, before variant, after variant,
    {COMMON_PAYLOAD}
"""

FIELD_NAMES = FieldNames(
    SOURCE_FORMAT,
    name="CDL Debezium JSON",
    message_version="2.0",
    source_op="op",
    table_name="source.table",
    after="after",
    lsn="source.lsn",
    event_millis="source.ts_ms",
    published_millis="ts_ms",
)

#: `source.snapshot` of a row that was read from the table, not from the log.
_SNAPSHOT_FLAGS = (
    "true",
    "first",
    "last",
    "first_in_data_collection",
    "last_in_data_collection",
    "incremental",
)


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed Debezium JSON of CDL into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables whose `unique` names none.
    """
    payload = F.col("payload")
    source = payload.source
    named = read_payload(messages, PAYLOAD).select(
        "*",
        F.lower(non_empty(source.connector)).alias("source_type"),
        non_empty(source.db).alias("database_name"),
        non_empty(source["schema"]).alias("schema_name"),
        non_empty(source.table).alias("table_name"),
        payload.op.alias("source_op"),
        payload.before.alias("before"),
        payload.after.alias("after"),
        _is_snapshot(source.snapshot).alias("is_snapshot"),
        source.lsn.alias("lsn"),
        source.txId.alias("transaction_id"),
        source.ts_ms.alias("event_millis"),
        payload.ts_ms.alias("published_millis"),
    )
    return stage(named, FIELD_NAMES, key_settings)


def _is_snapshot(flag: Column) -> Column:
    return F.coalesce(flag.isin(*_SNAPSHOT_FLAGS), F.lit(False))
