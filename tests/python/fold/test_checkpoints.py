"""A checkpoint can be joined with what it is made from, whether the driver holds it or not."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts import checkpoints
from cdc_marts.checkpoints import broadcast_if_few, checkpointed


@pytest.fixture(params=[checkpoints._MOST_HELD_BY_DRIVER, -1], ids=["driver", "executors"])
def most_held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_MOST_HELD_BY_DRIVER", request.param)


def column_ids(frame: DataFrame) -> set[int]:
    """The ids by which Spark distinguishes the columns."""
    output = frame._jdf.queryExecution().analyzed().output()
    return {output.apply(at).exprId().id() for at in range(output.size())}


@pytest.mark.usefixtures("most_held")
def test_the_columns_of_a_checkpoint_are_its_own(spark: SparkSession) -> None:
    numbers = spark.range(8).select(
        F.col("id").alias("number"), F.struct("id").alias("nested"), F.lit("a").alias("a.b c")
    )
    kept = checkpointed(numbers)
    assert column_ids(kept).isdisjoint(column_ids(numbers))
    assert kept.schema == numbers.schema
    assert kept.collect() == numbers.collect()


@pytest.mark.usefixtures("most_held")
def test_a_checkpoint_is_computed_once(spark: SparkSession) -> None:
    kept = checkpointed(spark.range(8).withColumn("drawn", F.rand()))
    assert kept.collect() == kept.collect()


@pytest.mark.usefixtures("most_held")
def test_a_sorted_checkpoint_is_joined_with_its_origin(spark: SparkSession) -> None:
    numbers = spark.range(8).withColumn("parity", F.col("id") % 2)
    kept = checkpointed(numbers.sort("parity").select("id"))
    assert numbers.join(kept, ["id"], "left_semi").count() == 8


def test_a_checkpoint_of_a_few_rows_has_their_values_to_the_last_digit(spark: SparkSession) -> None:
    values = spark.sql(
        """
        select
            timestamp '0001-01-01 00:00:00.000001' as first_year,
            timestamp '1582-10-10 12:00:00' as day_of_no_calendar,
            timestamp '2026-11-27 23:59:59.999999' as at,
            timestamp_ntz '1500-02-28 01:02:03.000004' as at_no_zone,
            date '1582-10-10' as day,
            cast('99999999999999999999999999999999999999' as decimal(38, 0)) as position,
            cast('nan' as double) as number,
            cast('a\\u0000b' as binary) as bytes,
            map('k', named_struct('position', 1bd, 'offset', 2L)) as places,
            array('x', null) as texts,
            cast(null as string) as nothing,
            parse_json('{"amount": 1.10, "at": "2026", "names": ["a", null]}') as image
        """
    )

    kept = checkpointed(values)

    assert kept.isLocal()
    assert kept.schema == values.schema
    shown = "cast(struct(*) as string) as shown", "to_json(image) as image"
    assert kept.selectExpr(*shown).collect() == values.selectExpr(*shown).collect()


def test_many_rows_stay_with_the_executors(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spark.range(40).selectExpr("id", "repeat('x', 100) as text")
    monkeypatch.setattr(checkpoints, "_MOST_HELD_BY_DRIVER", 1_000)

    kept = checkpointed(rows)

    assert not kept.isLocal()
    assert (checkpoints._bytes_of(rows.localCheckpoint()) or 0) > 4_000
    assert spark.range(50).join(broadcast_if_few(kept), ["id"]).count() == 40


def test_rows_of_unknown_size_stay_with_the_executors(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_MOST_LOOKS", 0)
    assert not checkpointed(spark.range(3)).isLocal()


def test_what_reads_an_empty_checkpoint_is_left_out(spark: SparkSession) -> None:
    none = checkpointed(spark.range(8).where("id > 10"))

    joined = spark.range(1000).join(none, ["id"], "left_semi")

    assert joined._jdf.queryExecution().optimizedPlan().nodeName() == "LocalRelation"


def test_rows_are_computed_with_the_settings_of_the_session(spark: SparkSession) -> None:
    """Spark's own setting fails at a key that a map has twice."""
    twice = spark.range(2).selectExpr("map(concat('k', id), 1, concat('k', id), 2) as places")
    assert [row.places for row in checkpointed(twice).collect()] == [{"k0": 2}, {"k1": 2}]
