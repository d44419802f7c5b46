"""The halves of a split update may land in different runs, in either order, and more than once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.python.encoders import datahub_tuple, dataworks_json, shareplex_json
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    UPDATE,
    Message,
    Place,
    Row,
    RowChange,
    Table,
)
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import CHANGE_EVENTS, MESSAGE_LEDGER, RUNS, Stages

pytestmark = pytest.mark.thorough

COLUMNS = {"id": "long", "status": "text"}
KEYED, KEYLESS = ("id",), ()

BEFORE, AFTER = "half before", "half after"


@dataclass(frozen=True)
class Case:
    """Changes of one table, and for each run the messages that it lands, by what they contain."""

    name: str
    key: tuple[str, ...]
    #: What is changed: name -> (kind, row before, row after), in the order of the log.
    changes: dict[str, tuple[str, Row | None, Row | None]]
    #: For each run the messages: the change's name, for an update with the half.
    runs: list[list[str]]
    #: The table's rows in the end.
    rows: list[Row]
    #: Updates: name -> row before, null where its half has not landed.
    befores: dict[str, Row | None] = field(default_factory=dict)
    waiting_halves: int = 0


def row(id_: int, status: str) -> Row:
    return {"id": id_, "status": status}


def update(before: Row, after: Row) -> dict[str, tuple[str, Row, Row]]:
    return {"created": (INSERT, None, before), "changed": (UPDATE, before, after)}


NEW, PAID, MOVED = row(1, "new"), row(1, "paid"), row(2, "paid")
FIRST_HALF, SECOND_HALF = f"changed, {BEFORE}", f"changed, {AFTER}"
SPLIT = {
    "before_first": [["created", FIRST_HALF], [SECOND_HALF], []],
    "after_first": [["created", SECOND_HALF], [FIRST_HALF], []],
    "after_first_of_all": [[SECOND_HALF], ["created"], [FIRST_HALF]],
    "before_first_of_all": [[FIRST_HALF], [SECOND_HALF], ["created"]],
    "with_a_run_between": [["created", SECOND_HALF], [], [FIRST_HALF]],
    "before_redelivered": [["created", FIRST_HALF], [FIRST_HALF, SECOND_HALF], [FIRST_HALF]],
    "after_redelivered": [["created", SECOND_HALF], [FIRST_HALF, SECOND_HALF], [SECOND_HALF]],
    "all_redelivered": [
        ["created", SECOND_HALF],
        [FIRST_HALF, SECOND_HALF, "created"],
        [FIRST_HALF, SECOND_HALF],
    ],
}

CASES = [
    *(
        Case(f"{kind}_{name}", key, update(before, after), runs, [after], {"changed": before})
        for kind, key, before, after in (
            ("same_key", KEYED, NEW, PAID),
            ("key_change", KEYED, NEW, MOVED),
            ("keyless", KEYLESS, NEW, PAID),
            ("keyless_unchanged", KEYLESS, NEW, NEW),
        )
        for name, runs in SPLIT.items()
    ),
    Case(
        "a_half_that_waits",
        KEYED,
        update(NEW, PAID),
        [["created"], [FIRST_HALF], []],
        rows=[NEW],
        waiting_halves=1,
    ),
    Case(
        "a_half_without_its_before",
        KEYED,
        update(NEW, PAID),
        [["created"], [SECOND_HALF], []],
        rows=[PAID],
        befores={"changed": None},
    ),
    Case(
        "an_old_key_taken_again_before_its_half_lands",
        KEYED,
        {**update(NEW, MOVED), "taken": (INSERT, None, row(1, "next"))},
        [["created", SECOND_HALF], ["taken"], [FIRST_HALF]],
        rows=[row(1, "next"), MOVED],
        befores={"changed": NEW},
    ),
    Case(
        "deleted_under_its_new_key_before_the_half_lands",
        KEYED,
        {**update(NEW, MOVED), "deleted": (DELETE, MOVED, None)},
        [["created", SECOND_HALF], ["deleted"], [FIRST_HALF]],
        rows=[],
        befores={"changed": NEW},
    ),
    Case(
        "there_and_back",
        KEYED,
        {**update(NEW, MOVED), "back": (UPDATE, MOVED, PAID)},
        [["created", f"back, {AFTER}"], [SECOND_HALF, f"back, {BEFORE}"], [FIRST_HALF]],
        rows=[PAID],
        befores={"changed": NEW, "back": MOVED},
    ),
    Case(
        "equal_keyless_rows_of_which_one_changes",
        KEYLESS,
        {"equal": (INSERT, None, NEW), **update(NEW, PAID)},
        [["equal", SECOND_HALF], ["created"], [FIRST_HALF]],
        rows=[NEW, PAID],
        befores={"changed": NEW},
    ),
]

#: Formats that split updates -> their encoder, its options, and how their table ids begin.
FORMATS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "dataworks_json": (dataworks_json.encode, {"split_updates": True}, "halves."),
    "shareplex_json": (
        shareplex_json.encode,
        {"split_updates": True, "long_ops": True, "with_rowid": False},
        "halves.",
    ),
    "datahub_tuple": (datahub_tuple.encode, {}, ""),
}


def land(project: Project, run: int) -> None:
    for source_format in FORMATS:
        project.land(source_format, _deliveries(source_format)[run])


@pytest.fixture(params=FORMATS)
def source_format(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_table(stages: Stages, source_format: str, case: Case) -> None:
    rows = stages.last.state(source_format, _table_id(source_format, case))
    assert sorted(map(_plain, rows), key=_sorting) == sorted(map(_plain, case.rows), key=_sorting)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_update_is_one_event(stages: Stages, source_format: str, case: Case) -> None:
    events = stages.last.of_table(CHANGE_EVENTS, source_format, _table_id(source_format, case))
    updates = [event for event in events if event["op"] == "update"]
    found = [_plain(update["before"]) if "before" in update else None for update in updates]
    assert found == [before and _plain(before) for before in case.befores.values()]
    assert ["previous_row_key" in update for update in updates] == [
        before is not None and _moves(case, name) for name, before in case.befores.items()
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_ledger_counts_halves_that_wait(stages: Stages, source_format: str, case: Case) -> None:
    [entry] = [
        entry
        for entry in stages.last.rows[MESSAGE_LEDGER]
        if (entry["source_format"], entry["topic"]) == (source_format, _topic(case))
    ]
    assert {name: entry[name] for name in ("pending_update_before", "rejected", "landed")} == {
        "pending_update_before": case.waiting_halves,
        "rejected": 0,
        "landed": sum(map(len, case.runs)),
    }


def _moves(case: Case, name: str) -> bool:
    _, before, after = case.changes[name]
    return any(before[column] != after[column] for column in case.key or before)


def _deliveries(source_format: str) -> list[list[Landed]]:
    """Run -> messages; a message that comes again has an offset of its own."""
    runs: list[list[Landed]] = [[] for _ in range(RUNS)]
    for case in CASES:
        messages = _messages(source_format, case)
        offset = 0
        for run, names in enumerate(case.runs):
            for name in names:
                message = messages[name]
                runs[run].append(Landed(_topic(case), offset, message.value, message.key))
                offset += 1
    return runs


def _messages(source_format: str, case: Case) -> dict[str, Message]:
    """What a message contains -> the message."""
    encode, options, _ = FORMATS[source_format]
    table = Table(_table_name(source_format, case), COLUMNS, case.key, "halves")
    messages: dict[str, Message] = {}
    for number, (name, (kind, before, after)) in enumerate(case.changes.items(), start=1):
        place = Place(1_709_280_000_000_000_000 + number, 1_709_280_000_000 + number, str(number))
        encoded = encode(RowChange(kind, table, place, before, after), **options)
        names = [f"{name}, {BEFORE}", f"{name}, {AFTER}"] if kind == UPDATE else [name]
        messages |= dict(zip(names, encoded, strict=True))
    return messages


def _table_name(source_format: str, case: Case) -> str:
    return f"{source_format}_{case.name}"


def _table_id(source_format: str, case: Case) -> str:
    return FORMATS[source_format][2] + _table_name(source_format, case)


def _topic(case: Case) -> str:
    return f"halves.{case.name}"


def _plain(columns: Row) -> dict[str, Any]:
    return {name: str(value) for name, value in columns.items()}


def _sorting(columns: dict[str, Any]) -> Iterable[Any]:
    return sorted(columns.items())


#: A tuple topic and SharePlex don't name the key.
KEYS = {
    source_format: {_table_id(source_format, case): list(case.key) for case in CASES if case.key}
    for source_format in ("shareplex_json", "datahub_tuple")
}
