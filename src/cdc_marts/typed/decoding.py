"""The decoding rules of the code table.

A rule turns a published value into text, which is still to be cast, or into a value of the column's
own type. It returns null for a value that does not have its form.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.expressions import bytes_of_base64
from cdc_marts.typed.casts import cast_exactly
from cdc_marts.typed.types import ColumnType

#: (the value as text, the value as VARIANT, its type) -> the decoded value.
Decoder = Callable[[Column, Column, ColumnType], Column]

_TWO_TO_64 = Decimal(2**64)
#: Long integers are converted in steps of so many hexadecimal digits, into parts of so many decimal
#: ones. So each product fits a bigint, and no step has more parts than it has read chunks.
_HEX_DIGITS, _DIGITS = 6, 9
#: A number of more than 38 digits, which a VARIANT can hold only as text. Base64 of a number has
#: letters nearly always if it is so long.
_LONG_NUMBER = r"^(?=.{39})-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"

#: The first and the last time of the years 1 to 9999, in microseconds and in days since 1970.
_CALENDAR_MICROS = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_CALENDAR_DAYS = (-719_162, 2_932_896)


def read_value(text: Column, value: Column, column_type: ColumnType, spark_type: str) -> Column:
    """Return a published value as a Spark type; null if it does not fit.

    `text`, `value`: the value as string and as VARIANT.
    """
    if column_type.is_array:
        if spark_type != column_type.spark_type:
            return cast_exactly(text, "string", spark_type)
        return _read_array(value, column_type.element)
    decoded = DECODERS[column_type.decoding](text, value, column_type)
    return cast_exactly(decoded, _decoded_type(column_type), spark_type)


def _decoded_type(column_type: ColumnType) -> str:
    decoding, spark_type = column_type.decoding, column_type.spark_type
    is_typed = (
        decoding.startswith("epoch_")
        or decoding == "variant"
        or (spark_type == "binary" and decoding != "text")
    )
    return spark_type if is_typed else "string"


def _read_array(value: Column, element: ColumnType) -> Column:
    """Read each element by the rule of its type; null if one does not fit."""
    elements = F.transform(
        value.try_cast("array<variant>"),
        lambda item: F.struct(item.alias("value"), item.try_cast("string").alias("text")),
    )
    read = F.transform(
        elements,
        lambda item: F.struct(
            item["text"].alias("text"),
            read_value(item["text"], item["value"], element, element.spark_type).alias("value"),
        ),
    )
    misfits = F.exists(read, lambda item: item["text"].isNotNull() & item["value"].isNull())
    return F.when(~misfits, read["value"])


# --- Texts and values that stay as they are -----------------------------------------------------


def _text(text: Column, value: Column, column_type: ColumnType) -> Column:
    return text


def _variant(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Return the value as it is, but NULL for JSON's null, which is a value in Spark's VARIANT."""
    return F.when(~F.is_variant_null(value), value)


# --- Numbers and bytes in base64, bytes in hexadecimal digits ------------------------------------


def _base64(text: Column, value: Column, column_type: ColumnType) -> Column:
    return bytes_of_base64(text)


def _hexadecimal(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Return the bytes of pairs of hexadecimal digits. Spark would also take a single digit."""
    return F.when(F.length(text) % 2 == 0, F.try_to_binary(text, F.lit("hex")))


def _base64_decimal(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read Connect's Decimal: base64 of an unscaled number, or a number if so converted."""
    scale = F.lit(int(column_type.parameters.get("scale", 0)))
    decoded = scaled_digits(integer_of_bytes(bytes_of_base64(text)), scale)
    is_base64 = (F.schema_of_variant(value) == "STRING") & ~text.rlike(_LONG_NUMBER)
    return F.when(is_base64, decoded).otherwise(text)


def _variable_scale_decimal(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read Debezium's VariableScaleDecimal, `{"scale": 2, "value": "<base64>"}`."""
    digits = integer_of_bytes(bytes_of_base64(F.try_variant_get(value, "$.value", "string")))
    return scaled_digits(digits, F.try_variant_get(value, "$.scale", "int"))


def _little_endian_bits(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read Debezium's Bits as a number. The first bit is the lowest.

    If the type has more than 64 bits, return the bytes as they came.
    """
    published = bytes_of_base64(text)
    if column_type.spark_type == "binary":
        return published
    digits = F.array_join(F.reverse(F.regexp_extract_all(F.hex(published), F.lit("(..)"))), "")
    # Without bits, there is no digit but the 0.
    return F.conv(F.concat(F.lit("0"), digits), 16, 10)


def integer_of_bytes(published: Column) -> Column:
    """Return the decimal digits of big-endian two's-complement bytes."""
    digits = F.hex(published)
    is_negative = digits >= "8"
    sign = F.when(is_negative, "F").otherwise("0")
    ones = F.when(is_negative, 1).otherwise(0)
    wide = F.lpad(digits, 32, sign)
    # Two halves of 64 bits, both of the number's sign.
    high = F.conv(F.left(wide, F.lit(16)), 16, -10).cast("decimal(20,0)") + ones
    low = F.conv(F.right(wide, F.lit(16)), 16, 10).cast("decimal(20,0)") - ones * _TWO_TO_64
    in_a_decimal = F.try_add(F.try_multiply(high, F.lit(_TWO_TO_64)), low).cast("string")
    return (
        F.when(F.length(digits).between(1, 16), F.conv(F.lpad(digits, 16, sign), 16, -10))
        .when(F.length(digits).between(17, 32), F.coalesce(in_a_decimal, _long_integer(digits)))
        .when(F.length(digits) > 32, _long_integer(digits))
    )


def _long_integer(digits: Column) -> Column:
    """Return the decimal digits of two's-complement bytes in hexadecimal, however many."""
    is_negative = digits >= "8"
    # The complement of a negative number is less by 1 than its amount.
    complement = F.translate(digits, "0123456789ABCDEF", "FEDCBA9876543210")
    amount = F.when(is_negative, complement).otherwise(digits)
    chunk_count = F.ceil(F.length(digits) / _HEX_DIGITS)
    padded = F.lpad(amount, (chunk_count * _HEX_DIGITS).cast("int"), F.lit("0"))
    chunks = F.regexp_extract_all(padded, F.lit(f"(.{{{_HEX_DIGITS}}})"))
    zeros = F.array_repeat(F.lit(0).cast("bigint"), chunk_count.cast("int"))
    parts = F.aggregate(
        chunks,
        zeros,
        lambda parts, chunk: _times_plus(parts, 16**_HEX_DIGITS, F.conv(chunk, 16, 10)),
    )
    amounts = F.when(is_negative, _times_plus(parts, 1, F.lit("1"))).otherwise(parts)
    texts = F.transform(F.reverse(amounts), lambda part: F.lpad(part.cast("string"), _DIGITS, "0"))
    return F.concat(
        F.when(is_negative, "-").otherwise(""),
        F.regexp_replace(F.array_join(texts, ""), r"^0+(?=\d)", ""),
    )


def _times_plus(parts: Column, factor: int, addend: Column) -> Column:
    """Multiply a number by `factor`, and add `addend`.

    `parts`: the number as decimal digits in parts of 9, the lowest ones first. The result has as
    many parts.
    """

    def carried(done: Column, part: Column) -> Column:
        sum_ = part * factor + done["carry"]
        digits = F.lit(10**_DIGITS).cast("bigint")
        return F.struct(
            F.concat(done["parts"], F.array(sum_ % digits)).alias("parts"),
            F.call_function("div", sum_, digits).alias("carry"),
        )

    begin = F.struct(
        F.array().cast("array<bigint>").alias("parts"), addend.cast("bigint").alias("carry")
    )
    return F.aggregate(parts, begin, carried, lambda done: done["parts"])


def scaled_digits(digits: Column, scale: Column) -> Column:
    """Return the digits of an unscaled integer with their point."""
    zeros_before = F.concat(F.lit("$1"), F.repeat(F.lit("0"), scale))
    zeros_behind = F.repeat(F.lit("0"), -scale)
    padded = F.concat(F.regexp_replace(digits, F.lit("^(-?)"), zeros_before), zeros_behind)
    fraction = F.concat(F.lit(r"(\d{"), F.greatest(scale, F.lit(0)), F.lit("})$"))
    pointed = F.regexp_replace(padded, fraction, F.lit(".$1"))
    return F.regexp_replace(pointed, r"^(-?)0+(?=\d)|\.$", "$1")


# --- MySQL's own types, as a Canal server writes them --------------------------------------------


def _mysql_enum(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Return the label of an ENUM that is written as a number. A label is kept.

    0 is MySQL's empty label.
    """
    labels = F.array(*map(F.lit, _labels(column_type.name))).cast("array<string>")
    return (
        F.when(text == "0", "")
        .when(text.rlike("^[0-9]+$"), F.get(labels, text.try_cast("int") - 1))
        .when(F.array_contains(labels, text), text)
    )


def _mysql_set(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Return the labels of a SET that is written as bits, with commas between, as in MySQL."""
    labels = _labels(column_type.name)
    bits = F.conv(text, 10, 2)
    padded = F.lpad(bits, 64, "0")
    chosen = [
        F.when(F.substring(padded, 64 - number, 1) == "1", label)
        for number, label in enumerate(labels)
    ]
    is_number = text.rlike("^[0-9]+$")
    known = F.array(F.lit(""), *map(F.lit, labels))
    others = F.array_except(F.split(text, ","), known)
    return F.when(is_number & (F.length(bits) <= len(labels)), F.concat_ws(",", *chosen)).when(
        ~is_number & (F.size(others) == 0), text
    )


def _labels(column_type: str) -> list[str]:
    """Return the labels of `enum('a','it''s')`."""
    return [label.replace("''", "'") for label in re.findall("'((?:[^']|'')*)'", column_type)]


def _latin1(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read binaries that have one character per byte; null if a character is no byte."""
    return F.when(text.rlike(r"^[\x{00}-\x{FF}]*$"), F.encode(text, "ISO-8859-1"))


def _padded_latin1(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read BINARY(n). Canal leaves out the zero bytes that pad it."""
    published = _latin1(text, value, column_type)
    length = re.search(r"\(\s*(\d+)", column_type.name)
    if length is None:
        return published
    return F.rpad(published, int(length[1]), F.lit(bytearray(b"\0")))


# --- Times ---------------------------------------------------------------------------------------


def _epoch_days(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Return the date of days since 1970-01-01; null outside the years 1 to 9999."""
    days = text.try_cast("int")
    date = F.date_add(F.lit(dt.date(1970, 1, 1)), days)
    return F.when(days.between(*_CALENDAR_DAYS), date)


def _epoch_millis(text: Column, value: Column, column_type: ColumnType) -> Column:
    micros = F.try_multiply(text.try_cast("bigint"), F.lit(1000).cast("bigint"))
    return _time_of_micros(micros, column_type.spark_type)


def _epoch_micros(text: Column, value: Column, column_type: ColumnType) -> Column:
    return _time_of_micros(text.try_cast("bigint"), column_type.spark_type)


def _epoch_nanos(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read nanoseconds; null if they are no whole microseconds, since nothing may be cut off."""
    nanos = text.try_cast("bigint")
    micros = F.when(nanos % 1000 == 0, _divided(nanos, 1000))
    return _time_of_micros(micros, column_type.spark_type)


def _time_of_micros(micros: Column, spark_type: str) -> Column:
    """Return the time of microseconds since 1970 (UTC); null outside the years 1 to 9999."""
    time = F.timestamp_micros(micros).cast(spark_type)
    return F.when(micros.between(*_CALENDAR_MICROS), time)


def _without_utc_mark(text: Column, value: Column, column_type: ColumnType) -> Column:
    """Read what Debezium's isostring writes as if in UTC: `2017-09-15Z` is a plain date."""
    return F.regexp_replace(text, "Z$", "")


def _millis_of_day(text: Column, value: Column, column_type: ColumnType) -> Column:
    return _time_text(text, 1000)


def _micros_of_day(text: Column, value: Column, column_type: ColumnType) -> Column:
    return _time_text(text, 1_000_000)


def _nanos_of_day(text: Column, value: Column, column_type: ColumnType) -> Column:
    return _time_text(text, 1_000_000_000)


def _time_text(text: Column, per_second: int) -> Column:
    """Return a time or a duration in fractions of a second as `HH:mm:ss[.f…]`.

    MySQL's times may be negative, or have more than 24 hours.
    """
    fractions = text.try_cast("bigint")
    seconds = _divided(F.abs(fractions), per_second)
    hours = _divided(seconds, 3600).cast("string")
    minutes = (_divided(seconds, 60) % 60).cast("string")
    width = len(str(per_second)) - 1
    fraction = F.lpad((F.abs(fractions) % per_second).cast("string"), width, "0")
    return F.concat(
        F.when(fractions < 0, "-").otherwise(""),
        F.lpad(hours, F.greatest(F.lit(2), F.length(hours)), "0"),
        F.lit(":"),
        F.lpad(minutes, 2, "0"),
        F.lit(":"),
        F.lpad((seconds % 60).cast("string"), 2, "0"),
        F.regexp_replace(F.concat(F.lit("."), fraction), "[.]?0*$", ""),
    )


def _divided(number: Column, divisor: int) -> Column:
    """Return the whole part of a quotient."""
    return F.call_function("div", number, F.lit(divisor))


#: name of a rule in the code table -> its function
DECODERS: dict[str, Decoder] = {
    "text": _text,
    "variant": _variant,
    "base64": _base64,
    "hexadecimal": _hexadecimal,
    "base64_decimal": _base64_decimal,
    "variable_scale_decimal": _variable_scale_decimal,
    "little_endian_bits": _little_endian_bits,
    "mysql_enum": _mysql_enum,
    "mysql_set": _mysql_set,
    "latin1": _latin1,
    "padded_latin1": _padded_latin1,
    "epoch_days": _epoch_days,
    "epoch_millis": _epoch_millis,
    "epoch_micros": _epoch_micros,
    "epoch_nanos": _epoch_nanos,
    "without_utc_mark": _without_utc_mark,
    "millis_of_day": _millis_of_day,
    "micros_of_day": _micros_of_day,
    "nanos_of_day": _nanos_of_day,
}
