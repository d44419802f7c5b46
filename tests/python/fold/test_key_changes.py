"""The effects by which a row may have come to a key that another row holds, or left it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold import ranges
from cdc_marts.fold.key_changes import key_changes
from tests.python.fold.frames import PLACES, effects_at_positions, frame

EFFECTS = (
    "source_format table_id row_key topic op event_id transaction_id event_at sequence"
    " is_key_change effect"
)
KEY = "source_format table_id row_key"
FORMATS = {
    "dts_avro": {},
    "canal_json": {"ordered_by_landing": True},
    "cdl_debezium_json": {"moves_rows_by_delete_and_insert": True},
}
NOON = dt.datetime(2024, 3, 1, 12)


def effect(
    position: int, event_id: str, kind: str, row_key: str, op: str, **other: Any
) -> dict[str, Any]:
    return {
        "source_format": "dts_avro",
        "table_id": "shop.seats",
        "row_key": row_key,
        "topic": "shop",
        "event_id": event_id,
        "effect": kind,
        "op": op,
        "transaction_id": "t",
        "event_at": NOON,
        "is_key_change": op == "update",
        "is_keyless": False,
        "sequence": (position, 0, position),
        **other,
    }


COMES = effect(5, "comes", "upsert", "2", "update")
LEAVES_FOR_TWO = effect(5, "comes", "delete", "1", "update")
DELETED = effect(6, "is deleted", "delete", "2", "delete")
INSERTED = effect(4, "is inserted", "upsert", "2", "insert")
OTHERS = [
    effect(7, "on another key", "delete", "3", "delete"),
    effect(8, "in another transaction", "delete", "2", "delete", transaction_id="u"),
    effect(9, "is no key change", "upsert", "2", "update", is_key_change=False),
    effect(3, "was loaded", "upsert", "2", "snapshot"),
    effect(6, "is keyless", "delete", "2", "delete", table_id="shop.logs", is_keyless=True),
]


def listed(
    spark: SparkSession,
    new: list[dict[str, Any]],
    earlier: list[dict[str, Any]] | None = None,
    known: list[dict[str, Any]] | None = None,
    revised: list[dict[str, Any]] = (),
    places: list[dict[str, Any]] = (),
) -> list[tuple[str, str]]:
    """event_id and key of what is found; `known`: where it is None, this is the first run."""
    found = key_changes(
        effects_at_positions(spark, f"{EFFECTS} is_keyless", new),
        effects=effects_at_positions(spark, f"{EFFECTS} is_keyless", [*(earlier or []), *new]),
        revised_keys=frame(spark, KEY, revised),
        message_places=frame(spark, PLACES, places),
        known=None if known is None else frame(spark, EFFECTS, known),
        formats=FORMATS,
    )
    return sorted((row.event_id, row.row_key) for row in found.collect())


MOVE = [("comes", "1"), ("comes", "2")]


def test_inserts_and_deletes_on_its_keys_are_listed_with_a_key_change(spark: SparkSession) -> None:
    found = listed(spark, [COMES, LEAVES_FOR_TWO, DELETED, INSERTED, *OTHERS])
    assert found == [*MOVE, ("is deleted", "2"), ("is inserted", "2")]


def test_without_transaction_ids_changes_of_one_time_are_of_one(spark: SparkSession) -> None:
    def timed(one: dict[str, Any], seconds: int = 0) -> dict[str, Any]:
        at = NOON + dt.timedelta(seconds=seconds)
        return {**one, "transaction_id": None, "event_at": at}

    found = listed(spark, [timed(COMES), timed(DELETED), timed(INSERTED, seconds=1)])
    assert found == [("comes", "2"), ("is deleted", "2")]


def test_an_earlier_run_has_read_the_insert(spark: SparkSession) -> None:
    found = listed(spark, [COMES, LEAVES_FOR_TWO], earlier=[INSERTED, *OTHERS], known=[])
    assert found == [*MOVE, ("is inserted", "2")]


def test_an_earlier_run_has_read_the_key_change(spark: SparkSession) -> None:
    earlier = [COMES, LEAVES_FOR_TWO]
    assert listed(spark, [DELETED, *OTHERS], earlier, known=earlier) == [("is deleted", "2")]


def test_of_more_transactions_than_literals_all_are_found(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "_MOST_RANGES", 1)
    moved_later = effect(12, "comes later", "upsert", "2", "update", transaction_id="v")
    without_transaction = {"transaction_id": None, "row_key": "7"}
    timed = [
        {**COMES, **without_transaction, "event_id": "a"},
        {**DELETED, **without_transaction, "event_id": "b"},
    ]
    found = listed(spark, [COMES, moved_later, *timed], earlier=[DELETED, *OTHERS], known=[])
    expected = [("a", "7"), ("b", "7"), ("comes", "2"), ("comes later", "2"), ("is deleted", "2")]
    assert found == expected


OLD_HALF = effect(5, "old half", "delete", "1", "delete", source_format="cdl_debezium_json")
NEW_HALF = {**OLD_HALF, "event_id": "new half", "op": "insert", "effect": "upsert", "row_key": "2"}
HALVES = [("new half", "2"), ("old half", "1")]
ALONE = [
    {**OLD_HALF, **other, "event_id": event_id}
    for event_id, other in {
        "deleted at another position": {"sequence": (6, 0, 6), "row_key": "3"},
        "inserted in another transaction": {**NEW_HALF, "transaction_id": "u", "row_key": "4"},
        "inserted into another table": {**NEW_HALF, "table_id": "shop.rows", "row_key": "5"},
        "of another format": {**NEW_HALF, "source_format": "dts_avro", "row_key": "7"},
    }.items()
]


def test_a_delete_and_an_insert_at_one_place_may_be_a_key_change(spark: SparkSession) -> None:
    assert listed(spark, [OLD_HALF, NEW_HALF, *ALONE]) == HALVES


def test_the_two_may_be_in_two_topics(spark: SparkSession) -> None:
    """If all was delivered again in another topic, what had landed before counts in the first."""
    moved_topic = {**NEW_HALF, "topic": "another topic", "sequence": (5, 0, 1)}
    assert listed(spark, [OLD_HALF, moved_topic, *ALONE]) == HALVES
    assert listed(spark, [moved_topic], [OLD_HALF, *ALONE], known=[]) == HALVES


@pytest.mark.parametrize(("earlier", "new"), [(OLD_HALF, NEW_HALF), (NEW_HALF, OLD_HALF)])
@pytest.mark.parametrize("place", ["t", "a time", "nothing"])
def test_an_earlier_run_has_read_one_half(
    spark: SparkSession, earlier: dict[str, Any], new: dict[str, Any], place: str
) -> None:
    at = {
        "t": {},
        "a time": {"transaction_id": None},
        "nothing": {"transaction_id": None, "event_at": None},
    }[place]
    earlier, new = {**earlier, **at}, {**new, **at}
    assert listed(spark, [new], [earlier, *ALONE], known=[]) == HALVES


def test_another_delete_at_the_place_of_a_known_pair_is_listed(spark: SparkSession) -> None:
    other = {**OLD_HALF, "event_id": "other", "row_key": "3", "sequence": (5, 0, 9)}
    earlier = [OLD_HALF, NEW_HALF]
    found = listed(spark, [other], earlier, known=earlier)
    assert found == [("new half", "2"), ("other", "3")]


def test_inserts_and_deletes_of_a_key_in_one_transaction_are_listed(spark: SparkSession) -> None:
    deleted = {**OLD_HALF, "event_id": "deleted", "row_key": "2", "sequence": (6, 0, 6)}
    expected = [("deleted", "2"), ("new half", "2")]
    assert listed(spark, [NEW_HALF, deleted]) == expected
    assert listed(spark, [deleted], earlier=[NEW_HALF, *ALONE], known=[]) == expected
    unnamed = [{**one, "transaction_id": None} for one in (NEW_HALF, deleted)]
    assert listed(spark, unnamed) == []


def test_effects_on_revised_keys_are_listed_again(spark: SparkSession) -> None:
    revised = [{"source_format": "dts_avro", "table_id": "shop.seats", "row_key": "2"}]
    earlier = [COMES, LEAVES_FOR_TWO, DELETED, *OTHERS]
    found = listed(spark, [], earlier, known=earlier[:3], revised=revised)
    assert found == [("comes", "2"), ("is deleted", "2")]


MOVED = {**COMES, "source_format": "canal_json", "event_id": "moved", "transaction_id": None}
ELSEWHERE = {
    **MOVED,
    "event_id": "in another partition",
    "is_key_change": False,
    "event_at": NOON + dt.timedelta(seconds=1),
    "sequence": (5, 1, 9),
}
NOT_BESIDE = [
    {**ELSEWHERE, **other, "event_id": event_id}
    for event_id, other in {
        "in its partition": {"sequence": (5, 0, 9)},
        "at another position": {"sequence": (6, 1, 9)},
        "on another key": {"row_key": "3"},
        "of a format with log positions": {"source_format": "dts_avro"},
    }.items()
]
BESIDE = [("in another partition", "2"), ("moved", "2")]


@pytest.mark.parametrize("other", [{}, {"topic": "other", "sequence": (5, 0, 9)}])
def test_effects_of_other_partitions_at_its_position_are_listed(
    spark: SparkSession, other: dict[str, Any]
) -> None:
    beside = {**ELSEWHERE, **other}
    assert listed(spark, [MOVED, beside, *NOT_BESIDE]) == BESIDE
    assert listed(spark, [MOVED], [beside, *NOT_BESIDE], known=[]) == BESIDE
    assert listed(spark, [beside, *NOT_BESIDE], [MOVED], known=[MOVED]) == BESIDE[:1]


def test_an_effect_that_was_raised_to_its_position_is_listed(spark: SparkSession) -> None:
    raised = {**ELSEWHERE, "message_position": 2}
    place = {"source_format": "canal_json", "topic": "shop", "partition": 1, "offset": 9}
    found = listed(spark, [MOVED], [raised], known=[], places=[{**place, "position": 5}])
    assert found == BESIDE


def test_of_more_positions_than_literals_all_are_found(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "_MOST_RANGES", 1)
    later = {**MOVED, "event_id": "moved later", "sequence": (7, 0, 9)}
    assert listed(spark, [MOVED, later], [ELSEWHERE, *NOT_BESIDE], known=[]) == [
        *BESIDE,
        ("moved later", "2"),
    ]
