"""What the bytes of a VARIANT show of its values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from cdc_marts.parsing.variants import (
    may_hold_bytes,
    may_hold_infinity,
    may_hold_text,
    variant_hash,
)

IMAGES = [
    '{"id": 1, "name": "a"}',
    '{"id": 2, "name": "a"}',
    '{"id": "1", "name": "a"}',
    '{"id": 1, "name": null}',
    '{"id": 1}',
    '{"id": 1, "title": "a"}',
    '{"id": 1, "name": ["a"]}',
    '{"id": 1, "name": {"a": 1}}',
    '{"id": 1.0, "name": "a"}',
    '{"id": 1e0, "name": "a"}',
    "{}",
    "null",
]


def seen(session: SparkSession, images: list[str | None], look: Callable[[Column], Column]) -> list:
    """What is seen in the images, compiled and interpreted, where both must be the same."""
    rows = session.createDataFrame([(image,) for image in images], "image string").select(
        F.from_json(F.concat(F.lit("["), "image", F.lit("]")), "array<variant>")[0].alias("image")
    )
    found = rows.select(
        look(F.col("image")).alias("compiled"),
        F.transform(F.array("image"), look)[0].alias("interpreted"),
    ).collect()
    assert [row.compiled for row in found] == [row.interpreted for row in found]
    return [row.compiled for row in found]


def has_infinity(image: Column) -> Column:
    return may_hold_infinity(image)


def test_images_that_differ_have_different_hashes(spark: SparkSession) -> None:
    hashes = dict(zip(IMAGES, seen(spark, [*IMAGES], variant_hash), strict=True))
    for one, other in combinations(IMAGES, 2):
        assert hashes[one] != hashes[other], (one, other)


def test_an_image_has_one_hash_however_it_is_spaced(spark: SparkSession) -> None:
    image = '{"id":1,"name":"\\u00e9","tags":[1,{"a":2.50}]}'
    spaced = '{ "id" : 1, "name" : "é",\n "tags": [1, {"a": 2.50}] }'
    one, other, nothing = seen(spark, [image, spaced, None], variant_hash)
    assert one == other is not None
    assert nothing is None


@pytest.mark.parametrize("number", ["1e309", "-1e309", "12.5E+400", "-0.1e999"])
@pytest.mark.parametrize("image", ['{{"n": {0}}}', '[{{"a": [1, {{"b": [{0}]}}]}}]', "{0}"])
def test_an_infinite_number_is_seen_wherever_it_stands(
    spark: SparkSession, number: str, image: str
) -> None:
    assert seen(spark, [image.format(number)], has_infinity) == [True]


def test_no_other_value_looks_infinite(spark: SparkSession) -> None:
    images = ['{"n": 1.7976931348623157e308, "m": -5e-324, "t": "1e999", "i": 1}', "null", None]
    assert seen(spark, [*images], has_infinity) == [False, False, False]


def test_a_text_is_seen_wherever_it_stands(spark: SparkSession) -> None:
    long = "-" * 300
    images = ['"<trace>"', f'{{"a": ["{long}<trace>{long}"]}}', '{"a": "<trac"}', '{"a": 1}', None]
    found = seen(spark, [*images], lambda image: may_hold_text(["no", "<trace>"], image))
    assert found == [True, True, False, False, False]


def test_bytes_are_seen_as_an_array_of_numbers(spark: SparkSession) -> None:
    images = ["[1, 2, 3]", '{"a": [[0, 1,2 ,3, 4]]}', '{"a": "[1,2,3]"}', "[1, 2]", "[1, 2, 4]"]
    found = seen(spark, [*images], lambda image: may_hold_bytes(b"\x01\x02\x03", image))
    assert found == [True, True, False, False, False]


def test_one_of_several_is_enough(spark: SparkSession) -> None:
    rows = spark.sql("select parse_json('{}') as one, cast(null as variant) as no, 'x' as text")
    found = rows.select(
        may_hold_text(["x"], F.col("one"), F.col("no")).alias("in_none"),
        may_hold_text(["x"], F.col("no"), F.col("text").cast("variant")).alias("in_last"),
    ).first()
    assert found is not None
    assert (found.in_none, found.in_last) == (False, True)
