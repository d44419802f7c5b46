"""The baseline of DTS Avro, for the types of the benchmark's tables."""

from __future__ import annotations

import json
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from benchmarks.baselines.job import change_events, read
from cdc_marts.formats.dts.schema import RECORD_SCHEMA


def record_schema() -> str:
    """Return the vendor's schema: the project's, without what it reads after the record."""
    schema = json.loads(RECORD_SCHEMA)
    schema["fields"] = [field for field in schema["fields"] if field["name"] != "tail"]
    return json.dumps(schema)


def events(messages: DataFrame) -> DataFrame:
    record = from_avro("value", record_schema(), {"enableStableIdentifiersForUnionType": "true"})
    message = F.col("m")
    names = F.split(message.objectName, r"\.")
    fields = message.fields.member_array
    seconds = message.sourceTimestamp.cast("decimal(19,0)")
    return change_events(
        read(messages, record),
        "dts_avro",
        source_type=F.lower(message.source.sourceType),
        database_name=names[0],
        table_name=names[1],
        op=F.lower(message.operation),
        source_op=message.operation,
        before=_image("m.beforeImages"),
        after=_image("m.afterImages"),
        column_types=F.map_from_arrays(fields["name"], fields["dataTypeNumber"]),
        event_at=F.timestamp_seconds(message.sourceTimestamp),
        published_at=F.timestamp_millis(F.element_at(message.processTimestamps, -1)),
        transaction_id=message.sourceTxid,
        position=seconds * F.lit(Decimal(10**19)) + message.id.cast("decimal(19,0)"),
    )


def _image(values: str) -> Column:
    """Return a VARIANT object of the fields' names and values, by position."""
    variants = F.transform(F.col(f"{values}.member_array"), _variant)
    return F.to_variant_object(F.map_from_arrays(F.col("m.fields.member_array.name"), variants))


def _variant(value: Column) -> Column:
    at = value["member_DateTime"]
    moment = F.format_string(
        "%04d-%02d-%02d %02d:%02d:%02d",
        *(at[part] for part in ("year", "month", "day", "hour", "minute", "second")),
    )
    return F.coalesce(
        value["member_Integer"]["value"].cast("bigint").cast("variant"),
        value["member_Decimal"]["value"].cast("decimal(38,18)").cast("variant"),
        value["member_Character"]["value"].cast("string").cast("variant"),
        F.when(at.isNotNull(), moment).cast("variant"),
        F.parse_json(F.lit("null")),
    )
