"""A checkpoint can be joined with what it is made from."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed


def column_ids(frame: DataFrame) -> set[int]:
    """The ids by which Spark distinguishes the columns."""
    output = frame._jdf.queryExecution().analyzed().output()
    return {output.apply(at).exprId().id() for at in range(output.size())}


def test_the_columns_of_a_checkpoint_are_its_own(spark: SparkSession) -> None:
    numbers = spark.range(8).select(
        F.col("id").alias("number"), F.struct("id").alias("nested"), F.lit("a").alias("a.b c")
    )
    kept = checkpointed(numbers)
    assert column_ids(kept).isdisjoint(column_ids(numbers))
    assert kept.schema == numbers.schema
    assert kept.collect() == numbers.collect()


def test_a_checkpoint_is_computed_once(spark: SparkSession) -> None:
    kept = checkpointed(spark.range(8).withColumn("drawn", F.rand()))
    assert kept.collect() == kept.collect()


def test_a_sorted_checkpoint_is_joined_with_its_origin(spark: SparkSession) -> None:
    numbers = spark.range(8).withColumn("parity", F.col("id") % 2)
    kept = checkpointed(numbers.sort("parity").select("id"))
    assert numbers.join(kept, ["id"], "left_semi").count() == 8
