"""What the floors of all formats share: the two tables, and how they are written."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

NAMESPACE = "floor"
CHANGE_EVENTS = f"{NAMESPACE}.change_events"
LATEST_STATE = f"{NAMESPACE}.latest_state"


def read_json(messages: DataFrame, schema: str) -> DataFrame:
    """Landed messages -> their coordinates, and `m`, what they say."""
    message = F.from_json(F.col("value").cast("string"), schema)
    return messages.select("topic", "partition", "offset", message.alias("m"))


def change_events(
    rows: DataFrame,
    source_format: str,
    *,
    table_id: Column,
    op: Column,
    before: Column,
    after: Column,
    event_at: Column,
    position: Column,
    row_key: Column | None = None,
    row_index: Column | None = None,
) -> DataFrame:
    """Rows with the coordinates of their messages -> change events.

    `row_key`: the key as JSON; if it is not given, the column `id` of the image.
    """
    index = F.lit(0) if row_index is None else row_index
    images = rows.select(
        "topic",
        "partition",
        "offset",
        index.alias("row_index"),
        table_id.alias("table_id"),
        op.alias("op"),
        before.alias("before"),
        after.alias("after"),
        event_at.alias("event_at"),
        position.cast("decimal(38,0)").alias("position"),
        (F.lit(None).cast("string") if row_key is None else row_key).alias("row_key"),
    )
    key = F.to_json(F.variant_get(F.coalesce("after", "before"), "$.id", "variant"))
    return images.select(
        F.lit(source_format).alias("source_format"),
        "table_id",
        "op",
        F.coalesce("row_key", F.concat(F.lit('{"id":'), key, F.lit("}"))).alias("row_key"),
        "before",
        "after",
        "event_at",
        F.struct("position", "partition", "offset", "row_index").alias("sequence"),
        F.concat_ws(":", F.lit(source_format), "topic", "partition", "offset", "row_index").alias(
            "event_id"
        ),
    )


def join_halves(events: DataFrame) -> DataFrame:
    """Updates that came as two messages of one log position become one event each."""
    last = {name: F.max_by(name, "sequence").alias(name) for name in ("event_at", "event_id")}
    columns = {
        "before": F.first("before", ignorenulls=True).alias("before"),
        "after": F.first("after", ignorenulls=True).alias("after"),
        "sequence": F.max("sequence").alias("sequence"),
        **last,
    }
    place = ("source_format", "table_id", "op", "row_key", "sequence.position")
    joined = events.groupBy(*place).agg(*columns.values())
    return joined.select(*events.columns)


def write_change_events(events: DataFrame) -> None:
    events.writeTo(CHANGE_EVENTS).using("iceberg").createOrReplace()


def write_latest_state(session: SparkSession) -> None:
    """The newest event of each row, where it is no delete."""
    newest = (
        session.table(CHANGE_EVENTS)
        .groupBy("source_format", "table_id", "row_key")
        .agg(
            F.max_by(
                F.struct(F.col("after").alias("row"), "op", "event_id", "event_at", "sequence"),
                "sequence",
            ).alias("newest")
        )
    )
    state = newest.select("source_format", "table_id", "row_key", "newest.*").where(
        "op <> 'delete'"
    )
    state.writeTo(LATEST_STATE).using("iceberg").createOrReplace()
