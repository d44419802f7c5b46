"""Keys that belong to the same rows."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold.key_chains import keys_of_chains
from tests.python.fold.frames import frame

TABLE = {"source_format": "cdl_debezium_json", "table_id": "shop.seats"}
KEY = "source_format table_id row_key"


def found(
    spark: SparkSession,
    keys: list[str],
    changes: list[tuple[str, str]],
    pairs: list[tuple[str, str]] = (),
    longest_key_chain: int = 20,
) -> tuple[list[str], list[str]]:
    """The keys whose rows may have values from some keys, and those that these rows had before.

    `changes`, `pairs`: old and new key of updates, and of deletes with inserts.
    """
    effects: list[dict[str, Any]] = [
        {"event_id": str(event), "row_key": key, "effect": effect, "is_key_change": True}
        for event, change in enumerate(changes)
        for key, effect in zip(change, ("delete", "upsert"), strict=True)
    ]
    # An insert on a key of a key change is listed with it, and links nothing.
    effects.append({"event_id": "inserts", "row_key": "a", "effect": "upsert"})
    effects.append({"event_id": "inserts", "row_key": "z", "effect": "delete"})
    chains = keys_of_chains(
        frame(spark, KEY, [{**TABLE, "row_key": key} for key in keys]),
        frame(spark, f"{KEY} event_id effect is_key_change", [{**TABLE, **e} for e in effects]),
        frame(
            spark,
            "source_format table_id old_key new_key",
            [{**TABLE, "old_key": old, "new_key": new} for old, new in pairs],
        ),
        longest_key_chain,
    )
    later, with_earlier = (sorted(row.row_key for row in keys.collect()) for keys in chains)
    return later, with_earlier


CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize(
    ("key", "later"), [("a", ["a", "b", "c", "d"]), ("b", ["b", "c", "d"]), ("d", ["d"])]
)
def test_later_keys_are_found_with_all_the_keys_before_them(
    spark: SparkSession, key: str, later: list[str]
) -> None:
    changes, chain = [*CHAIN, ("x", "y")], ["a", "b", "c", "d"]
    assert found(spark, [key], changes) == (later, chain)
    assert found(spark, [key], changes[::2], pairs=[("b", "c")]) == (later, chain)


def test_another_row_that_had_the_key_is_not_looked_at(spark: SparkSession) -> None:
    """Two rows that leave one key for two others share only this key."""
    assert found(spark, ["b"], [("a", "b"), ("a", "c")]) == (["b"], ["a", "b"])


def test_a_row_may_come_back_to_its_key(spark: SparkSession) -> None:
    assert found(spark, ["a"], [("a", "b"), ("b", "a")]) == (["a", "b"], ["a", "b"])


def test_a_key_without_key_changes_is_alone(spark: SparkSession) -> None:
    assert found(spark, ["e", "f"], CHAIN) == (["e", "f"], ["e", "f"])
    assert found(spark, ["e"], []) == (["e"], ["e"])


def test_a_chain_is_followed_over_a_number_of_key_changes(spark: SparkSession) -> None:
    assert found(spark, ["a"], CHAIN, longest_key_chain=1) == (["a", "b"], ["a", "b"])
    # One more before: it shows which row of key b came to key c.
    assert found(spark, ["c"], CHAIN, longest_key_chain=1) == (["c", "d"], ["a", "b", "c", "d"])
    assert found(spark, ["d"], CHAIN, longest_key_chain=1) == (["d"], ["b", "c", "d"])
