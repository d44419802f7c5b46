"""Connect's decimals, base64 of two's-complement bytes, are exact."""

from __future__ import annotations

import base64
from decimal import Context, Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from cdc_marts.expressions import bytes_of_base64
from cdc_marts.typed.decoding import integer_of_bytes, read_value, scaled_digits
from cdc_marts.typed.types import ColumnType

MOST = 10**38 - 1

_EXACT = Context(prec=400)

integers = (
    st.integers(-MOST, MOST)
    | st.integers(-(2**70), 2**70)
    | st.integers(-300, 300)
    | st.integers(-(10**150), 10**150)
)
edges = [
    *(0, 1, -1, 127, 128, -128, -129, MOST, -MOST, MOST + 1, -MOST - 1),
    *(
        sign * 2**bits + step
        for bits in (63, 64, 71, 120, 127, 128, 192, 256, 1000)
        for sign in (1, -1)
        for step in (-1, 0, 1)
    ),
]


def to_base64(number: int, padding: int) -> str:
    """The shortest bytes that hold the number, or some more."""
    size = (number if number >= 0 else -number - 1).bit_length() // 8 + 1 + padding
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def digits() -> Column:
    return integer_of_bytes(bytes_of_base64(F.col("text")))


def query(session: SparkSession, expression: Column, rows: list[tuple[str, int]]) -> list[str]:
    frame = session.createDataFrame(
        [(number, *row) for number, row in enumerate(rows)], "number int, text string, scale int"
    )
    return [
        row.read
        for row in frame.select("number", expression.alias("read")).sort("number").collect()
    ]


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(integers, st.integers(-3, 38), st.integers(0, 1)), min_size=30))
def test_digits_are_those_of_the_number(
    spark: SparkSession,
    numbers: list[tuple[int, int, int]],
) -> None:
    numbers = [*numbers, *((edge, 2, 0) for edge in edges)]
    rows = [(to_base64(number, padding), scale) for number, scale, padding in numbers]
    read = query(spark, scaled_digits(digits(), F.col("scale")), rows)
    assert [Decimal(text) for text in read] == [
        Decimal(number).scaleb(-scale, _EXACT) for number, scale, _ in numbers
    ]
    # as a number is written: no zeros in front, a point only before digits
    assert [
        text
        for text in read
        if text.lstrip("-").startswith("0") and text.lstrip("-0")[:1] not in ("", ".")
    ] == []


@pytest.mark.parametrize("text", ["", "no base64!", "A"])
def test_what_is_no_base64_is_null(spark: SparkSession, text: str) -> None:
    assert query(spark, digits(), [(text, 0)]) == [None]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1234567890" * 4, None),
        (f"-{'1234567890' * 4}.5", None),
        (f"0.{'1234567890' * 4}", None),
        (f"1.{'1234567890' * 4}E-7", None),
        (f"-{'12' * 18}.{'0' * 40}", f"-{'12' * 18}.00"),
        (to_base64(10**28, 16), "1" + "0" * 26 + ".00"),
    ],
)
def test_a_number_of_more_digits_than_a_variant_holds_is_not_taken_for_base64(
    spark: SparkSession, text: str, read: str | None
) -> None:
    published = ColumnType("Decimal", {"scale": "2"}, "decimal(38,2)", "base64_decimal")
    column = F.col("text")
    value = read_value(column, column.cast("variant"), published, published.spark_type)
    assert query(spark, value.cast("string"), [(text, 0)]) == [read]
