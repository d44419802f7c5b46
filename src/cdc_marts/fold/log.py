"""What a run fills rows from: the log as the models of the fold have it, and what is new in it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class Log:
    """All rows of models of the fold, including the new ones."""

    #: int_row_effects
    effects: DataFrame
    #: int_records
    records: DataFrame
    #: int_key_changes
    key_changes: DataFrame
    #: int_split_key_changes
    split_key_changes: DataFrame
    #: int_superseded_effects
    superseded: DataFrame
    #: int_truncations
    truncations: DataFrame
    #: int_missing_columns
    missing_columns: DataFrame


@dataclass(frozen=True, kw_only=True)
class NewRows:
    """The rows of models that no run has read."""

    #: int_row_effects: a change may stand beside a known key change, at its position
    effects: DataFrame
    #: int_touched_keys: keys with new or changed effects
    touched_keys: DataFrame
    #: int_colliding_keys: an effect on another key may change which row remains on these
    colliding_keys: DataFrame
    #: int_truncations
    truncations: DataFrame
    #: int_exceptional_records: a redelivery may stand beside a known key change, too
    exceptions: DataFrame
    #: int_resolved_changes
    resolutions: DataFrame
