"""The baseline of DataWorks, in Kafka and in DataHub BLOB topics."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines.job import change_events, join_halves, read_json

_MESSAGE = """
    schema struct<
        dataColumn: array<struct<name: string, type: string>>,
        source: struct<dbType: string, dbName: string, schemaName: string, tableName: string>
    >,
    payload struct<
        before: struct<dataColumn: variant>, after: struct<dataColumn: variant>,
        sequenceId: string, op: string, timestamp: struct<eventTime: bigint, systemTime: bigint>
    >
"""


def events(messages: DataFrame, source_format: str) -> DataFrame:
    rows = read_json(messages, _MESSAGE)
    source, payload = F.col("m.schema.source"), F.col("m.payload")
    return join_halves(
        change_events(
            rows,
            source_format,
            source_type=F.lower(source.dbType),
            database_name=source.dbName,
            schema_name=source.schemaName,
            table_name=source.tableName,
            op=F.when(payload.op.startswith("UPDATE"), "update").otherwise(F.lower(payload.op)),
            source_op=payload.op,
            before=payload.before.dataColumn,
            after=payload.after.dataColumn,
            column_types=F.map_from_entries("m.schema.dataColumn"),
            event_at=F.timestamp_millis(payload.timestamp.eventTime),
            published_at=F.timestamp_millis(payload.timestamp.systemTime),
            position=payload.sequenceId,
        )
    )
