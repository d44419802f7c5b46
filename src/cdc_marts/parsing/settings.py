"""This module has the settings of a project that say what the messages of its tables do not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.parsing.images import no_columns
from cdc_marts.times import utc_of

#: table_id -> key columns, in key order
KeySettings = Mapping[str, Sequence[str]]


def declared_keys(
    tables: Mapping[str, Mapping[str, Any]] | None, source_format: str
) -> KeySettings:
    """Return the keys that the project's declarations (the var `tables`) set for a format."""
    return {
        table["table_id"]: table["key"]
        for table in (tables or {}).values()
        if table["source_format"] == source_format and table.get("key")
    }


def key_columns_of(published: Column, key_settings: KeySettings | None, table_id: Column) -> Column:
    """Return the published key columns, or if there are none, those that the project sets.

    An empty array means that the table is keyless.
    """
    return F.coalesce(
        F.when(F.size(published) > 0, published), key_setting(key_settings, table_id), no_columns()
    )


def key_setting(key_settings: KeySettings | None, table_id: Column) -> Column:
    """Return the key columns that the project sets for a table, or null if it sets none."""
    settings = [
        member
        for table, columns in (key_settings or {}).items()
        for member in (F.lit(table), F.array(*map(F.lit, columns)))
    ]
    if not settings:
        return F.lit(None).cast("array<string>")
    return F.create_map(*settings)[table_id]


def times_by_topic(topics: Mapping[str, str | None] | None) -> dict[str, dt.datetime | None]:
    """Return a map from topics to times, or to None, from a setting with times in ISO 8601.

    A time without a zone is in UTC.
    """
    return {topic: None if text is None else utc_of(text) for topic, text in (topics or {}).items()}
