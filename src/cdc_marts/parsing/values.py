"""This module reads scalars of an envelope: numbers and times that the message has as text."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_INTEGER = r"^-?[0-9]{1,38}$"
#: Below it (1973-03-03) are times in another unit: the seconds of today have ten digits.
_EARLIEST_MILLIS = 100_000_000_000
_LATEST_MILLIS = 253402300799999  # 9999-12-31T23:59:59.999Z
_EARLIEST_SECONDS = -62135596800  # 0001-01-01T00:00:00Z
_LOCAL_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
#: Java's pattern `Z` writes UTC as +0000.
_ISO_TIME = rf"^({_LOCAL_TIME})(?:Z|[+-]00:?00)?$"


def non_empty(text: Column) -> Column:
    """Return the text, or null if it is empty."""
    return F.when(text != "", text)


def position(text: Column) -> Column:
    """Turn digits into an exact decimal(38,0), or null if they are not an integer."""
    return F.when(_is_integer(text), text.cast("decimal(38,0)"))


def is_bad_position(text: Column) -> Column:
    """Return whether there is a log position that is not an integer of at most 38 digits."""
    return text.isNotNull() & ~_is_integer(text)


def timestamp_of_millis(text: Column) -> Column:
    """Turn epoch milliseconds (text, UTC) into a timestamp; null if unknown (-1 or null)."""
    return F.when(_is_known(text) & ~is_bad_millis(text), F.timestamp_millis(_long(text)))


def is_bad_millis(text: Column) -> Column:
    """Return whether there is a time that is not epoch milliseconds of the years 1973 to 9999."""
    in_range = _long(text).between(_EARLIEST_MILLIS, _LATEST_MILLIS)
    return _is_known(text) & ~(_is_integer(text) & F.coalesce(in_range, F.lit(False)))


def timestamp_of_seconds(seconds: Column) -> Column:
    """Turn epoch seconds (UTC) into a timestamp; -1 is unknown, and gives null."""
    is_known = is_epoch_seconds(seconds) & (seconds != -1)
    return F.when(is_known, F.timestamp_seconds(seconds))


def is_epoch_seconds(seconds: Column) -> Column:
    """Return whether a number is epoch seconds of the years 1 to 9999."""
    return seconds.between(_EARLIEST_SECONDS, _LATEST_MILLIS // 1000)


def timestamp_of_iso(text: Column) -> Column:
    """Turn an ISO 8601 date and time, in UTC or without a zone, into a timestamp."""
    local = F.nullif(F.regexp_extract(text, _ISO_TIME, 1), F.lit(""))
    return F.concat(local, F.lit("Z")).try_cast("timestamp")


def is_bad_iso(text: Column) -> Column:
    """Return whether there is a time that is not an ISO 8601 date and time in UTC."""
    return (text != "") & timestamp_of_iso(text).isNull()


def _is_known(text: Column) -> Column:
    return text.isNotNull() & (text != "-1")


def _is_integer(text: Column) -> Column:
    # Nearly all integers are spelled as in Spark, whose cast is quicker than a pattern.
    return text.eqNullSafe(_long(text).cast("string")) | text.rlike(_INTEGER)


def _long(text: Column) -> Column:
    return text.try_cast("bigint")
