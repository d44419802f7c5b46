"""What a project says of its tables because their messages do not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.parsing.images import no_columns

#: table_id -> key columns, in key order
KeySettings = Mapping[str, Sequence[str]]


def declared_keys(
    tables: Mapping[str, Mapping[str, Any]] | None, source_format: str
) -> KeySettings:
    """The keys that the project's declarations of tables (the var `tables`) set for a format."""
    return {
        table["table_id"]: table["key"]
        for table in (tables or {}).values()
        if table["source_format"] == source_format and table.get("key")
    }


def key_columns_of(published: Column, key_settings: KeySettings | None, table_id: Column) -> Column:
    """The key columns as published, else those the project sets, else none (keyless)."""
    return F.coalesce(
        F.when(F.size(published) > 0, published), key_setting(key_settings, table_id), no_columns()
    )


def key_setting(key_settings: KeySettings | None, table_id: Column) -> Column:
    """The key columns that the project sets for a table, null where it sets none."""
    settings = [
        member
        for table, columns in (key_settings or {}).items()
        for member in (F.lit(table), F.array(*map(F.lit, columns)))
    ]
    if not settings:
        return F.lit(None).cast("array<string>")
    return F.create_map(*settings)[table_id]


def times_by_topic(topics: Mapping[str, str | None] | None) -> dict[str, dt.datetime | None]:
    """Topic -> time or None, of a setting that has the times as ISO 8601, in UTC without a zone."""
    return {topic: None if text is None else _time(text) for topic, text in (topics or {}).items()}


def _time(text: str) -> dt.datetime:
    # Before Python 3.11 `fromisoformat` does not know Z.
    time = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return time if time.tzinfo else time.replace(tzinfo=dt.timezone.utc)
