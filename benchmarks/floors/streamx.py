"""DataWorks by hand, in Kafka and in DataHub BLOB topics."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors.job import change_events, join_halves, read_json

_MESSAGE = """
    schema struct<source: struct<dbName: string, schemaName: string, tableName: string>>,
    payload struct<
        before: struct<dataColumn: variant>, after: struct<dataColumn: variant>,
        sequenceId: string, op: string, timestamp: struct<eventTime: bigint>
    >
"""


def events(messages: DataFrame, source_format: str) -> DataFrame:
    read = read_json(messages, _MESSAGE)
    source, payload = F.col("m.schema.source"), F.col("m.payload")
    return join_halves(
        change_events(
            read,
            source_format,
            table_id=F.concat_ws(".", source.dbName, source.schemaName, source.tableName),
            op=F.when(payload.op.startswith("UPDATE"), "update").otherwise(F.lower(payload.op)),
            before=payload.before.dataColumn,
            after=payload.after.dataColumn,
            event_at=F.timestamp_millis(payload.timestamp.eventTime),
            position=payload.sequenceId,
        )
    )
