"""A typed mart never holds another number than the one that was published."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.typed.casts import cast_exactly

pytestmark = pytest.mark.thorough

#: Texts that a type can't hold.
INEXACT = {
    "double": [
        "12345678901234567.89",
        "9007199254740993",
        "9007199254740993.0",
        "12345678901234567",
        "1234567890123456.7",
        "281474976710656.13",
        "3.14159265358979323846",
        "0.12345678901234567890",
        "29.999999999999999",
        *("1e400", "-1e400", "1e-400", "1e-324"),
        *("twelve", "", "."),
    ],
    "float": [
        *("16777217", "123456789", "0.123456789012", "3.5e38", "1e-50", "1e400"),
        *("twelve", ""),
    ],
}

#: Texts that engines print, or people write -> what they are read as.
EXACT = {
    "double": {
        "0.1": 0.1,
        "-0.10": -0.1,
        "+1e3": 1000.0,
        "1.0E-001": 0.1,
        "12345678901234568.00": 12345678901234568.0,
        "1.7976931348623157E308": 1.7976931348623157e308,
        "4.9E-324": 5e-324,
        "0": 0.0,
        "-0.0": -0.0,
        # 17 digits, as PostgreSQL before 12 has them
        "0.10000000000000001": 0.1,
        "1234567890123456.8": 1234567890123456.8,
        # half of the last digit away
        "281474976710656.12": 281474976710656.125,
        "2.8147497671065612e+14": 281474976710656.125,
        "1e+23": 1e23,
        # longer than they need to be, as Java before 19 has them
        "8.409999999999999E21": 8.41e21,
        "5.6843418860808015E-14": 2.0**-44,
        # of a float
        "0.10000000149011612": 0.10000000149011612,
        "NaN": math.nan,
        "-Infinity": -math.inf,
        "Inf": math.inf,
    },
    "float": {
        # half of the last digit away
        "485628.938": 485628.9375,
        "0.1": 0.10000000149011612,
        "1.17549435E-38": 2.0**-126,
        "1.1754944E-38": 2.0**-126,
        "1.17549e-38": 1.1754900067970481e-38,
        "3.4028235E38": 3.4028234663852886e38,
        "1.4E-45": 2.0**-149,
        "16777216": 16777216.0,
        # MySQL prints six digits
        "12345700000": 12345700352.0,
        # with nine digits, as a double, with a fixed number of decimals
        "0.100000001": 0.10000000149011612,
        "0.10000000149011612": 0.10000000149011612,
        "0.1000000015": 0.10000000149011612,
        "1.23456788E10": 12345678848.0,
        "NaN": math.nan,
        "Infinity": math.inf,
    },
}


def read(session: SparkSession, type_: str, texts: list[str]) -> list[float | None]:
    frame = session.createDataFrame(list(enumerate(texts)), "number int, text string")
    value = cast_exactly(F.col("text"), "string", type_).cast("double").alias("read")
    return [row.read for row in frame.select("number", value).sort("number").collect()]


@pytest.mark.parametrize("type_", ["double", "float"])
def test_what_a_type_holds_is_read(spark: SparkSession, type_: str) -> None:
    values = read(spark, type_, list(EXACT[type_]))
    assert list(map(str, values)) == list(map(str, EXACT[type_].values()))


@pytest.mark.parametrize("type_", ["double", "float"])
def test_what_a_type_does_not_hold_is_null(spark: SparkSession, type_: str) -> None:
    values = read(spark, type_, INEXACT[type_])
    assert dict(zip(INEXACT[type_], values, strict=True)) == dict.fromkeys(INEXACT[type_])


RANDOM = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
doubles = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
floats = st.integers(0, 2**32 - 1).map(lambda bits: struct.unpack("f", struct.pack("I", bits))[0])


@RANDOM
@given(st.lists(doubles, min_size=100))
def test_every_rendering_of_a_double_is_that_double(
    spark: SparkSession, numbers: list[float]
) -> None:
    numbers = [n for n in numbers if n == 0 or 1e-290 < abs(n) < 1e290]
    for rendering in ("{!r}", "{:.17g}", "{:.16e}"):
        texts = list(map(rendering.format, numbers))
        assert read(spark, "double", texts) == numbers


@RANDOM
@given(st.lists(floats, min_size=100))
def test_every_rendering_of_a_float_is_that_float(
    spark: SparkSession, numbers: list[float]
) -> None:
    numbers = [n for n in numbers if 1e-37 < abs(n) < math.inf]
    for rendering in ("{!r}", "{:.9g}", "{:.17g}"):
        texts = list(map(rendering.format, numbers))
        assert read(spark, "float", texts) == numbers


@RANDOM
@given(st.lists(st.decimals(-(10**18), 10**18, places=4), min_size=100))
def test_a_double_is_off_by_half_of_the_last_digit_at_most(
    spark: SparkSession, numbers: list[Decimal]
) -> None:
    values = read(spark, "double", [f"{number:f}" for number in numbers])
    for number, value in zip(numbers, values, strict=True):
        _, digits, exponent = number.normalize().as_tuple()
        assert value is not None or len(digits) > 15, number
        if value is not None:
            off = abs(Fraction(value) - Fraction(number))
            assert off <= Fraction(10) ** exponent / 2 + Fraction(12, 10**17), number
