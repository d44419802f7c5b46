"""Which records do something else to rows than they say when read alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.exceptional_records import exceptional_records
from tests.python.fold.frames import case_and_value, frame, rows_of_cases

COLUMNS = (
    "source_format topic partition offset row_index record_type event_id table_id row_key"
    " previous_row_key is_keyless schema_id op pairing_id delivery_position landing_commit"
    " message_event_id"
)
KNOWN = (
    "source_format topic partition offset row_index event_id exception table_id row_keys"
    " old_row_key schema_id is_keyless op delivery_position is_revision"
)

MESSAGES = "source_format topic partition offset"
#: What names something else in each case.
_OWN = {"topic", "table_id", "event_id", "message_event_id", "pairing_id"}

Record = dict[str, Any]
#: offset, exception, row_keys, old_row_key and is_revision
Found = tuple[int, str, list[str], str | None, bool]


def change(offset: int, event_id: str, **other: Any) -> Record:
    return {
        "source_format": "cdl_json",
        "topic": "shop",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "record_type": "change",
        "event_id": event_id,
        "table_id": "shop.orders",
        "row_key": '{"id":1}',
        "is_keyless": False,
        "op": "update",
        "delivery_position": 7,
        "landing_commit": 1,
        **other,
    }


def half(offset: int, event_id: str, key: int, *, before: bool, **other: Any) -> Record:
    return change(
        offset,
        event_id,
        source_format="dataworks_json",
        record_type="update_before" if before else "change",
        row_key=f'{{"id":{key}}}',
        pairing_id="pair",
        **other,
    )


@dataclass(frozen=True)
class Case:
    """What a run reads, and which of its records, and of earlier ones, are exceptional."""

    new: Sequence[Record]
    found: Sequence[Found]
    #: what earlier runs have read; None in the first one
    earlier: Sequence[Record] | None = None
    #: what they have found
    known: Sequence[Record] = ()
    #: messages that this run moves to another place, and those for which a load repairs it
    raised: Sequence[Mapping[str, Any]] = ()
    reloaded: Sequence[Mapping[str, Any]] = ()


ONE, TWO, THREE = (f'{{"id":{key}}}' for key in (1, 2, 3))
KEYLESS_BEFORE = {**half(2, "b", 1, before=True), "is_keyless": True, "row_key": '{"b":"y","a":1}'}
KEYLESS_AFTER = {**half(1, "a", 1, before=False), "is_keyless": True, "row_key": '{"a":2}'}
KEYLESS_HALVES = [half(o, str(o), 1, before=o == 1, is_keyless=True) for o in (1, 2)]
BEFORE, AFTER = half(1, "a", 1, before=True), half(2, "b", 2, before=False)
TAKEN = change(9, "twice", landing_commit=2, previous_row_key=TWO)
#: A row of a load that repairs its table, and other deliveries of the row.
RELOADED = change(3, "moved", message_event_id="twice", landing_commit=2)
LATER_COPY = change(4, "twice", landing_commit=3)
EARLIER_COPY = change(2, "twice", landing_commit=1)
CHANGED_KEY = change(3, "moved", previous_row_key=TWO)
NO_EXCEPTIONS = {
    "two changes": [change(1, "one"), change(2, "other")],
    # Only coordinates distinguish these.
    "changes of a format known by coordinates": [
        change(o, "coordinates", source_format="canal_json") for o in (1, 2)
    ],
    "changes whose ids are coordinates": [change(o, "cdl_json:shop:0:1:0") for o in (1, 2)],
    "statements": [change(o, "twice", record_type="ddl") for o in (1, 2)],
    "halves with one key": [half(1, "a", 1, before=True), half(2, "b", 1, before=False)],
}


def place_of(record: Record) -> Record:
    return {name: record[name] for name in MESSAGES.split()}


def known_of(record: Record, exception: str, **other: Any) -> Record:
    """What an earlier run found."""
    columns = {name: record.get(name) for name in KNOWN.split()}
    return {**columns, "exception": exception, "is_revision": False, **other}


CASES = {
    # The key of the row is known then, and what an earlier run took for its key is looked at.
    "a keyless row takes columns from its update_before": Case(
        [KEYLESS_BEFORE],
        [
            (
                1,
                "split_update",
                sorted(['{"a":2,"b":"y"}', '{"a":2}', '{"b":"y","a":1}']),
                '{"b":"y","a":1}',
                True,
            )
        ],
        earlier=[KEYLESS_AFTER],
    ),
    "the delivery that landed first counts": Case(
        [change(8, "twice", landing_commit=1), change(9, "twice", landing_commit=0)],
        [(8, "redelivery", [ONE], None, False)],
    ),
    **{f"{name} in one run": Case(records, []) for name, records in NO_EXCEPTIONS.items()},
    **{
        f"{name} in two runs": Case(records[1:], [], earlier=records[:1])
        for name, records in NO_EXCEPTIONS.items()
    },
    "a delivery of an earlier run is repeated": Case(
        [change(9, "twice", landing_commit=2)],
        [(9, "redelivery", [ONE], None, False)],
        earlier=[change(1, "twice")],
    ),
    # Keys that a row left because of it are looked at, too.
    "an earlier run took the later copy for the first": Case(
        [change(1, "twice")],
        [(9, "redelivery", [ONE, TWO, THREE], None, True)],
        earlier=[TAKEN],
        known=[known_of(TAKEN, "split_update", row_keys=[ONE, THREE], old_row_key=THREE)],
    ),
    "what is known is not said again": Case(
        [change(3, "twice", landing_commit=3)],
        [(3, "redelivery", [ONE], None, False)],
        earlier=[change(1, "twice"), change(2, "twice", landing_commit=2)],
        known=[known_of(change(2, "twice"), "redelivery", row_keys=[ONE])],
    ),
    "a row of a repairing load is still the first delivery of later copies": Case(
        [RELOADED, LATER_COPY], [(4, "redelivery", [ONE], None, False)]
    ),
    "a copy lands after the repair": Case(
        [LATER_COPY], [(4, "redelivery", [ONE], None, False)], earlier=[RELOADED]
    ),
    "a run moves the first delivery": Case(
        [],
        [(3, "replacement", [ONE], None, True)],
        earlier=[RELOADED, LATER_COPY],
        known=[known_of(LATER_COPY, "redelivery", row_keys=[ONE])],
        reloaded=[place_of(RELOADED)],
    ),
    "a row of a repairing load is no redelivery of earlier copies": Case(
        [EARLIER_COPY, RELOADED], []
    ),
    "a row of a repairing load lands after another copy": Case(
        [RELOADED], [], earlier=[EARLIER_COPY], reloaded=[place_of(RELOADED)]
    ),
    "halves with different keys move their row": Case(
        [BEFORE, AFTER], [(2, "split_update", [ONE, TWO], ONE, False)]
    ),
    "an earlier run has read the half before": Case(
        [AFTER], [(2, "split_update", [ONE, TWO], ONE, False)], earlier=[BEFORE]
    ),
    "an earlier run has read the half after": Case(
        [BEFORE], [(2, "split_update", [ONE, TWO], ONE, True)], earlier=[AFTER]
    ),
    "halves of a keyless row always do": Case(
        KEYLESS_HALVES, [(2, "split_update", [ONE], ONE, False)]
    ),
    "a message in a new place is looked at again": Case(
        [],
        [(3, "replacement", [ONE, TWO], None, True)],
        earlier=[CHANGED_KEY, change(4, "other")],
        raised=[{**place_of(CHANGED_KEY), "is_revision": True}],
    ),
    "a message that was read in this run is new in its new place": Case(
        [CHANGED_KEY], [], earlier=[], raised=[{**place_of(CHANGED_KEY), "is_revision": True}]
    ),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, list[Found]]:
    """Case -> the exceptions that its run finds."""
    first = {name: case for name, case in CASES.items() if case.earlier is None}
    later = {name: case for name, case in CASES.items() if case.earlier is not None}
    return _found(spark, first) | _found(spark, later)


@pytest.mark.parametrize("name", CASES)
def test_exceptional_records_are_found(found: dict[str, list[Found]], name: str) -> None:
    assert found[name] == CASES[name].found


def test_earlier_records_known_by_coordinates_are_not_read(spark: SparkSession) -> None:
    """Nothing near which to look for another delivery: their history may be long."""
    of_canal = {"source_format": "canal_json", "delivery_position": None}
    new = [change(2, "canal_json:shop:0:2:0", **of_canal), change(9, "once")]
    earlier = [change(1, "canal_json:shop:0:1:0", **of_canal), *new]
    read = frame(spark, COLUMNS, earlier).withColumn(
        "row_key", F.expr("if(source_format = 'canal_json', raise_error('it is read'), row_key)")
    )
    no_messages = frame(spark, MESSAGES, [])
    exceptions = exceptional_records(
        frame(spark, COLUMNS, new),
        records=read,
        new_raises=frame(spark, f"{MESSAGES} is_revision", []),
        new_reloads=no_messages,
        earlier=frame(spark, KNOWN, []),
    )
    assert exceptions.isEmpty()


def _found(spark: SparkSession, cases: Mapping[str, Case]) -> dict[str, list[Found]]:
    """The cases in one run, which is the first one of all of them or of none.

    Each case has topics, tables and events of its own.
    """

    def rows(part: str) -> list[Record]:
        of_cases = {name: getattr(case, part) or () for name, case in cases.items()}
        return rows_of_cases(of_cases, _OWN)

    is_first = all(case.earlier is None for case in cases.values())
    exceptions = exceptional_records(
        frame(spark, COLUMNS, rows("new")),
        records=frame(spark, COLUMNS, [*rows("earlier"), *rows("new")]),
        new_raises=frame(spark, f"{MESSAGES} is_revision", rows("raised")),
        new_reloads=frame(spark, MESSAGES, rows("reloaded")),
        earlier=None if is_first else frame(spark, KNOWN, rows("known")),
    )
    by_case: dict[str, list[Found]] = {name: [] for name in cases}
    for row in exceptions.collect():
        name, _ = case_and_value(row.topic)
        keys = sorted(row.row_keys)
        by_case[name].append((row.offset, row.exception, keys, row.old_row_key, row.is_revision))
    return {name: sorted(of_case) for name, of_case in by_case.items()}
