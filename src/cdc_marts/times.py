"""Times in settings, options and output, and as other programs have them.

Spark counts microseconds since 1970; Iceberg and Kafka count milliseconds.
"""

from __future__ import annotations

import datetime as dt
from typing import overload

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
_EARLIEST = dt.datetime.min.replace(tzinfo=dt.timezone.utc)


def utc_of(text: str) -> dt.datetime:
    """Return the time, in UTC, of a text in ISO 8601. A text without a zone is in UTC.

    Raise ValueError if the text is no such time.
    """
    # Before Python 3.11, `fromisoformat` does not know Z.
    time = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if time.tzinfo is None:
        return time.replace(tzinfo=dt.timezone.utc)
    try:
        return time.astimezone(dt.timezone.utc)
    except OverflowError as error:
        raise ValueError(f"{text!r} is not in the years 1 to 9999 in UTC") from error


@overload
def time_at(micros: int) -> dt.datetime: ...
@overload
def time_at(micros: int | None) -> dt.datetime | None: ...
def time_at(micros: int | None) -> dt.datetime | None:
    """Return the time, in UTC, that is so many microseconds after 1970; None for None."""
    return None if micros is None else _EPOCH + dt.timedelta(microseconds=micros)


def micros_of(time: dt.datetime) -> int:
    """Return how many microseconds after 1970 a time is."""
    return (time - _EPOCH) // dt.timedelta(microseconds=1)


def millis_of(time: dt.datetime) -> int:
    """Return how many whole milliseconds after 1970 a time is."""
    return (time - _EPOCH) // dt.timedelta(milliseconds=1)


def timestamp_literal(time: dt.datetime) -> str:
    """Return a time as a literal of SQL, in UTC and in whole seconds."""
    in_utc = time.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return f"timestamp '{in_utc.isoformat(' ', 'seconds')}'"


def days_before(time: dt.datetime, days: int) -> dt.datetime:
    """Return the time so many days before another, at the earliest in the year 1."""
    return time - dt.timedelta(days=min(days, (time - _EARLIEST).days))


def span(time: dt.timedelta) -> str:
    """Return a span in its largest unit and the next one, such as 2h 5m."""
    seconds = max(0, int(time.total_seconds()))
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,}{unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0s"
