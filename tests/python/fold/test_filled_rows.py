"""Rows of partial images keep what they had before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.filled_rows import filled_rows, partial_by_image
from tests.python.fold.frames import PLACES, effects_at_positions, frame

EFFECTS = (
    "source_format table_id row_key topic op event_id pairing_id transaction_id schema_id"
    " lists_all_columns is_keyless unavailable_names is_partial event_at sequence"
    " is_key_change effect before after"
)
NAMES = {"source_format": "canal_json", "table_id": "shop.orders"}


def effect(position: int, row_key: str, after: dict[str, Any] | None, **other: Any) -> dict:
    return {
        **NAMES,
        "row_key": row_key,
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


def filled(
    spark: SparkSession, effects: list[dict[str, Any]], **others: Any
) -> dict[str, dict[str, Any]]:
    """event_id -> its row; `others`: as `found` takes them."""
    return {
        event: filled_row["row"] for event, filled_row in found(spark, effects, **others).items()
    }


def found(
    spark: SparkSession,
    effects: list[dict[str, Any]],
    *,
    truncated_at: int | None = None,
    pairs: list[tuple[str, str, str]] = (),
    superseded: list[dict[str, Any]] = (),
    halves: list[dict[str, Any]] = (),
    longest_key_chain: int = 20,
    keys: list[str] | None = None,
) -> dict[str, dict[str, Any]]:
    """event_id -> its row, and what before images say; sequences as their offsets.

    `keys`: those whose rows are filled, all if None.  `pairs`: delete, insert and old key.
    `superseded`: as `int_superseded_effects`.
    """
    truncations = (
        [] if truncated_at is None else [{**NAMES, "sequence": (truncated_at, 0, truncated_at)}]
    )
    all_effects = effects_at_positions(spark, EFFECTS, effects)
    rows = filled_rows(
        all_effects,
        keys=keys
        and frame(spark, "source_format table_id row_key", [{**NAMES, "row_key": k} for k in keys]),
        effects=all_effects,
        records=all_effects.withColumn("record_type", F.lit("change")),
        split_key_changes=frame(
            spark,
            "source_format table_id delete_id insert_id old_key",
            [{**NAMES, "delete_id": d, "insert_id": i, "old_key": k} for d, i, k in pairs],
        ),
        superseded=frame(
            spark,
            "source_format table_id row_key event_id effect took_older_row row_left stands_before",
            [{**NAMES, **effect} for effect in superseded],
        ),
        truncations=frame(spark, "source_format table_id sequence", truncations),
        update_befores=frame(spark, "source_format pairing_id before", halves),
        message_places=frame(spark, PLACES, []),
        longest_key_chain=longest_key_chain,
    ).withColumns({name: F.to_json(name) for name in ("row", "before_values")})
    return {
        row.event_id: {
            "row": json.loads(row.row),
            "filled_from": {name: at.offset for name, at in row.filled_from.items()},
            "before_values": row.before_values and json.loads(row.before_values),
            "before_values_from": {name: at.offset for name, at in row.before_values_from.items()},
        }
        for row in rows.collect()
    }


INSERT = effect(1, "1", {"id": 1, "a": 1, "b": 2}, op="insert")
PARTIAL = effect(3, "1", {"id": 1, "a": 9}, is_partial=True)


def test_a_column_keeps_the_value_of_the_event_before(spark: SparkSession) -> None:
    late = effect(2, "1", {"id": 1, "a": 5, "b": 6})
    assert filled(spark, [INSERT, PARTIAL]) == {"3": {"id": 1, "a": 9, "b": 2}}
    assert filled(spark, [INSERT, late, PARTIAL]) == {"3": {"id": 1, "a": 9, "b": 6}}


@pytest.mark.parametrize(
    "between",
    [
        effect(2, "1", None),
        # A change of the whole row ends what was before.
        effect(2, "1", {"id": 1, "a": 5}),
    ],
)
def test_nothing_is_kept_over_a_delete_or_a_whole_row(
    spark: SparkSession, between: dict[str, Any]
) -> None:
    assert filled(spark, [INSERT, between, PARTIAL]) == {"3": {"id": 1, "a": 9}}


def test_nothing_is_kept_over_a_truncation_or_an_insert(spark: SparkSession) -> None:
    assert filled(spark, [INSERT, PARTIAL], truncated_at=2) == {"3": {"id": 1, "a": 9}}
    assert filled(spark, [INSERT, {**PARTIAL, "op": "insert"}]) == {"3": {"id": 1, "a": 9}}


def test_the_image_before_says_what_no_event_before_does(spark: SparkSession) -> None:
    with_before = {**PARTIAL, "before": {"id": 1, "a": 1, "b": 7}}
    assert filled(spark, [with_before]) == {"3": {"id": 1, "a": 9, "b": 7}}
    assert filled(spark, [INSERT, with_before]) == {"3": {"id": 1, "a": 9, "b": 2}}
    half = {"source_format": "canal_json", "pairing_id": "p", "before": {"id": 1, "b": 8}}
    assert filled(spark, [{**PARTIAL, "pairing_id": "p"}], halves=[half]) == {
        "3": {"id": 1, "a": 9, "b": 8}
    }


def test_another_value_in_an_image_before_is_kept_beside_the_one_of_an_earlier_event(
    spark: SparkSession,
) -> None:
    """A column that the table lost in between has no value from before the loss."""
    with_before = {**PARTIAL, "before": {"id": 1, "a": 1, "b": 7}}
    later = effect(5, "1", {"id": 1, "a": 10}, is_partial=True)
    rows = found(spark, [INSERT, with_before, later])
    assert rows == {
        "3": {
            "row": {"id": 1, "a": 9, "b": 2},
            "filled_from": {"b": 1},
            "before_values": {"b": 7},
            "before_values_from": {},
        },
        "5": {
            "row": {"id": 1, "a": 10, "b": 2},
            "filled_from": {"b": 1},
            "before_values": {"b": 7},
            "before_values_from": {"b": 3},
        },
    }


def test_a_value_that_an_image_before_tells_again_is_as_new_as_that_image(
    spark: SparkSession,
) -> None:
    with_before = {**PARTIAL, "before": {"id": 1, "a": 1, "b": 2}}
    later = effect(5, "1", {"id": 1, "a": 10}, is_partial=True)
    rows = found(spark, [INSERT, with_before, later])
    assert {event: row["filled_from"] for event, row in rows.items()} == {"3": {}, "5": {"b": 3}}
    assert [row["before_values"] for row in rows.values()] == [None, None]


def moved(position: int, old_key: str, row_key: str) -> list[dict[str, Any]]:
    """A key change with an image that lacks `b`."""
    change = effect(
        position, row_key, {"id": row_key, "a": position}, is_partial=True, is_key_change=True
    )
    gone = {**change, "row_key": old_key, "effect": "delete", "after": None, "is_partial": False}
    return [change, gone]


def test_a_row_takes_its_values_to_another_key(spark: SparkSession) -> None:
    effects = [INSERT, *moved(4, "1", "2"), *moved(5, "2", "3")]
    rows = filled(spark, effects)
    assert rows == {"4": {"id": "2", "a": 4, "b": 2}, "5": {"id": "3", "a": 5, "b": 2}}
    assert filled(spark, effects, longest_key_chain=1)["5"] == {"id": "3", "a": 5}


def test_a_row_takes_its_values_over_many_keys(spark: SparkSession) -> None:
    """A recursive query of Spark would stop at a number of rows."""
    places = range(2, 12)
    effects = [INSERT, *(one for at in places for one in moved(at, str(at - 1), str(at)))]
    limit = "spark.sql.cteRecursionRowLimit"
    spark.conf.set(limit, 20)
    try:
        rows = filled(spark, effects)
    finally:
        spark.conf.unset(limit)
    assert rows == {str(at): {"id": str(at), "a": at, "b": 2} for at in places}


def test_only_rows_on_the_given_keys_are_filled(spark: SparkSession) -> None:
    """The effects on the key from which the row of another key came may be missing."""
    effects = [*moved(4, "1", "2"), *moved(5, "2", "3"), {**PARTIAL, "row_key": "4"}]
    assert filled(spark, effects).keys() == {"3", "4", "5"}
    assert filled(spark, effects, keys=["3"]) == {"5": {"id": "3", "a": 5}}


def test_a_delete_and_an_insert_may_be_one_move(spark: SparkSession) -> None:
    gone = {**effect(5, "1", None, event_id="gone"), "sequence": (5, 0, 4)}
    come = effect(5, "2", {"id": 2, "a": 4}, op="insert", is_partial=True, event_id="come")
    pairs = [("gone", "come", "1")]
    moved, not_moved = {"come": {"id": 2, "a": 4, "b": 2}}, {"come": {"id": 2, "a": 4}}
    assert filled(spark, [INSERT, gone, come], pairs=pairs) == moved
    # Another change of a row between the two, at their position and at an earlier one.
    come = {**come, "sequence": (5, 0, 6)}
    other = effect(5, "7", {"id": 7, "b": 0})
    assert filled(spark, [INSERT, gone, other, come], pairs=pairs) == not_moved
    late = {**other, "sequence": (3, 0, 5)}
    assert filled(spark, [INSERT, gone, late, come], pairs=pairs) == moved


def test_a_delete_that_took_an_older_row_ends_nothing(spark: SparkSession) -> None:
    void = effect(2, "1", None)
    superseded = [{"row_key": "1", "event_id": "2", "effect": "delete", "took_older_row": True}]
    assert filled(spark, [INSERT, void, PARTIAL], superseded=superseded) == {
        "3": {"id": 1, "a": 9, "b": 2}
    }


def test_a_row_comes_to_its_key_in_front_of_a_partial_image_with_a_lower_sequence(
    spark: SparkSession,
) -> None:
    at_one_position = {"event_id": "moves", "sequence": (3, 1, 0), "is_key_change": True}
    leaves = effect(3, "1", None, **at_one_position)
    comes = effect(3, "2", {"id": 2, "a": 5}, is_partial=True, **at_one_position)
    changes = effect(3, "2", {"id": 2, "a": 9}, is_partial=True, sequence=(3, 0, 0))
    place = ((3, 0, 0), 0)
    superseded = [{"row_key": "2", "event_id": "moves", "effect": "upsert", "stands_before": place}]
    rows = found(spark, [INSERT, leaves, comes, changes], superseded=superseded)
    assert rows["3"]["row"] == {"id": 2, "a": 9, "b": 2}
    assert rows["3"]["filled_from"] == {"b": 1}


def test_a_row_changes_in_front_of_its_key_change_with_a_lower_sequence(
    spark: SparkSession,
) -> None:
    at_one_position = {"event_id": "moves", "sequence": (3, 0, 0), "is_key_change": True}
    changes = effect(3, "1", {"id": 1, "a": 9, "b": 7}, is_partial=True, sequence=(3, 1, 0))
    leaves = effect(3, "1", None, **at_one_position)
    comes = effect(3, "2", {"id": 2, "a": 9}, is_partial=True, **at_one_position)
    superseded = [
        {
            "row_key": "1",
            "event_id": "3",
            "effect": "upsert",
            "stands_before": ((3, 0, 0), 0),
        }
    ]
    effects = [INSERT, changes, leaves, comes]
    assert filled(spark, effects, superseded=superseded)["moves"] == {"id": 2, "a": 9, "b": 7}


def test_an_image_is_partial_too_that_lacks_a_column_of_its_table(spark: SparkSession) -> None:
    effects = [
        effect(1, "1", {"id": 1}, schema_id=7),
        effect(5, "1", {"id": 1}, schema_id=7),
        effect(6, "1", {"id": 1}, schema_id=7, lists_all_columns=True),
        effect(7, "1", {"id": 1}, schema_id=8),
        effect(8, "1", None, schema_id=7),
    ]
    missing = {**NAMES, "schema_id": 7, "from_sequence": (2, 0, 2), "column_names": ["b"]}
    rows = partial_by_image(
        frame(spark, EFFECTS, effects),
        frame(spark, "source_format table_id schema_id from_sequence to_sequence", [missing]),
    ).collect()
    assert [row.event_id for row in rows if row.is_partial] == ["5"]
