"""The effects by which a row may have come to a key that another row holds, or left it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.fold import ranges
from cdc_marts.fold.key_changes import key_changes
from tests.python.fold.frames import (
    PLACES,
    case_and_value,
    effects_at_positions,
    frame,
    rows_of_cases,
)

EFFECTS = (
    "source_format table_id row_key topic op event_id transaction_id event_at sequence"
    " is_key_change effect"
)
NEW_EFFECTS = f"{EFFECTS} is_keyless record_previous_row_key pairing_id"
KEY = "source_format table_id row_key"
_OWN = {"topic", "table_id", "event_id"}
NOON = dt.datetime(2024, 3, 1, 12)


def effect(
    position: int, event_id: str, kind: str, row_key: str, op: str, **other: Any
) -> dict[str, Any]:
    return {
        "source_format": "shareplex_json",
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
        "record_previous_row_key": "1" if op == "update" else None,
        "sequence": (position, 0, position),
        **other,
    }


@dataclass(frozen=True)
class Case:
    """What a run reads, what it then lists, and what earlier runs have read and listed."""

    new: Sequence[dict[str, Any]]
    #: event_id and key
    listed: Sequence[tuple[str, str]]
    earlier: Sequence[dict[str, Any]] = ()
    #: None in the first run
    known: Sequence[dict[str, Any]] | None = None
    revised: Sequence[dict[str, Any]] = ()
    places: Sequence[dict[str, Any]] = ()


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


MOVE = [("comes", "1"), ("comes", "2")]


def timed(one: dict[str, Any], seconds: int = 0) -> dict[str, Any]:
    """A change without a transaction id."""
    return {**one, "transaction_id": None, "event_at": NOON + dt.timedelta(seconds=seconds)}


OLD_HALF = effect(5, "old half", "delete", "1", "delete", source_format="cdl_debezium_json")
NEW_HALF = {**OLD_HALF, "event_id": "new half", "op": "insert", "effect": "upsert", "row_key": "2"}
HALVES = [("new half", "2"), ("old half", "1")]
ALONE = [
    {**OLD_HALF, **other, "event_id": event_id}
    for event_id, other in {
        "deleted at another position": {"sequence": (6, 0, 6), "row_key": "3"},
        "inserted in another transaction": {**NEW_HALF, "transaction_id": "u", "row_key": "4"},
        "inserted into another table": {**NEW_HALF, "table_id": "shop.rows", "row_key": "5"},
        "of another format": {**NEW_HALF, "source_format": "shareplex_json", "row_key": "7"},
    }.items()
]
# If all was delivered again in another topic, what had landed before counts in the first one.
IN_ANOTHER_TOPIC = {**NEW_HALF, "topic": "another topic", "sequence": (5, 0, 1)}
DELETED_LATER = {**OLD_HALF, "event_id": "deleted", "row_key": "2", "sequence": (6, 0, 6)}
#: Where a delete and an insert stand, by which they are known to be one key change.
STANDS = {
    "a transaction": {},
    "a time": {"transaction_id": None},
    "nothing but a position": {"transaction_id": None, "event_at": None},
}

CHANGED_KEY = {**COMES, "source_format": "canal_json", "event_id": "moved", "transaction_id": None}
ELSEWHERE = {
    **CHANGED_KEY,
    "event_id": "elsewhere",
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
        "of a format with log positions": {"source_format": "shareplex_json"},
    }.items()
]
IN_PLACES = {
    "another partition": ELSEWHERE,
    "another topic": {**ELSEWHERE, "topic": "other", "sequence": (5, 0, 9)},
}
BESIDE = [("elsewhere", "2"), ("moved", "2")]

CASES = {
    "inserts and deletes on its keys are listed with a key change": Case(
        [COMES, LEAVES_FOR_TWO, DELETED, INSERTED, *OTHERS],
        [*MOVE, ("is deleted", "2"), ("is inserted", "2")],
    ),
    "without transaction ids, changes of one time are of one transaction": Case(
        [timed(COMES), timed(DELETED), timed(INSERTED, seconds=1)],
        [("comes", "2"), ("is deleted", "2")],
    ),
    "an earlier run has read the insert": Case(
        [COMES, LEAVES_FOR_TWO],
        [*MOVE, ("is inserted", "2")],
        earlier=[INSERTED, *OTHERS],
        known=[],
    ),
    "an earlier run has read the key change": Case(
        [DELETED, *OTHERS],
        [("is deleted", "2")],
        earlier=[COMES, LEAVES_FOR_TWO],
        known=[COMES, LEAVES_FOR_TWO],
    ),
    "a delete and an insert at one place may be a key change": Case(
        [OLD_HALF, NEW_HALF, *ALONE], HALVES
    ),
    "the two may be in two topics": Case([OLD_HALF, IN_ANOTHER_TOPIC, *ALONE], HALVES),
    "one of two topics was read by an earlier run": Case(
        [IN_ANOTHER_TOPIC], HALVES, earlier=[OLD_HALF, *ALONE], known=[]
    ),
    **{
        f"an earlier run has read the {earlier['event_id']}, known by {stands}": Case(
            [{**new, **at}], HALVES, earlier=[{**earlier, **at}, *ALONE], known=[]
        )
        for earlier, new in [(OLD_HALF, NEW_HALF), (NEW_HALF, OLD_HALF)]
        for stands, at in STANDS.items()
    },
    "another delete at the place of a known pair": Case(
        [{**OLD_HALF, "event_id": "other", "row_key": "3", "sequence": (5, 0, 9)}],
        [("new half", "2"), ("other", "3")],
        earlier=[OLD_HALF, NEW_HALF],
        known=[OLD_HALF, NEW_HALF],
    ),
    "inserts and deletes of a key in one transaction": Case(
        [NEW_HALF, DELETED_LATER], [("deleted", "2"), ("new half", "2")]
    ),
    "an earlier run has read the insert of a key in the transaction": Case(
        [DELETED_LATER],
        [("deleted", "2"), ("new half", "2")],
        earlier=[NEW_HALF, *ALONE],
        known=[],
    ),
    "inserts and deletes of a key in no transaction": Case(
        [{**one, "transaction_id": None} for one in (NEW_HALF, DELETED_LATER)], []
    ),
    "a split update changes a key": Case(
        [
            {**one, "record_previous_row_key": None, "pairing_id": "pair"}
            for one in (COMES, LEAVES_FOR_TWO)
        ],
        [("comes", "1"), ("comes", "2")],
    ),
    "effects on revised keys are listed again": Case(
        [],
        [("comes", "2"), ("is deleted", "2")],
        earlier=[COMES, LEAVES_FOR_TWO, DELETED, *OTHERS],
        known=[COMES, LEAVES_FOR_TWO, DELETED],
        revised=[
            {
                "source_format": "shareplex_json",
                "table_id": "shop.seats",
                "row_key": "2",
                "is_keyless": False,
            }
        ],
    ),
    **{
        f"an effect in {place} at its position": Case([CHANGED_KEY, beside, *NOT_BESIDE], BESIDE)
        for place, beside in IN_PLACES.items()
    },
    **{
        f"an earlier run has read the effect in {place}": Case(
            [CHANGED_KEY], BESIDE, earlier=[beside, *NOT_BESIDE], known=[]
        )
        for place, beside in IN_PLACES.items()
    },
    **{
        f"an earlier run has read the key change before the effect in {place}": Case(
            [beside, *NOT_BESIDE], BESIDE[:1], earlier=[CHANGED_KEY], known=[CHANGED_KEY]
        )
        for place, beside in IN_PLACES.items()
    },
    "an effect that was raised to its position": Case(
        [CHANGED_KEY],
        BESIDE,
        earlier=[{**ELSEWHERE, "message_position": 2}],
        known=[],
        places=[
            {
                **{name: CHANGED_KEY[name] for name in ("source_format", "topic")},
                "partition": 1,
                "offset": 9,
                "position": 5,
            }
        ],
    ),
}
_FIRST_RUNS = {name: case for name, case in CASES.items() if case.known is None}
_LATER_RUNS = {name: case for name, case in CASES.items() if case.known is not None}


@pytest.fixture(scope="module")
def listed(spark: SparkSession) -> dict[str, list[tuple[str, str]]]:
    """Case -> event_id and key of what is listed."""
    return _listed(spark, _FIRST_RUNS) | _listed(spark, _LATER_RUNS)


@pytest.mark.parametrize("name", CASES)
def test_effects_that_may_cause_a_collision_are_listed(
    listed: dict[str, list[tuple[str, str]]], name: str
) -> None:
    assert listed[name] == CASES[name].listed


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
    expected = [("a", "7"), ("b", "7"), ("comes", "2"), ("comes later", "2"), ("is deleted", "2")]
    case = Case([COMES, moved_later, *timed], expected, earlier=[DELETED, *OTHERS], known=[])
    assert _listed(spark, {"many": case}) == {"many": expected}


def test_of_more_positions_than_literals_all_are_found(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "_MOST_RANGES", 1)
    later = {**CHANGED_KEY, "event_id": "moved later", "sequence": (7, 0, 9)}
    expected = [*BESIDE, ("moved later", "2")]
    case = Case([CHANGED_KEY, later], expected, earlier=[ELSEWHERE, *NOT_BESIDE], known=[])
    assert _listed(spark, {"many": case}) == {"many": expected}


def _listed(spark: SparkSession, cases: Mapping[str, Case]) -> dict[str, list[tuple[str, str]]]:
    """The cases in one run, which is the first one of all of them or of none.

    Each case has topics, tables and events of its own.
    """

    def rows(part: str) -> list[dict[str, Any]]:
        of_cases = {name: getattr(case, part) or () for name, case in cases.items()}
        return rows_of_cases(of_cases, _OWN)

    is_first = all(case.known is None for case in cases.values())
    found = key_changes(
        effects_at_positions(spark, NEW_EFFECTS, rows("new")),
        effects=effects_at_positions(spark, NEW_EFFECTS, [*rows("earlier"), *rows("new")]),
        new_revised_keys=frame(spark, f"{KEY} is_keyless", rows("revised")),
        message_places=frame(spark, PLACES, rows("places")),
        earlier=None if is_first else frame(spark, EFFECTS, rows("known")),
    )
    by_case: dict[str, list[tuple[str, str]]] = {name: [] for name in cases}
    for row in found.collect():
        name, event_id = case_and_value(row.event_id)
        by_case[name].append((event_id, row.row_key))
    return {name: sorted(events) for name, events in by_case.items()}
