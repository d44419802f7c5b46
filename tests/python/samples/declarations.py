"""The tables that the project declares, and more of them for a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from cdc_marts.parsing.settings import KeySettings, declared_keys

_PROJECT = Path(__file__).parents[3] / "dbt_project.yml"

#: Mart -> its declaration, as the project is shipped.
TABLES: dict[str, dict[str, Any]] = yaml.safe_load(_PROJECT.read_text("utf-8"))["vars"]["tables"]


def key_settings(source_format: str) -> KeySettings:
    """The keys of a format's sample tables whose messages do not name them.

    `payments` of SharePlex has none on purpose: its rows are known by their row address.
    """
    return declared_keys(TABLES, source_format)


def declarations(keys: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, dict[str, Any]]:
    """Declarations of tables with keys, format -> table_id -> columns, each by some name."""
    tables = [
        {"source_format": source_format, "table_id": table_id, "key": list(columns)}
        for source_format, by_table in keys.items()
        for table_id, columns in by_table.items()
    ]
    return {f"key_{number}": table for number, table in enumerate(tables)}


def with_keys(keys: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, dict[str, Any]]:
    """The var `tables` with keys of more tables: format -> table_id -> columns."""
    return TABLES | declarations(keys)
