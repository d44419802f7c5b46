"""Effects whose images may be partial, as the steps of `int_filled_rows` take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from cdc_marts.fold.log import Log, NewRows
from tests.python.fold.frames import (
    MISSING_COLUMNS,
    SPLIT_KEY_CHANGES,
    SUPERSEDED_EFFECTS,
    TRUNCATIONS,
    frame,
)

NAMES = {"source_format": "canal_json", "table_id": "shop.orders"}
#: Columns of `int_row_effects`.
EFFECTS = (
    "source_format table_id row_key record_row_key record_previous_row_key topic op event_id"
    " pairing_id transaction_id schema_id lists_all_columns is_keyless unavailable_names is_partial"
    " event_at sequence is_key_change effect before after"
)
KEYS = "source_format table_id row_key is_keyless"
EXCEPTIONS = "source_format table_id exception old_row_key row_keys delivery_position is_revision"
RESOLUTIONS = "source_format table_id change version"
_LOG = {
    "effects": f"{EFFECTS} message_position",
    "records": f"{EFFECTS} record_type",
    "key_changes": f"{EFFECTS} message_position",
    "split_key_changes": SPLIT_KEY_CHANGES,
    "superseded": SUPERSEDED_EFFECTS,
    "truncations": TRUNCATIONS,
    "missing_columns": MISSING_COLUMNS,
}
_NEW_ROWS = {
    "effects": f"{EFFECTS} message_position",
    "touched_keys": KEYS,
    "colliding_keys": KEYS,
    "truncations": TRUNCATIONS,
    "exceptions": EXCEPTIONS,
    "resolutions": RESOLUTIONS,
}


def log_of(spark: SparkSession, **models: DataFrame) -> Log:
    """The log with these rows of models; the others have none."""
    return Log(**_with_empty_models(spark, _LOG, models))


def new_rows(spark: SparkSession, **models: DataFrame) -> NewRows:
    """These new rows of models; the others have none."""
    return NewRows(**_with_empty_models(spark, _NEW_ROWS, models))


def _with_empty_models(
    spark: SparkSession, columns: Mapping[str, str], models: Mapping[str, DataFrame]
) -> dict[str, DataFrame]:
    others = columns.keys() - models.keys()
    return {**models, **{name: frame(spark, columns[name], []) for name in others}}


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
