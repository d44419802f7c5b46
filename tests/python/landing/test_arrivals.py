"""Which of the landed messages are parsed: each once, as it arrived first."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts import offset_ranges
from cdc_marts.arrivals import parse_arrivals, staging_rows
from cdc_marts.offset_blocks import blocks_of

#: Around the ends of a word of 64 offsets, and far apart.
OFFSETS = (0, 1, 63, 64, 65, 127, 10**12, 2**62)
FIRST_BUILD = SimpleNamespace(is_incremental=False)


def landed(spark: SparkSession, *messages: tuple[str, int, int, int]) -> DataFrame:
    """Messages of (topic, partition, offset, landing commit)."""
    schema = "topic string, partition int, offset bigint, landing_commit bigint"
    rows = spark.createDataFrame(messages, schema)
    return rows.select(
        "*", F.timestamp_seconds(F.lit(0)).alias("landed_at"), F.lit(b"").alias("value")
    )


def as_they_are(arrived: DataFrame) -> DataFrame:
    return arrived


def nothing_removed(messages: DataFrame) -> DataFrame:
    return blocks_of(messages.limit(0))


def parsed(messages: DataFrame) -> list[tuple[str, int, int, int]]:
    rows = parse_arrivals(messages, FIRST_BUILD, as_they_are, nothing_removed(messages))
    return sorted(
        map(tuple, rows.select("topic", "partition", "offset", "landing_commit").collect())
    )


def test_messages_that_come_once_are_parsed_as_they_are(spark: SparkSession) -> None:
    once = [
        (topic, partition, offset, 1)
        for topic in ("orders", "customers")
        for partition in (0, 1)
        for offset in OFFSETS
    ]
    messages = landed(spark, *once)
    assert parse_arrivals(messages, FIRST_BUILD, as_they_are, nothing_removed(messages)) is messages
    assert parsed(messages) == sorted(once)


@pytest.mark.parametrize("repeated", OFFSETS)
def test_of_a_repeated_message_the_first_is_parsed(spark: SparkSession, repeated: int) -> None:
    once = [("orders", 0, offset, 2) for offset in OFFSETS if offset != repeated]
    arrivals = [("orders", 0, repeated, commit) for commit in (3, 1, 2)]
    assert parsed(landed(spark, *once, *arrivals)) == sorted([*once, ("orders", 0, repeated, 1)])


def test_as_many_repeated_as_missing_are_still_seen(spark: SparkSession) -> None:
    """The offsets 0 to 5, by their number, their bounds and their sum."""
    offsets = (0, 1, 1, 4, 4, 5)
    messages = landed(spark, *(("orders", 0, offset, 1) for offset in offsets))
    assert [offset for _, _, offset, _ in parsed(messages)] == [0, 1, 4, 5]


def test_a_model_that_is_built_anew_keeps_its_rows_of_removed_messages(spark: SparkSession) -> None:
    """The message 1 landed again, 2 was never removed, and 3 and 4 are removed from landing."""
    messages = landed(spark, ("orders", 0, 1, 9), ("orders", 0, 2, 2))
    kept = landed(spark, *(("orders", 0, offset, offset) for offset in (1, 2, 3, 4)))
    kept.createOrReplaceTempView("staged_rows")
    removed = blocks_of(kept.where("offset <> 2"))
    model = SimpleNamespace(is_incremental=False, this="staged_rows")
    rows = parse_arrivals(messages, model, as_they_are, removed)
    found = sorted(tuple(row) for row in rows.select("offset", "landing_commit").collect())
    assert found == [(1, 1), (2, 2), (3, 3), (4, 4)]


def test_rows_of_other_columns_are_not_kept(spark: SparkSession) -> None:
    messages = landed(spark, ("orders", 0, 1, 1))
    messages.drop("value").createOrReplaceTempView("older_rows")
    model = SimpleNamespace(is_incremental=False, this="older_rows")
    with pytest.raises(DbtRuntimeError, match="without_removed_messages: true"):
        parse_arrivals(messages, model, as_they_are, blocks_of(messages))


@pytest.mark.parametrize("most_conditions", [1, 2, 200])
def test_messages_that_an_earlier_run_read_are_not_parsed_again(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most_conditions: int
) -> None:
    """Also if there are more partitions than conditions, and their offsets are far apart."""
    monkeypatch.setattr(offset_ranges, "_MOST_CONDITIONS", most_conditions)
    messages = [("orders", 0, 5, 2), ("orders", 1, 10**12, 2), ("customers", 0, 7, 2)]
    read_again = [("orders", 1, 10**12 - 1, 2), ("customers", 0, 6, 2)]
    # These are not among the messages, though their partition or their offset is.
    others = [("orders", 1, 5, 1), ("carts", 0, 7, 1), ("customers", 0, 5, 1)]
    landed(spark, *read_again, *others).createOrReplaceTempView("staged_before")
    run = SimpleNamespace(is_incremental=True, this="staged_before", replaceable_rows=None)
    rows = parse_arrivals(
        landed(spark, *messages, *read_again), run, as_they_are, blocks_of(landed(spark, *messages))
    )
    assert sorted(
        tuple(row)
        for row in rows.select("topic", "partition", "offset", "landing_commit").collect()
    ) == sorted(messages)


def test_a_staging_model_parses_its_new_messages_with_the_settings_of_its_format(
    spark: SparkSession,
) -> None:
    messages = landed(spark, ("orders", 0, 1, 1), ("orders", 0, 2, 1))
    removed = nothing_removed(messages).withColumn("source_format", F.lit("one"))
    model = SimpleNamespace(is_incremental=False, new_rows=lambda frame: frame.where("offset = 2"))
    tables = {
        name: {"source_format": name, "table_id": f"shop.{name}", "key": ["id"]}
        for name in ("one", "other")
    }
    given = {}

    def parse(arrived: DataFrame, **settings: object) -> DataFrame:
        given.update(settings)
        return arrived

    parser = SimpleNamespace(SOURCE_FORMAT="one", parse=parse)
    rows = staging_rows(model, parser, messages, removed, tables, topics={"orders": "shop"})
    assert [row.offset for row in rows.collect()] == [2]
    assert given == {"key_settings": {"shop.one": ["id"]}, "topics": {"orders": "shop"}}
