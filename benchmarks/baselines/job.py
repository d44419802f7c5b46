"""What the baselines of all formats share: the two tables, and how they are written."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

NAMESPACE = "baseline"
CHANGE_EVENTS = f"{NAMESPACE}.change_events"
LATEST_STATE = f"{NAMESPACE}.latest_state"

#: Columns that a baseline reads from the messages -> their types. Others are derived from these.
_PARSED_COLUMNS = {
    "row_index": "int",
    "source_type": "string",
    "database_name": "string",
    "schema_name": "string",
    "table_name": "string",
    "op": "string",
    "source_op": "string",
    "row_key": "string",
    "before": "variant",
    "after": "variant",
    "column_types": "map<string,string>",
    "event_at": "timestamp",
    "published_at": "timestamp",
    "transaction_id": "string",
    "position": "decimal(38,0)",
    "transaction_index": "bigint",
}
#: Columns of the marts that the baselines write too, except ids, which each job may define itself.
EVENT_COLUMNS = (
    *("source_format", "topic", "partition", "offset", "row_index", "source_type"),
    *("database_name", "schema_name", "table_name", "table_id", "op", "source_op"),
    *("key_columns", "row_key", "previous_row_key", "before", "after", "unavailable_columns"),
    *("column_types", "event_at", "published_at", "landed_at", "transaction_id", "sequence"),
)
STATE_COLUMNS = (
    *("source_format", "table_id", "database_name", "schema_name", "table_name", "row_key"),
    *("row", "row_count", "last_op", "last_event_at", "last_sequence", "first_event_at"),
)
_COORDINATES = ("topic", "partition", "offset", "landed_at")


def read_json(messages: DataFrame, schema: str) -> DataFrame:
    """Return the coordinates of landed messages, and `m`, their content."""
    return read(messages, F.from_json(F.col("value").cast("string"), schema))


def read(messages: DataFrame, message: Column) -> DataFrame:
    """Return the coordinates of landed messages, and `m`, the parsed message."""
    return messages.select(*_COORDINATES, message.alias("m"))


def change_events(
    rows: DataFrame, source_format: str, key_column: str = "id", /, **columns: Column
) -> DataFrame:
    """Return the change events of rows with the coordinates of their messages.

    `columns`: some of `_PARSED_COLUMNS`. If `row_key` is not among them, it is made from the key
    column in the image.
    """
    events = rows.select(
        *_COORDINATES,
        *(
            columns.get(name, F.lit(0 if name == "row_index" else None)).cast(type_).alias(name)
            for name, type_ in _PARSED_COLUMNS.items()
        ),
    )
    key = F.to_json(F.variant_get(F.coalesce("after", "before"), f"$.{key_column}", "variant"))
    made = {
        "event_id": F.concat_ws(":", F.lit(source_format), *_COORDINATES[:3], "row_index"),
        "source_format": F.lit(source_format),
        "table_id": F.concat_ws(".", "database_name", "schema_name", "table_name"),
        "key_columns": F.array(F.lit(key_column)),
        "row_key": F.coalesce("row_key", F.concat(F.lit(f'{{"{key_column}":'), key, F.lit("}"))),
        "previous_row_key": F.lit(None).cast("string"),
        "unavailable_columns": F.array().cast("array<string>"),
        "sequence": F.struct(
            "position",
            F.coalesce("transaction_index", F.xxhash64("topic")).alias("transaction_index"),
            "partition",
            "offset",
            F.when(F.col("transaction_index").isNotNull(), F.hash("topic"))
            .otherwise(F.col("row_index"))
            .alias("row_index"),
        ),
    }
    return events.select(
        *(made.get(name, F.col(name)).alias(name) for name in ("event_id", *EVENT_COLUMNS))
    )


def join_halves(events: DataFrame) -> DataFrame:
    """Join updates that came as two messages of one log position to one event each."""
    place = ("source_format", "table_id", "op", "row_key", "sequence.position")
    last = [name for name in events.columns if name not in ("before", "after", "landed_at")]
    joined = events.groupBy(*place).agg(
        F.max_by(F.struct(*last), "sequence").alias("last"),
        F.first("before", ignorenulls=True).alias("before"),
        F.first("after", ignorenulls=True).alias("after"),
        F.max("landed_at").alias("landed_at"),
    )
    return joined.select(*(f"last.{name}" if name in last else name for name in events.columns))


def write_change_events(events: DataFrame) -> None:
    events.writeTo(CHANGE_EVENTS).using("iceberg").createOrReplace()


def write_latest_state(session: SparkSession) -> None:
    """Write the newest event of each row, unless it is a delete."""
    newest = F.struct(
        "database_name",
        "schema_name",
        "table_name",
        F.col("after").alias("row"),
        F.col("op").alias("last_op"),
        F.col("event_id").alias("last_event_id"),
        F.col("event_at").alias("last_event_at"),
        F.col("sequence").alias("last_sequence"),
    )
    rows = (
        session.table(CHANGE_EVENTS)
        .groupBy("source_format", "table_id", "row_key")
        .agg(
            F.max_by(newest, "sequence").alias("newest"),
            F.min("event_at").alias("first_event_at"),
        )
        .select("*", "newest.*", F.lit(1).cast("bigint").alias("row_count"))
    )
    state = rows.where("last_op <> 'delete'").select(*STATE_COLUMNS, "last_event_id")
    state.writeTo(LATEST_STATE).using("iceberg").createOrReplace()
