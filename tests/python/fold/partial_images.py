"""Effects whose images may be partial, as the steps of `int_filled_rows` take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = {"source_format": "canal_json", "table_id": "shop.orders"}
#: Columns of `int_row_effects`.
EFFECTS = (
    "source_format table_id row_key record_row_key record_previous_row_key topic op event_id"
    " pairing_id transaction_id schema_id lists_all_columns is_keyless unavailable_names is_partial"
    " event_at sequence is_key_change effect before after"
)


def effect(
    position: int, row_key: str, after: Mapping[str, Any] | None, **other: Any
) -> dict[str, Any]:
    """The upsert of a whole image, or a delete if there is none."""
    return {
        **NAMES,
        "row_key": row_key,
        "record_row_key": row_key,
        "topic": "shop",
        "op": "update" if after else "delete",
        "event_id": str(position),
        "effect": "upsert" if after else "delete",
        "is_partial": False,
        "is_key_change": False,
        "is_keyless": False,
        "lists_all_columns": False,
        "sequence": (position, 0, position),
        "after": after,
        **other,
    }
