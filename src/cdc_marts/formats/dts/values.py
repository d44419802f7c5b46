"""This module turns column values of DTS Avro records, which are unions, into VARIANTs.

Source: DTS, "Data formats of a message queue", DTS Avro, and the schema definition that this page
links.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.expressions import base64_text
from cdc_marts.formats.dts.charsets import UTF8, is_known_charset, is_text, is_utf8, text_of
from cdc_marts.parsing.messages import rejection
from cdc_marts.parsing.values import is_epoch_seconds

#: Numbers that surely fit a bigint, a decimal(38,19) and a decimal(38,0).
_SHORT_INTEGER = r"^-?[0-9]{1,18}$"
_SHORT_DECIMAL = r"^-?[0-9]{1,19}\.[0-9]{1,19}$"
_LONG_INTEGER = r"^-?[0-9]{1,38}$"
#: Sign, digits before and after the point without outer zeros, exponent.
_NUMBER = r"^([+-]?)0*([0-9]*)(?:\.([0-9]*?)0*)?(?:[eE]([+-]?[0-9]{1,3}))?$"
_LONGEST_NUMBER = 200


def value_of(value: Column, is_json: Column) -> Column:
    """Turn a value union into a VARIANT; SQL null means that the message does not carry the column.

    Integers and decimals become numbers, or texts if a VARIANT number would not be exact. Floats
    become doubles. Characters and texts become texts. Dates and times become texts such as
    `yyyy-MM-dd HH:mm:ss[.ffffff]`. Binary values become base64 texts. NULL becomes VARIANT null.

    `is_json`: whether a binary object is JSON as bytes, of which the text is kept.
    """
    zoned = value["member_TimestampWithTimeZone"]
    texts = {
        "Character": text_of(
            value["member_Character"]["value"], value["member_Character"]["charset"]
        ),
        "DateTime": _date_time_text(value["member_DateTime"]),
        "Timestamp": _timestamp_text(value["member_Timestamp"]),
        "TextObject": value["member_TextObject"]["value"],
        "BinaryObject": _object_text(value["member_BinaryObject"]["value"], is_json),
        "TimestampWithTimeZone": F.concat(_date_time_text(zoned["value"]), zoned["timezone"]),
        "TextGeometry": value["member_TextGeometry"]["value"],
        "BinaryGeometry": base64_text(value["member_BinaryGeometry"]["value"]),
    }
    text = F.when(_is(value, "Character"), texts.pop("Character"))
    for branch, text_of_branch in texts.items():
        text = text.when(_is(value, branch), text_of_branch)
    return (
        F.when(_is(value, "Integer"), number_of(value["member_Integer"]["value"]))
        .when(value["member_EmptyObject"] == "NONE", F.lit(None))
        .when(value.isNull() | _is(value, "EmptyObject"), F.parse_json(F.lit("null")))
        .when(_is(value, "Decimal"), number_of(value["member_Decimal"]["value"]))
        .when(_is(value, "Float"), value["member_Float"]["value"].cast("variant"))
        .otherwise(text.cast("variant"))
    )


def unreadable_value(names: Column, values: Column) -> Column:
    """Return a rejection for the first value of an image that may be read wrongly, else null.

    Such a value is a text whose bytes are not valid in its charset, or a date and time that lacks a
    necessary part.
    """
    characters = values["member_Character"]
    is_odd_time = F.exists(
        values,
        lambda value: (
            _is_impossible(value["member_DateTime"])
            | _is_impossible(value["member_TimestampWithTimeZone"]["value"])
        ),
    )
    texts = F.concat_ws(
        " ",
        characters["value"].cast("array<string>"),
        values["member_TextObject"]["value"],
        values["member_TextGeometry"]["value"],
        values["member_TimestampWithTimeZone"]["timezone"],
        values["member_Integer"]["value"],
        values["member_Decimal"]["value"],
    )
    other_charsets = F.array_except(characters["charset"], F.array(F.lit(None), *map(F.lit, UTF8)))
    reasons = F.zip_with(names, values, _unreadable)
    # A check of all texts together spares most images the check of each value.
    return F.when(
        ~F.is_valid_utf8(texts) | (F.array_size(other_charsets) > 0) | is_odd_time,
        F.get(F.filter(reasons, lambda reason: reason.isNotNull()), 0),
    )


def number_of(text: Column) -> Column:
    """Turn digits into an exact VARIANT number, or into text if they are more than 38.

    Anything that is not a number becomes text too, such as PostgreSQL's NaN.
    """
    plain = _plain_number(text)
    return (
        F.when(text.rlike(_SHORT_INTEGER), text.cast("bigint").cast("variant"))
        .when(text.rlike(_SHORT_DECIMAL), text.cast("decimal(38,19)").cast("variant"))
        .when(text.rlike(_LONG_INTEGER), text.cast("decimal(38,0)").cast("variant"))
        .otherwise(F.coalesce(F.try_parse_json(plain), text.cast("variant")))
    )


def _date_time_text(value: Column) -> Column:
    """Turn a DateTime into `[-]yyyy-MM-dd HH:mm:ss[.ffffff]`, or into the parts that it has.

    The text is what the SDK of DTS prints: an interval of days is `05 03:04:05`, and a sign comes
    first. There are two differences: a fraction has six or nine digits, and a month may be
    negative.
    """
    year, month, day = (value[part] for part in ("year", "month", "day"))
    hour, minute, second = (value[part] for part in ("hour", "minute", "second"))
    fraction = value["millis"]  # the field's name, but see `_fraction`
    sign = F.when(F.least(year, month, day, hour, minute, second, fraction) < 0, "-")
    is_dated = F.coalesce(year, month, day).isNotNull()
    is_fraction_only = ~is_dated & hour.isNull()
    parts = (
        sign,
        _digits(year, 4),
        F.concat(F.lit("-"), _digits(month, 2)),
        F.concat(F.when(F.coalesce(year, month).isNotNull(), "-").otherwise(""), _digits(day, 2)),
        F.concat(
            F.when(is_dated, " ").otherwise(""),
            _digits(hour, 2),
            F.lit(":"),
            _digits(minute, 2),
            F.lit(":"),
            _digits(second, 2),
        ),
        F.when((fraction != 0) | is_fraction_only, _fraction(fraction)),
    )
    # Missing parts are null, and left out.
    return F.when(value.isNotNull(), F.concat_ws("", *parts))


def _is_impossible(value: Column) -> Column:
    """Return whether a DateTime has no part at all, or has only some parts of a clock time."""
    year, month, day = (value[part] for part in ("year", "month", "day"))
    hour, minute, second = (value[part].isNotNull() for part in ("hour", "minute", "second"))
    is_empty = F.coalesce(year, month, day, value["hour"], value["millis"]).isNull()
    return value.isNotNull() & (is_empty | (minute != hour) | (second != hour))


def _timestamp_text(value: Column) -> Column:
    """Turn a Timestamp (epoch seconds and microseconds) into a text in UTC."""
    seconds = value["timestamp"]
    epoch = F.lit("1970-01-01").cast("timestamp_ntz")
    in_range = F.timestamp_add("SECOND", seconds, epoch).cast("string")
    text = F.when(is_epoch_seconds(seconds), in_range).otherwise(seconds.cast("string"))
    micros = value["millis"]  # the field's name, but it has microseconds
    return F.concat(text, F.when(micros != 0, _fraction(micros)).otherwise(""))


def _unreadable(name: Column, value: Column) -> Column:
    data, charset = (value["member_Character"][member] for member in ("value", "charset"))
    column = F.concat(F.lit("column "), name, F.lit(": "))
    text = F.coalesce(
        value["member_TextObject"]["value"],
        value["member_TextGeometry"]["value"],
        value["member_TimestampWithTimeZone"]["timezone"],
        value["member_Integer"]["value"],
        value["member_Decimal"]["value"],
    )
    return rejection(
        (
            ~is_known_charset(charset),
            "malformed_avro",
            F.concat(column, F.lit("its charset is unknown: "), charset),
        ),
        (
            is_utf8(charset) & ~is_text(data, charset),
            "not_utf8",
            F.concat(column, F.lit("its bytes are not valid UTF-8, although its charset is UTF-8")),
        ),
        (
            ~is_text(data, charset),
            "malformed_avro",
            F.concat(column, F.lit("its bytes are not valid in its charset, "), charset),
        ),
        (
            ~F.is_valid_utf8(text),
            "not_utf8",
            F.concat(column, F.lit("its text is not valid UTF-8")),
        ),
        (
            _is_impossible(value["member_DateTime"])
            | _is_impossible(value["member_TimestampWithTimeZone"]["value"]),
            "malformed_avro",
            F.concat(
                column, F.lit("its date or time is empty, or lacks the hour, minute or second")
            ),
        ),
    )


def _object_text(data: Column, is_json: Column) -> Column:
    """Turn bytes into their text if they are JSON, else into base64."""
    text = data.cast("string")
    return F.when(is_json & F.is_valid_utf8(text), text).otherwise(base64_text(data))


def _is(value: Column, branch: str) -> Column:
    return value[f"member_{branch}"].isNotNull()


def _digits(number: Column, width: int) -> Column:
    """Return the digits of a number without its sign, or null for null.

    Zeros fill it up to a width; a longer number is never cut.
    """
    size = F.abs(number.cast("bigint"))
    return F.when(size < 10**width, _padded(size, width)).otherwise(size.cast("string"))


def _padded(size: Column, width: int) -> Column:
    # A one in front keeps the zeros, and is cut off again.
    return F.substring((size + 10**width).cast("string"), 2, width)


def _fraction(part: Column) -> Column:
    """Return six digits of a fraction of a second, or nine if it has them.

    The field holds microseconds of MySQL and PostgreSQL, and nanoseconds of other systems. A second
    has fewer microseconds than 10^6, so a larger number is of nanoseconds.
    """
    size = F.abs(part.cast("bigint"))
    nanos = F.regexp_replace(_padded(size, 9), "000$", "")
    return F.concat(F.lit("."), F.when(size < 10**6, _padded(size, 6)).otherwise(nanos))


def _plain_number(text: Column) -> Column:
    """Turn a number in any notation into at most 38 digits without an exponent, else null."""
    sign, whole, decimals, exponent = (F.regexp_extract(text, _NUMBER, n) for n in (1, 2, 3, 4))
    is_number = (F.length(text) <= _LONGEST_NUMBER) & text.rlike("[0-9]") & text.rlike(_NUMBER)
    digits = F.ltrim(F.concat(whole, decimals), F.lit("0"))
    scale = F.length(decimals) - F.when(exponent == "", 0).otherwise(exponent.cast("int"))
    shifted = F.concat(digits, F.repeat(F.lit("0"), -scale))
    padded = F.lpad(digits, F.greatest(F.length(digits), scale + 1), F.lit("0"))
    pointed = F.concat(F.left(padded, F.length(padded) - scale), F.lit("."), F.right(padded, scale))
    is_exact = (F.length(digits) + F.greatest(-scale, F.lit(0)) <= 38) & (scale <= 38)
    number = F.when(digits == "", F.lit("0")).otherwise(
        F.concat(
            F.when(sign == "-", "-").otherwise(""),
            F.when(scale > 0, pointed).otherwise(shifted),
        )
    )
    return F.when(is_number & ((digits == "") | is_exact), number)
