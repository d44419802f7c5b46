"""What a run of `int_filled_rows` reads, from its inputs to the filled rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.filling import filled_rows_of_run
from tests.python.fold.frames import (
    MISSING_COLUMNS,
    effects_at_positions,
    frame,
)
from tests.python.fold.partial_images import (
    EFFECTS,
    EXCEPTIONS,
    KEYS,
    NAMES,
    effect,
    log_of,
    new_rows,
)

FILLED = "source_format event_id table_id row_key sequence"

Row = dict[str, Any]


INSERT = effect(1, "1", {"id": 1, "a": 1}, op="insert", schema_id=6)
#: Its schema version lacks `a` from the second position on.
UPDATE = effect(3, "1", {"id": 1}, schema_id=7)
MISSING = {**NAMES, "schema_id": 7, "from_sequence": (2, 0, 2), "column_names": ["a"]}
TOUCHED = {**NAMES, "row_key": "1", "is_keyless": False}


def filled(
    spark: SparkSession,
    effects: DataFrame,
    missing: Sequence[Row],
    touched: Sequence[Row] = (),
    *,
    is_first: bool = False,
    revisions: Sequence[Row] = (),
    earlier: Sequence[Row] = (),
) -> DataFrame:
    """The filled rows of a run. All effects are new in the first run; later, none is."""
    exceptions = frame(spark, EXCEPTIONS, revisions)
    return filled_rows_of_run(
        log_of(
            spark,
            effects=effects,
            records=effects.withColumn("record_type", F.lit("change")),
            missing_columns=frame(spark, MISSING_COLUMNS, missing),
        ),
        new_rows(
            spark,
            effects=effects if is_first else effects.where("false"),
            touched_keys=frame(spark, KEYS, touched),
            exceptions=exceptions,
        ),
        exceptional_records=exceptions,
        known_tables=frame(spark, "source_format table_id has_partial_images", []),
        split_records=frame(spark, "source_format record_type pairing_id before", []),
        earlier=None if is_first else frame(spark, FILLED, earlier),
        longest_key_chain=20,
    )


def effects_of(spark: SparkSession, *effects: Row) -> DataFrame:
    return effects_at_positions(spark, EFFECTS, effects)


def unreadable(spark: SparkSession) -> DataFrame:
    """Effects that fail when they are read."""
    return effects_of(spark, UPDATE).where("cast(raise_error('the effects were read') as boolean)")


def rows(found: DataFrame) -> dict[str, Row]:
    texts = found.select("event_id", F.to_json("row").alias("row")).collect()
    return {text.event_id: json.loads(text.row) for text in texts}


def test_the_first_run_fills_all_images_that_lack_a_column(spark: SparkSession) -> None:
    found = filled(spark, effects_of(spark, INSERT, UPDATE), [MISSING], is_first=True)
    assert rows(found) == {"3": {"id": 1, "a": 1}}


def test_a_later_run_fills_images_on_touched_keys(spark: SparkSession) -> None:
    found = filled(spark, effects_of(spark, INSERT, UPDATE), [MISSING], [TOUCHED])
    assert rows(found) == {"3": {"id": 1, "a": 1}}


@pytest.mark.parametrize(
    "missing",
    [[], [{**MISSING, "from_sequence": (4, 0, 4)}]],
    ids=["of the table", "in front of a place"],
)
def test_a_filled_row_is_its_own_image_if_no_column_is_missing_any_more(
    spark: SparkSession, missing: Sequence[Row]
) -> None:
    """The event that shows the column has a later place than in the run before."""
    later = effect(4, "1", {"id": 1, "a": 1}, schema_id=6)
    found = filled(
        spark,
        effects_of(spark, UPDATE, later),
        missing,
        [TOUCHED],
        revisions=[{**NAMES, "exception": "replacement", "row_keys": ["1"], "is_revision": True}],
        earlier=[{**TOUCHED, "event_id": "3"}],
    )
    assert rows(found) == {"3": {"id": 1}}
    assert [row.filled_from for row in found.collect()] == [{}]


def test_without_partial_images_no_effects_are_read(spark: SparkSession) -> None:
    assert rows(filled(spark, unreadable(spark), [], [TOUCHED])) == {}


def test_without_keys_to_fill_no_effects_are_read(spark: SparkSession) -> None:
    assert rows(filled(spark, unreadable(spark), [MISSING])) == {}
