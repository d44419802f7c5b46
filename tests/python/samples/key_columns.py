"""The key settings that the samples need: tables whose messages do not tell their key.

`payments` of SharePlex has none on purpose: its rows are known by their row address.
"""

from __future__ import annotations

from pathlib import Path

import yaml

_PROJECT = Path(__file__).parents[3] / "dbt_project.yml"

#: Format -> table_id -> key columns.
KEY_COLUMNS: dict[str, dict[str, list[str]]] = yaml.safe_load(_PROJECT.read_text("utf-8"))["vars"][
    "key_columns"
]
