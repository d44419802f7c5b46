"""The effects by which a row may have come to a key that another row holds, or left it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold import key_changes as module
from cdc_marts.fold.key_changes import key_changes
from tests.python.fold.frames import frame

EFFECTS = (
    "source_format table_id row_key topic op event_id transaction_id event_at sequence"
    " is_key_change effect is_keyless"
)
KEY = "source_format table_id row_key"
FORMATS = {"dts_avro": {}, "cdl_debezium_json": {"moves_rows_by_delete_and_insert": True}}
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
) -> list[tuple[str, str]]:
    """event_id and key of what is found; `known`: where it is None, this is the first run."""
    found = key_changes(
        frame(spark, EFFECTS, new),
        frame(spark, EFFECTS, [*(earlier or []), *new]),
        frame(spark, KEY, revised),
        None if known is None else frame(spark, EFFECTS, known).drop("is_keyless"),
        FORMATS,
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
    monkeypatch.setattr(module, "_MOST_TRANSACTIONS", 1)
    moved_later = effect(12, "comes later", "upsert", "2", "update", transaction_id="v")
    without_transaction = {"transaction_id": None, "row_key": "7"}
    timed = [
        {**COMES, **without_transaction, "event_id": "a"},
        {**DELETED, **without_transaction, "event_id": "b"},
    ]
    found = listed(spark, [COMES, moved_later, *timed], earlier=[DELETED, *OTHERS], known=[])
    expected = [("a", "7"), ("b", "7"), ("comes", "2"), ("comes later", "2"), ("is deleted", "2")]
    assert found == expected


def test_where_key_changes_are_deletes_and_inserts_all_of_them_are_listed(
    spark: SparkSession,
) -> None:
    debezium = [{**one, "source_format": "cdl_debezium_json"} for one in (DELETED, OTHERS[0])]
    assert listed(spark, debezium) == [("is deleted", "2"), ("on another key", "3")]


def test_effects_on_revised_keys_are_listed_again(spark: SparkSession) -> None:
    revised = [{"source_format": "dts_avro", "table_id": "shop.seats", "row_key": "2"}]
    earlier = [COMES, LEAVES_FOR_TWO, DELETED, *OTHERS]
    found = listed(spark, [], earlier, known=earlier[:3], revised=revised)
    assert found == [("comes", "2"), ("is deleted", "2")]
