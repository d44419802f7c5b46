"""Rows of partial images keep what they had before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.filled_rows import filled_rows, partial_by_image
from cdc_marts.identifying_columns import KEY
from tests.python.fold.frames import (
    MISSING_COLUMNS,
    SPLIT_KEY_CHANGES,
    SUPERSEDED_EFFECTS,
    TRUNCATIONS,
    case_and_value,
    effects_at_positions,
    frame,
    rows_of_cases,
)
from tests.python.fold.partial_images import EFFECTS, NAMES, effect, log_of

#: What names something else in each case.
_OWN = {"table_id", "event_id", "last_write_id", "pairing_id", "delete_id", "insert_id"}

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """Effects on the keys of a table, and the rows that are filled."""

    effects: Sequence[dict[str, Any]]
    #: event_id -> its row
    rows: Mapping[str, Row]
    truncated_at: int | None = None
    #: delete, insert and old key
    pairs: Sequence[tuple[str, str, str]] = ()
    #: as `int_superseded_effects`
    superseded: Sequence[dict[str, Any]] = ()
    #: what an `update_before` says, by its `pairing_id`
    before: Mapping[str, Row] | None = None


INSERT = effect(1, "1", {"id": 1, "a": 1, "b": 2}, op="insert")
PARTIAL = effect(3, "1", {"id": 1, "a": 9}, is_partial=True)
WITH_OTHER_BEFORE = {**PARTIAL, "before": {"id": 1, "a": 1, "b": 7}}
WITH_SAME_BEFORE = {**PARTIAL, "before": {"id": 1, "a": 1, "b": 2}}
LATER = effect(5, "1", {"id": 1, "a": 10}, is_partial=True)


def key_change(position: int, old_key: str, row_key: str, **values: Any) -> list[dict[str, Any]]:
    """A key change with an image that lacks `b`, unless it is among `values`."""
    image = {"id": row_key, "a": position, **values}
    change = effect(position, row_key, image, is_partial="b" not in image, is_key_change=True)
    gone = {**change, "row_key": old_key, "effect": "delete", "after": None, "is_partial": False}
    return [change, gone]


TWO_KEY_CHANGES = [INSERT, *key_change(4, "1", "2"), *key_change(5, "2", "3")]
OTHER_INSERT = effect(2, "2", {"id": 2, "a": 2, "b": 7}, op="insert")
WITHOUT_INSERT = [*TWO_KEY_CHANGES[1:], {**PARTIAL, "row_key": "4"}]


GONE = {**effect(5, "1", None, event_id="gone"), "sequence": (5, 0, 4)}
COME = effect(5, "2", {"id": 2, "a": 4}, op="insert", is_partial=True, event_id="come")


def delete_and_insert(is_one_move: bool, *others: dict[str, Any]) -> Case:
    """A row leaves its key by a delete and comes to another one by an insert."""
    come = {**COME, "sequence": (5, 0, 6)} if others else COME
    row = {"id": 2, "a": 4, "b": 2} if is_one_move else {"id": 2, "a": 4}
    return Case([INSERT, GONE, *others, come], {"come": row}, pairs=[("gone", "come", "1")])


def older_row_moves(last_write_id: str) -> Case:
    """A row comes to the key of another one and changes there, and then the other one moves away.

    `last_write_id`: the event that wrote the other row, if it has landed.
    """
    return Case(
        [
            INSERT,
            OTHER_INSERT,
            *key_change(3, "1", "2", b=2),
            effect(4, "2", {"id": 2, "a": 4, "b": 2}),
            *key_change(5, "2", "1"),
        ],
        {"5": {"id": "1", "a": 5} | ({"b": 7} if last_write_id == "2" else {})},
        superseded=[
            {
                "row_key": "2",
                "event_id": "5",
                "effect": "delete",
                "last_write_id": last_write_id,
                "is_of_older_row": True,
                "row_left": True,
            }
        ],
    )


AT_ONE_POSITION = {"event_id": "moves", "is_key_change": True}

CASES = {
    "a column keeps the value of the event before": Case(
        [INSERT, PARTIAL], {"3": {"id": 1, "a": 9, "b": 2}}
    ),
    "a column keeps the value of a late event": Case(
        [INSERT, effect(2, "1", {"id": 1, "a": 5, "b": 6}), PARTIAL],
        {"3": {"id": 1, "a": 9, "b": 6}},
    ),
    "nothing is kept over a delete": Case(
        [INSERT, effect(2, "1", None), PARTIAL], {"3": {"id": 1, "a": 9}}
    ),
    "nothing is kept over a change of the whole row": Case(
        [INSERT, effect(2, "1", {"id": 1, "a": 5}), PARTIAL], {"3": {"id": 1, "a": 9}}
    ),
    "nothing is kept over a truncation": Case(
        [INSERT, PARTIAL], {"3": {"id": 1, "a": 9}}, truncated_at=2
    ),
    "nothing is kept by an insert": Case(
        [INSERT, {**PARTIAL, "op": "insert"}], {"3": {"id": 1, "a": 9}}
    ),
    "the image before says what no event before does": Case(
        [WITH_OTHER_BEFORE], {"3": {"id": 1, "a": 9, "b": 7}}
    ),
    "an event before counts more than the image before": Case(
        [INSERT, WITH_OTHER_BEFORE], {"3": {"id": 1, "a": 9, "b": 2}}
    ),
    "the image before may be a message of its own": Case(
        [{**PARTIAL, "pairing_id": "p"}],
        {"3": {"id": 1, "a": 9, "b": 8}},
        before={"p": {"id": 1, "b": 8}},
    ),
    "another value in an image before": Case(
        [INSERT, WITH_OTHER_BEFORE, LATER],
        {"3": {"id": 1, "a": 9, "b": 2}, "5": {"id": 1, "a": 10, "b": 2}},
    ),
    "the same value in an image before": Case(
        [INSERT, WITH_SAME_BEFORE, LATER],
        {"3": {"id": 1, "a": 9, "b": 2}, "5": {"id": 1, "a": 10, "b": 2}},
    ),
    "a row takes its values to another key": Case(
        TWO_KEY_CHANGES, {"4": {"id": "2", "a": 4, "b": 2}, "5": {"id": "3", "a": 5, "b": 2}}
    ),
    "the row had no earlier value": Case(
        WITHOUT_INSERT,
        {"3": {"id": 1, "a": 9}, "4": {"id": "2", "a": 4}, "5": {"id": "3", "a": 5}},
    ),
    "a delete and an insert may be one move": delete_and_insert(True),
    "another row changes between the two": delete_and_insert(
        False, effect(5, "7", {"id": 7, "b": 0})
    ),
    "between the two another row's change of an earlier position lands": delete_and_insert(
        True, effect(5, "7", {"id": 7, "b": 0}, sequence=(3, 0, 5))
    ),
    "between the two, which a snapshot raised, another row's change lands": Case(
        [
            INSERT,
            {**GONE, "sequence": (9, 0, 4), "message_position": 5},
            effect(5, "7", {"id": 7, "b": 0}),
            {**COME, "sequence": (9, 0, 6), "message_position": 5},
        ],
        {"come": {"id": 2, "a": 4}},
        pairs=[("gone", "come", "1")],
    ),
    # Its effects under the earlier key have higher sequences than the insert.
    "a row leaves its key in another partition, in which it changed before": Case(
        [
            INSERT,
            effect(5, "1", {"id": 1, "b": 7}, is_partial=True, sequence=(5, 1, 10)),
            {**GONE, "sequence": (5, 1, 11)},
            {**COME, "sequence": (5, 0, 20)},
            effect(6, "2", {"id": 2, "a": 5}, is_partial=True),
        ],
        {
            "5": {"id": 1, "a": 1, "b": 7},
            "come": {"id": 2, "a": 4, "b": 7},
            "6": {"id": 2, "a": 5, "b": 7},
        },
        pairs=[("gone", "come", "1")],
    ),
    "a delete that took an older row ends nothing": Case(
        [INSERT, effect(2, "1", None), PARTIAL],
        {"3": {"id": 1, "a": 9, "b": 2}},
        superseded=[
            {
                "row_key": "1",
                "event_id": "2",
                "effect": "delete",
                "is_of_older_row": True,
                "row_left": True,
            }
        ],
    ),
    "a row that leaves beside a newer one keeps its own values": older_row_moves("2"),
    "a row that leaves beside a newer one has no values if it never landed": older_row_moves(
        "unknown"
    ),
    "a row that passes beside another one takes nothing from it and leaves nothing": Case(
        [
            INSERT,
            OTHER_INSERT,
            *key_change(3, "1", "2", b=2),
            *key_change(4, "2", "3"),
            effect(5, "2", {"id": 2, "a": 9}, is_partial=True),
        ],
        {"4": {"id": "3", "a": 4, "b": 2}, "5": {"id": 2, "a": 9, "b": 7}},
        superseded=[
            {
                "row_key": "2",
                "event_id": event_id,
                "effect": kind,
                "is_of_older_row": False,
                "row_left": True,
            }
            for event_id, kind in (("3", "upsert"), ("4", "delete"))
        ],
    ),
    "a row comes to its key in front of a partial image with a lower sequence": Case(
        [
            INSERT,
            effect(3, "1", None, **AT_ONE_POSITION, sequence=(3, 1, 0)),
            effect(
                3, "2", {"id": 2, "a": 5}, **AT_ONE_POSITION, sequence=(3, 1, 0), is_partial=True
            ),
            effect(3, "2", {"id": 2, "a": 9}, is_partial=True, sequence=(3, 0, 0)),
        ],
        {"moves": {"id": 2, "a": 5, "b": 2}, "3": {"id": 2, "a": 9, "b": 2}},
        superseded=[
            {
                "row_key": "2",
                "event_id": "moves",
                "effect": "upsert",
                "stands_before": ((3, 0, 0), 0),
            }
        ],
    ),
    "a row changes in front of its key change with a lower sequence": Case(
        [
            INSERT,
            effect(3, "1", {"id": 1, "a": 9, "b": 7}, is_partial=True, sequence=(3, 1, 0)),
            effect(3, "1", None, **AT_ONE_POSITION, sequence=(3, 0, 0)),
            effect(
                3, "2", {"id": 2, "a": 9}, **AT_ONE_POSITION, sequence=(3, 0, 0), is_partial=True
            ),
        ],
        {"3": {"id": 1, "a": 9, "b": 7}, "moves": {"id": 2, "a": 9, "b": 7}},
        superseded=[
            {"row_key": "1", "event_id": "3", "effect": "upsert", "stands_before": ((3, 0, 0), 0)}
        ],
    ),
    "a row leaves its key in front of an insert with a lower sequence": Case(
        [
            INSERT,
            effect(3, "1", {"id": 1, "a": 3, "b": 4}, op="insert", sequence=(3, 0, 0)),
            effect(3, "1", None, **AT_ONE_POSITION, sequence=(3, 1, 0)),
            effect(
                3, "2", {"id": 2, "a": 1}, **AT_ONE_POSITION, sequence=(3, 1, 0), is_partial=True
            ),
        ],
        {"moves": {"id": 2, "a": 1, "b": 2}},
        superseded=[
            {
                "row_key": "1",
                "event_id": "moves",
                "effect": "delete",
                "is_of_older_row": True,
                "row_left": False,
                "stands_before": ((3, 0, 0), 0),
            }
        ],
    ),
}

#: event_id -> its row, and what before images say; sequences as their offsets
Filled = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def filled(spark: SparkSession) -> dict[str, Filled]:
    """Case -> the rows that are filled."""
    return _filled(spark, CASES)


@pytest.mark.parametrize("name", CASES)
def test_rows_keep_what_they_had(filled: dict[str, Filled], name: str) -> None:
    assert _rows(filled[name]) == CASES[name].rows


def test_another_value_in_an_image_before_is_kept_beside_the_one_of_an_earlier_event(
    filled: dict[str, Filled],
) -> None:
    """A column that the table lost in between has no value from before the loss."""
    change, later = filled["another value in an image before"].values()
    assert (change["filled_from"], later["filled_from"]) == ({"b": 1}, {"b": 1})
    assert (change["before_values"], change["before_values_from"]) == ({"b": 7}, {})
    assert (later["before_values"], later["before_values_from"]) == ({"b": 7}, {"b": 3})


def test_a_value_that_an_image_before_tells_again_is_as_new_as_that_image(
    filled: dict[str, Filled],
) -> None:
    change, later = filled["the same value in an image before"].values()
    assert (change["filled_from"], later["filled_from"]) == ({}, {"b": 3})
    assert (change["before_values"], later["before_values"]) == (None, None)


def test_a_value_is_as_new_as_the_event_that_wrote_it(filled: dict[str, Filled]) -> None:
    name = "a row comes to its key in front of a partial image with a lower sequence"
    assert filled[name]["3"]["filled_from"] == {"b": 1}


def test_key_changes_are_followed_over_a_number_of_keys(spark: SparkSession) -> None:
    found = _filled(spark, {"case": Case(TWO_KEY_CHANGES, {})}, longest_key_chain=1)
    assert found["case"]["5"]["row"] == {"id": "3", "a": 5}


def test_a_row_takes_its_values_over_many_keys(spark: SparkSession) -> None:
    """A recursive query of Spark would stop at a number of rows."""
    places = range(2, 12)
    effects = [INSERT, *(one for at in places for one in key_change(at, str(at - 1), str(at)))]
    limit = "spark.sql.cteRecursionRowLimit"
    spark.conf.set(limit, 20)
    try:
        found = _filled(spark, {"case": Case(effects, {})})
    finally:
        spark.conf.unset(limit)
    assert _rows(found["case"]) == {str(at): {"id": str(at), "a": at, "b": 2} for at in places}


def test_only_rows_on_the_given_keys_are_filled(spark: SparkSession) -> None:
    """The effects on the key from which the row of another key came may be missing."""
    found = _filled(spark, {"case": Case(WITHOUT_INSERT, {})}, keys=["3"])
    assert _rows(found["case"]) == {"5": {"id": "3", "a": 5}}


def _rows(of_case: Filled) -> dict[str, Row]:
    return {event_id: found["row"] for event_id, found in of_case.items()}


def _filled(
    spark: SparkSession,
    cases: Mapping[str, Case],
    longest_key_chain: int = 20,
    keys: Sequence[str] | None = None,
) -> dict[str, Filled]:
    """The cases in one run, each with a table and events of its own.

    `keys`: those whose rows are filled; without it, those of all effects.
    """

    def frame_of(columns: str, rows: Mapping[str, Sequence[dict[str, Any]]]) -> DataFrame:
        return frame(spark, columns, _of_cases(rows))

    effects = effects_at_positions(
        spark, EFFECTS, _of_cases({name: case.effects for name, case in cases.items()})
    )
    found = filled_rows(
        effects,
        log_of(
            spark,
            effects=effects,
            records=effects.withColumn("record_type", F.lit("change")),
            split_key_changes=frame_of(
                SPLIT_KEY_CHANGES,
                {
                    name: [{"delete_id": d, "insert_id": i, "old_key": k} for d, i, k in case.pairs]
                    for name, case in cases.items()
                },
            ),
            superseded=frame_of(
                SUPERSEDED_EFFECTS,
                {name: case.superseded for name, case in cases.items()},
            ),
            truncations=frame_of(
                TRUNCATIONS,
                {
                    name: [{"sequence": (at, 0, at)}]
                    for name, case in cases.items()
                    if (at := case.truncated_at) is not None
                },
            ),
        ),
        keys=checkpointed(
            effects.select(*KEY).distinct()
            if keys is None
            else frame_of(
                "source_format table_id row_key",
                {name: [{"row_key": k} for k in keys] for name in cases},
            )
        ),
        update_befores=frame_of(
            "source_format pairing_id before",
            {
                name: [{"pairing_id": p, "before": row} for p, row in (case.before or {}).items()]
                for name, case in cases.items()
            },
        ),
        longest_key_chain=longest_key_chain,
    ).withColumns({name: F.to_json(name) for name in ("row", "before_values")})
    by_case: dict[str, Filled] = {name: {} for name in cases}
    for row in found.orderBy("event_id").collect():
        case, event_id = case_and_value(row.event_id)
        by_case[case][event_id] = {
            "row": json.loads(row.row),
            "filled_from": {name: at.offset for name, at in row.filled_from.items()},
            "before_values": row.before_values and json.loads(row.before_values),
            "before_values_from": {name: at.offset for name, at in row.before_values_from.items()},
        }
    return by_case


def _of_cases(rows: Mapping[str, Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    named = {name: [{**NAMES, **row} for row in of_case] for name, of_case in rows.items()}
    return rows_of_cases(named, _OWN)


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
        frame(spark, MISSING_COLUMNS, [missing]),
    ).collect()
    assert [row.event_id for row in rows if row.is_partial] == ["5"]
