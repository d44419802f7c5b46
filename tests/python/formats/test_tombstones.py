"""An erased row leaves in staging what a queue tombstone leaves there."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.formats import canal_json
from cdc_marts.parsing.records import as_tombstones
from tests.python.formats.staging import landed, rows_of
from tests.python.formats.test_canal_json import INSERT, UPDATE


def test_a_redacted_row_is_that_of_a_tombstone_and_the_others_stay(spark: SparkSession) -> None:
    records = canal_json.parse(landed(spark, [INSERT, UPDATE]))
    first, second = rows_of(as_tombstones(records, F.col("offset") == 0))
    [tombstone] = rows_of(canal_json.parse(landed(spark, [None])))
    assert first == tombstone
    assert second == rows_of(records)[1]
