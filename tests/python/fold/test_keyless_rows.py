"""Rows of tables without a key are counted, whatever the order and the batches of their effects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import Row, SparkSession

from cdc_marts.fold.keyless_rows import NEWEST, keyless_rows
from cdc_marts.identifying_columns import KEY
from tests.python.fold.frames import frame

EFFECTS = " ".join((*KEY, *NEWEST, "effect", "is_keyless", "sequence"))
HELD = " ".join((*KEY, *NEWEST.values(), "last_sequence", "row_count", "first_event_at"))
VISITS = {"source_format": "shareplex_json", "table_id": "SHOP.VISITS"}
CARTS = {**VISITS, "table_id": "SHOP.CARTS"}

Rows = Iterable[dict[str, Any]]


def insert(at: int, page: str, table: dict[str, str] = VISITS) -> dict[str, Any]:
    return {
        **table,
        "row_key": f'{{"page":"{page}"}}',
        "effect": "upsert",
        "event_id": f"at {at}",
        "is_keyless": True,
        "sequence": (at, 0, at),
    }


def delete(at: int, page: str, table: dict[str, str] = VISITS) -> dict[str, Any]:
    return {**insert(at, page, table), "effect": "delete"}


def held(at: int, page: str, count: int, table: dict[str, str] = VISITS) -> dict[str, Any]:
    return {
        **table,
        "row_key": f'{{"page":"{page}"}}',
        "last_event_id": f"at {at}",
        "last_sequence": (at, 0, at),
        "row_count": count,
    }


def truncation(at: int, table: dict[str, str] = VISITS) -> dict[str, Any]:
    return {**table, "sequence": (at, 0, at)}


def counted(
    spark: SparkSession,
    new: Rows,
    *,
    earlier: Rows = (),
    revised: Rows = (),
    new_truncations: Rows = (),
    held_rows: Rows | None = None,
) -> dict[tuple[str, str], Row]:
    """Table and page -> the row; `held_rows`: None in the first run."""
    new_effects = frame(spark, EFFECTS, new)
    truncations = frame(spark, "source_format table_id sequence", new_truncations)
    rows = keyless_rows(
        new_effects,
        effects=new_effects.unionByName(frame(spark, EFFECTS, earlier)),
        new_revised_keys=frame(spark, "source_format table_id row_key is_keyless", revised),
        new_truncations=truncations,
        truncations=truncations,
        earlier=None if held_rows is None else frame(spark, HELD, held_rows),
    )
    assert rows.columns == HELD.split()
    return {(row.table_id, row.row_key.split('"')[3]): row for row in rows.collect()}


def counts(rows: dict[tuple[str, str], Row]) -> dict[tuple[str, str], int]:
    return {row: found.row_count for row, found in rows.items()}


def test_equal_rows_are_counted(spark: SparkSession) -> None:
    effects = [insert(1, "home"), insert(2, "home"), delete(3, "home"), insert(4, "cart")]
    rows = counted(spark, effects)
    assert counts(rows) == {("SHOP.VISITS", "home"): 1, ("SHOP.VISITS", "cart"): 1}
    assert rows["SHOP.VISITS", "home"].last_event_id == "at 3"


def test_an_update_that_changes_nothing_leaves_the_number(spark: SparkSession) -> None:
    rows = counted(spark, [insert(1, "home"), insert(2, "home"), delete(2, "home")])
    assert counts(rows) == {("SHOP.VISITS", "home"): 1}


def test_effects_before_a_truncation_do_not_count(spark: SparkSession) -> None:
    effects = [insert(1, "home"), insert(9, "home"), insert(1, "cart", CARTS)]
    rows = counted(spark, effects, new_truncations=[truncation(5)])
    assert counts(rows) == {("SHOP.VISITS", "home"): 1, ("SHOP.CARTS", "cart"): 1}


def test_new_rows_are_added_to_those_counted_so_far(spark: SparkSession) -> None:
    rows = counted(
        spark,
        [insert(3, "home"), insert(9, "cart")],
        held_rows=[held(5, "home", 2), held(5, "cart", 1), held(5, "help", 1)],
    )
    assert counts(rows) == {("SHOP.VISITS", "home"): 3, ("SHOP.VISITS", "cart"): 2}
    assert rows["SHOP.VISITS", "home"].last_event_id == "at 5"
    assert rows["SHOP.VISITS", "cart"].last_event_id == "at 9"


def test_a_truncation_has_the_rows_of_its_table_counted_again(spark: SparkSession) -> None:
    rows = counted(
        spark,
        [insert(9, "home"), insert(9, "cart", CARTS)],
        earlier=[insert(1, "home"), insert(2, "help"), insert(7, "late")],
        new_truncations=[truncation(5)],
        held_rows=[held(1, "home", 1), held(2, "help", 1), held(7, "late", 1)],
    )
    assert counts(rows) == {
        ("SHOP.VISITS", "home"): 1,
        ("SHOP.VISITS", "late"): 1,
        ("SHOP.CARTS", "cart"): 1,
        ("SHOP.VISITS", "help"): 0,
    }
    # The merge deletes a row without a sequence.
    assert rows["SHOP.VISITS", "help"].last_sequence is None
    assert rows["SHOP.VISITS", "late"].last_sequence.position == 7


def test_a_table_with_changed_effects_is_counted_again(spark: SparkSession) -> None:
    rows = counted(
        spark,
        [],
        earlier=[insert(2, "home")],
        revised=[{**VISITS, "row_key": '{"page":"help"}', "is_keyless": True}],
        held_rows=[held(2, "home", 2), held(1, "help", 1), held(1, "cart", 1, CARTS)],
    )
    assert counts(rows) == {("SHOP.VISITS", "home"): 1, ("SHOP.VISITS", "help"): 0}


def test_a_truncation_of_a_table_with_a_key_changes_no_row(spark: SparkSession) -> None:
    rows = counted(
        spark, [], new_truncations=[truncation(5, CARTS)], held_rows=[held(1, "home", 1)]
    )
    assert rows == {}
