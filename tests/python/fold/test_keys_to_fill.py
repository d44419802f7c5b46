"""The keys whose partial images a run fills again."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold.keys_to_fill import (
    keys_to_fill,
    rows_behind,
    tables_with_partial_images,
    tables_with_revised_drops,
)
from tests.python.fold.frames import TRUNCATIONS, frame
from tests.python.fold.partial_images import EXCEPTIONS, KEYS, RESOLUTIONS, log_of, new_rows

NAMES = {"source_format": "canal_json", "table_id": "shop.orders"}
CARTS = {"source_format": "canal_json", "table_id": "shop.carts"}
EFFECTS = "source_format table_id topic row_key op message_position sequence"
IMAGES = (
    "source_format table_id row_key schema_id effect is_partial lists_all_columns sequence"
    " topic op message_position"
)


def key(row_key: str, **other: Any) -> dict[str, Any]:
    return {**NAMES, "row_key": row_key, "is_keyless": False, **other}


def effect(row_key: str, position: int, **other: Any) -> dict[str, Any]:
    place = {"message_position": position, "sequence": (position, 0, position)}
    return {**key(row_key), "topic": "shop", "op": "update", **place, **other}


def test_tables_have_partial_images_by_their_messages_or_by_missing_columns(
    spark: SparkSession,
) -> None:
    known = [{**NAMES, "has_partial_images": True}, {**CARTS, "has_partial_images": False}]
    tables = frame(spark, "source_format table_id has_partial_images", known)
    missing = frame(spark, "source_format table_id", [NAMES])
    assert [row.table_id for row in tables_with_partial_images(tables, missing).collect()] == [
        "shop.orders"
    ]
    missing = frame(spark, "source_format table_id", [NAMES, CARTS])
    found = tables_with_partial_images(tables, missing).collect()
    assert sorted(row.table_id for row in found) == ["shop.carts", "shop.orders"]


def test_keys_are_looked_at_whose_values_may_have_changed(spark: SparkSession) -> None:
    moved = effect("inserted beside a new effect", 7, op="insert")
    truncation = {**NAMES, "sequence": (4, 1, 0), "is_revision": False}
    keys = keys_to_fill(
        frame(spark, "source_format table_id", [NAMES]),
        log_of(
            spark,
            key_changes=frame(
                spark,
                EFFECTS,
                [
                    moved,
                    effect("inserted beside a redelivery", 9, op="insert"),
                    effect("elsewhere", 8, op="insert"),
                    effect("updated", 7),
                ],
            ),
        ),
        new_rows(
            spark,
            touched_keys=frame(
                spark,
                KEYS,
                [
                    key("touched"),
                    key("touched"),
                    key("keyless", is_keyless=True),
                    key("of a table without partial images", **CARTS),
                ],
            ),
            colliding_keys=frame(spark, KEYS, [key("replayed"), key("touched")]),
            effects=frame(spark, EFFECTS, [effect("touched", 7)]),
            truncations=frame(spark, TRUNCATIONS, [truncation]),
            exceptions=frame(
                spark,
                EXCEPTIONS,
                [
                    {**NAMES, "exception": "redelivery", "delivery_position": 9},
                    {**NAMES, "exception": "split_update", "delivery_position": 8},
                ],
            ),
        ),
        earlier=frame(
            spark, EFFECTS, [effect("behind a truncation", 5), effect("before a truncation", 3)]
        ),
    )
    assert sorted(row.row_key for row in keys.collect()) == [
        "behind a truncation",
        "inserted beside a new effect",
        "inserted beside a redelivery",
        "replayed",
        "touched",
    ]


@pytest.mark.parametrize(
    ("is_first_run", "revised", "filled"),
    [(True, [], ["of a cart", "of an order"]), (False, [CARTS], ["of a cart"]), (False, [], [])],
)
def test_partial_images_are_looked_at_in_the_first_run_and_after_revised_drops(
    spark: SparkSession, is_first_run: bool, revised: list[dict[str, str]], filled: list[str]
) -> None:
    image = {"effect": "upsert", "is_partial": True, "lists_all_columns": True}
    effects = [
        {**key("of an order"), **image},
        {**key("of a cart", **CARTS), **image},
        {**key("whole"), **image, "is_partial": False},
    ]
    keys = keys_to_fill(
        frame(spark, "source_format table_id", [NAMES, CARTS]),
        log_of(spark, effects=frame(spark, IMAGES, effects)),
        new_rows(
            spark,
            resolutions=frame(
                spark,
                RESOLUTIONS,
                [{**table, "change": "column_drop", "version": 2} for table in revised],
            ),
        ),
        earlier=None if is_first_run else frame(spark, EFFECTS, []),
    )
    assert sorted(row.row_key for row in keys.collect()) == filled


@pytest.mark.parametrize(
    ("truncated_at", "is_revision", "events"),
    [
        (1, False, ["at 2", "at 4", "without a position"]),
        # Effects at one position may be applied in another order than that of their sequences.
        (4, False, ["at 4", "without a position"]),
        (5, False, ["without a position"]),
        # It stood elsewhere before, maybe in front of all rows; or it was found to be of another.
        (5, True, ["at 2", "at 4", "without a position"]),
        (None, True, ["at 2", "at 4", "without a position"]),
    ],
)
def test_a_truncation_concerns_the_rows_behind_it(
    spark: SparkSession, truncated_at: int | None, is_revision: bool, events: list[str]
) -> None:
    def row(event_id: str, position: int | None, **other: str) -> dict[str, Any]:
        sequence = None if position is None else (position, 0, position)
        return {**NAMES, "event_id": event_id, "sequence": sequence, **other}

    rows = [
        row("at 2", 2),
        row("at 4", 4),
        row("without a position", None),
        row("of another table", 9, table_id="shop.carts"),
    ]
    at = None if truncated_at is None else (truncated_at, 1, 0)
    truncation = {**NAMES, "sequence": at, "is_revision": is_revision}
    found = rows_behind(
        frame(spark, TRUNCATIONS, [truncation]),
        frame(spark, "source_format table_id event_id sequence", rows),
    )
    assert sorted(row.event_id for row in found.collect()) == events


def test_tables_whose_drops_an_earlier_run_had_otherwise_are_looked_at_again(
    spark: SparkSession,
) -> None:
    resolutions = [
        {**NAMES, "change": "column_drop", "version": 2},
        {**NAMES, "change": "table_drop", "version": 3},
        {**CARTS, "change": "column_drop", "version": 1},
        {**CARTS, "change": "truncation", "version": 2},
    ]
    tables = tables_with_revised_drops(frame(spark, RESOLUTIONS, resolutions))
    assert [row.table_id for row in tables.collect()] == ["shop.orders"]
