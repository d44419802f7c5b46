"""This module reads one envelope from the bytes of each landed message."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType, VariantType

from cdc_marts.expressions import let
from cdc_marts.parsing.images import columns_of
from cdc_marts.parsing.variants import may_hold_infinity

#: The columns of a landed message, without its bytes.
LANDED_COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "landed_at", "landing_commit")

_CORRUPT = "_corrupt"
#: A mark for the end of a message. No message contains it, because it is random in each process.
_MARK = f"m{secrets.token_hex(16)}"
#: The member that contains the mark.
_LAST = "_last"
#: Spark would read more than JSON: texts in single quotes, and NaN.
_READING = {
    "columnNameOfCorruptRecord": _CORRUPT,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}

#: The longest number that a VARIANT holds digit for digit; Spark calls a longer one corrupt.
_MOST_DIGITS = 38
#: Spark counts the digits of an exponent too.
_HAS_LONG_NUMBER = rf"[0-9.eE+-]{{{_MOST_DIGITS + 1}}}"
_IS_LONG = r"-?(?:[0-9]{39}|[1-9][0-9.]{39}|0\.[0-9]{39})"
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
#: Only such a number may be beyond the range of a double. A text may look like it.
_HAS_LARGE_EXPONENT = r"[:,\[]\s*+-?[0-9.]++[eE]\+?[0-9]{3}"
_WITH_LARGE_EXPONENT = r"-?[0-9]++(?:\.[0-9]++)?[eE]\+?[0-9]{3,}+"
#: They replace an escaped backslash, an escaped quote and a new quote. JSON never contains them.
_BACKSLASH, _QUOTE, _NEW_QUOTE = "\x01", "\x02", "\x03"


#: A condition that is true for a broken message, a reject code, and the reason: what is wrong, and
#: if it is known, what to do.
Check: TypeAlias = tuple[Column, str, Column | str]


def rejection(*checks: Check) -> Column:
    """Return the first check that fails, as struct<code, reason>; null if all checks pass."""
    return F.coalesce(
        *(
            F.when(
                broken,
                F.struct(
                    F.lit(code).alias("code"),
                    (F.lit(reason) if isinstance(reason, str) else reason).alias("reason"),
                ),
            )
            for broken, code, reason in checks
        )
    )


def unknown_op(
    operation: str,
    member: str | Column,
    *,
    source_op: str = "source_op",
    unless: Column | None = None,
) -> Check:
    """Return the check that the format knows the operation of a message: it has a `meaning`.

    `operation`: what the reason calls the operation, such as "Canal JSON operation". `member`: the
    name of the member that contains it. `source_op`: the column with its code. `unless`: whether a
    message needs no operation.
    """
    is_unknown = F.col("meaning").isNull()
    name = F.lit(member) if isinstance(member, str) else member
    return (
        is_unknown if unless is None else ~unless & is_unknown,
        "unknown_op",
        F.concat(F.lit(f"unknown {operation} in `"), name, F.lit("`: "), source_op),
    )


def lacking_key(key_columns: Column) -> Column:
    """Return the reason to reject a message with a row whose image lacks one of these columns."""
    return F.concat(
        F.lit("the row image lacks a key column: the key is "), F.array_join(key_columns, ", ")
    )


def read_json(
    messages: DataFrame,
    envelope: str,
    *,
    seen_in: Callable[[Column], Column] | None = None,
) -> DataFrame:
    """Read landed JSON: coordinates, `value`, `message`, `unreadable`, and `seen` if asked for.

    `envelope` is the DDL of the fields that the format uses (`op string, …`). Scalars are STRINGs,
    so whole numbers keep all digits whatever their JSON type, and images are VARIANTs. `message` is
    a struct of these fields, or null if there is nothing to read. `unreadable` is a rejection of
    bytes that are not exactly one JSON object.

    `seen_in` is a function that finds something in a message by lambdas. Spark compiles neither
    lambdas nor the parse. So the function is called together with the parse, where Spark copies no
    row for it.
    """
    return _read_whole(
        messages,
        f"struct<{envelope}, {_LAST} string>",
        object_of=lambda element: element.dropFields(_LAST),
        mark_of=lambda element: element[_LAST],
        seen_in=seen_in,
    )


def read_json_columns(messages: DataFrame) -> DataFrame:
    """Read landed JSON as `read_json` does, if the JSON object is the row itself.

    Then `message` is a map<column, variant>.
    """
    # A map would hide a repeated key; a VARIANT does not.
    return _read_whole(
        messages,
        "variant",
        object_of=columns_of,
        mark_of=lambda element: F.try_variant_get(element, f"$.{_LAST}", "string"),
    )


def _read_whole(
    messages: DataFrame,
    message_type: str,
    object_of: Callable[[Column], Column],
    mark_of: Callable[[Column], Column],
    seen_in: Callable[[Column], Column] | None = None,
) -> DataFrame:
    """Parse each message once.

    `object_of` turns what was read into the message, and returns null if it is not an object.
    `mark_of` returns the mark in an element.
    """
    parsed = _parsed(messages, message_type, seen_in).select(
        "*", object_of(F.col(f"wrapped.{_MARK}")[0]).alias("message")
    )
    return parsed.select(
        *LANDED_COLUMNS,
        "value",
        "message",
        _unreadable(mark_of).alias("unreadable"),
        *([F.col("wrapped.seen")] if seen_in is not None else []),
    )


def _parsed(
    messages: DataFrame, message_type: str, seen_in: Callable[[Column], Column] | None
) -> DataFrame:
    """Return landed messages with `wrapped`: what was parsed, as a struct.

    `from_json` takes the first object of a text and ignores the rest. So the text that is parsed is
    an array, with the message as its first element and a mark as the second. The parse returns an
    array of these two elements only if the message is exactly one JSON value. So the same parse
    proves that the message was read whole.
    """
    text = F.col("value").cast("string")

    def read(json: Column, **options: str) -> Column:
        return F.from_json(
            F.concat(F.lit(f'{{"{_MARK}":['), json, F.lit(f',{{"{_LAST}":"{_MARK}"}}]}}')),
            # With a known name, a message could end this array and begin another one with the mark.
            f"{_MARK} array<{message_type}>, {_CORRUPT} string",
            _READING | options,
        )

    def or_with_numbers_as_texts(wrapped: Column) -> Column:
        has_long_number = wrapped[_CORRUPT].isNotNull() & text.rlike(_HAS_LONG_NUMBER)
        variants = _variants_in(wrapped[_MARK][0], DataType.fromDDL(message_type))
        # The pattern takes as long as the parse of a message.
        has_infinite_number = may_hold_infinity(*variants) & text.rlike(_HAS_LARGE_EXPONENT)
        return F.when(
            has_long_number | has_infinite_number,
            read(_with_unreadable_numbers_as_texts(text)),
        ).otherwise(wrapped)

    wrapped = let(read(text, maxNumLen=str(_MOST_DIGITS)), or_with_numbers_as_texts)
    if seen_in is not None:
        wrapped = let(
            wrapped, lambda wrapped: wrapped.withField("seen", seen_in(wrapped[_MARK][0]))
        )
    return messages.select(*LANDED_COLUMNS, "value", wrapped.alias("wrapped"))


def _unreadable(mark_of: Callable[[Column], Column]) -> Column:
    """Return the rejection of bytes that are not exactly one JSON object; null if they are one."""
    elements = F.col(f"wrapped.{_MARK}")
    is_whole = (F.size(elements) == 2) & mark_of(F.get(elements, 1)).eqNullSafe(_MARK)
    is_corrupt = F.col(f"wrapped.{_CORRUPT}").isNotNull()
    return rejection(
        (F.col("value").isNull(), "tombstone", "a queue tombstone has no value"),
        (
            ~F.is_valid_utf8(F.col("value").cast("string")),
            "not_utf8",
            "the value is not valid UTF-8: check the producer's charset, or that the topic carries"
            " this format",
        ),
        (
            ~is_whole | F.col("message").isNull(),
            "malformed_json",
            "the value is not exactly one JSON object (cut off, text after the object, or an array"
            " or scalar at the top)",
        ),
        (
            is_corrupt,
            "malformed_json",
            "a member does not have the type that the format requires, or an object repeats a key",
        ),
    )


def _variants_in(column: Column, type_: DataType) -> list[Column]:
    """Return the column if it is a VARIANT, else the VARIANTs in its structs."""
    if isinstance(type_, VariantType):
        return [column]
    if not isinstance(type_, StructType):
        return []
    return [
        variant for field in type_ for variant in _variants_in(column[field.name], field.dataType)
    ]


def _with_unreadable_numbers_as_texts(json: Column) -> Column:
    """Turn numbers of a JSON text into texts if a VARIANT cannot hold them.

    A VARIANT holds a number digit for digit, or as a double.
    """

    def replaced(text: Column, old: str, new: str) -> Column:
        return F.replace(text, F.lit(old), F.lit(new))

    unescaped = replaced(replaced(json, r"\\", _BACKSLASH), r"\"", _QUOTE)
    marked = F.regexp_replace(
        unescaped,
        # A whole text, or a number after a character that precedes a value.
        F.concat(
            F.lit(rf'("[^"]*+")|([:,\[]\s*)(?={_IS_LONG}'),
            _infinite_numbers(unescaped),
            F.lit(rf")({_NUMBER})(?=\s*[,}}\]])"),
        ),
        F.lit(f"$1$2{_NEW_QUOTE}$3{_NEW_QUOTE}"),
    )
    quoted = replaced(replaced(marked, _NEW_QUOTE * 2, ""), _NEW_QUOTE, '"')
    return F.when(json.rlike(f"[{_BACKSLASH}{_QUOTE}{_NEW_QUOTE}]"), json).otherwise(
        replaced(replaced(quoted, _QUOTE, r"\""), _BACKSLASH, r"\\")
    )


def _infinite_numbers(json: Column) -> Column:
    """Return a pattern `|number|number…` of the numbers beyond the range of a double."""
    numbers = F.regexp_extract_all(json, F.lit(f"({_WITH_LARGE_EXPONENT})"))
    infinite = F.filter(
        F.array_distinct(numbers), lambda number: F.abs(number.cast("double")) == float("inf")
    )
    return F.array_join(
        F.transform(
            infinite, lambda number: F.concat(F.lit(r"|\Q"), number, F.lit(r"\E(?![0-9])"))
        ),
        "",
    )
