"""Keys of rows as texts, and texts that have the values of a key."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

#: A part of a JSON text: a string, which is the group, or space between values.
_TEXT_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')


def compact_key(key: str) -> str:
    """Return a key as `row_key` has it, without spaces between its values.

    Values stay as they are written: Python would round decimals, and would escape control
    characters in another way.
    """
    try:
        json.loads(key)
    except ValueError:
        return key
    return _TEXT_OR_SPACE.sub(r"\1", key)


def has_key(row_keys: Collection[str]) -> Column:
    """Return whether a record or an event has one of these keys, now or before a change of it."""
    keys = list(row_keys)
    is_previous = F.coalesce(F.col("previous_row_key").isin(keys), F.lit(False))
    return F.col("row_key").isin(keys) | is_previous


def _values_of(row_key: str) -> list[str]:
    """Return the values in a key as texts, without null, empty and nested values."""
    try:
        values = json.loads(row_key, parse_float=str, parse_int=str).values()
    except (ValueError, AttributeError):
        return []
    return [value for value in values if isinstance(value, str) and value]


def has_values_of(text: Column, row_keys: Sequence[str]) -> Column | None:
    """Return whether a text has all values of a key; None if no key has values to look for."""
    is_mention = None
    for values in filter(None, map(_values_of, row_keys)):
        has_all = F.lit(True)
        for value in values:
            has_all = has_all & text.rlike(_word(value))
        is_mention = has_all if is_mention is None else is_mention | has_all
    return is_mention


def _word(value: str) -> str:
    """Return a regular expression for a value that is no part of a longer word or number.

    It fits texts, and bytes that are read as one character each.
    """
    ways = {re.escape(value), re.escape(value.encode().decode("latin-1"))}
    return rf"(?<![0-9A-Za-z_])(?:{'|'.join(sorted(ways))})(?![0-9A-Za-z_])"
