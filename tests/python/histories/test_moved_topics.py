"""A job that is made anew writes to another topic, and delivers again what had landed before.

Of a message that came again, the first delivery counts.  So of a key change, which CDL's Debezium
JSON reports as a delete and an insert, the two may count in two topics.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import Marts, Row, Stages

pytestmark = pytest.mark.thorough

START = 1_709_280_000_000
PLACEHOLDER = "__debezium_unavailable_value"
FORMAT = "cdl_debezium_json"

Message = dict[str, Any]


def change(op: str, lsn: int, seat: str, **columns: str | None) -> Message:
    """A row that is inserted (`c`) or deleted (`d`); all at one `lsn` are of one transaction."""
    image = {"seat": seat, **columns}
    return {
        "before": image if op == "d" else None,
        "after": None if op == "d" else image,
        "source": {"connector": "postgresql", "lsn": lsn, "txId": lsn // 10, "snapshot": "false"},
        "op": op,
        "message_version": "2.0",
        "unique": {"seat": seat},
    }


@dataclass(frozen=True)
class Case:
    """`old`, `new`: what lands in the old topic before the first run, and in the new one later."""

    name: str
    old: list[Message]
    new: list[Message]
    rows: list[Row]


GUESTS = [
    change("c", 10, "1", guest="a", note="of a"),
    change("c", 11, "2", guest="b", note="of b"),
]
#: The two guests swap their seats; an image has no note, because it has not changed.
SWAP = [
    change("d", 20, "1", guest=None, note=None),
    change("c", 20, "2", guest="a", note=PLACEHOLDER),
    change("d", 21, "2", guest=None, note=None),
    change("c", 21, "1", guest="b", note=PLACEHOLDER),
]
SWAPPED: list[Row] = [
    {"seat": "1", "guest": "b", "note": "of b"},
    {"seat": "2", "guest": "a", "note": "of a"},
]
CASES = [
    Case("all_comes_again", GUESTS + SWAP, SWAP, SWAPPED),
    Case("cut_after_the_first_delete", GUESTS + SWAP[:1], SWAP, SWAPPED),
    Case("cut_between_the_key_changes", GUESTS + SWAP[:2], SWAP, SWAPPED),
    Case("cut_after_the_last_delete", GUESTS + SWAP[:3], SWAP, SWAPPED),
    Case("only_the_last_key_change_comes_again", GUESTS + SWAP[:3], SWAP[2:], SWAPPED),
    Case("only_the_last_insert_comes", GUESTS + SWAP[:3], SWAP[3:], SWAPPED),
    Case("the_old_topic_lacks_the_first_delete", GUESTS + SWAP[1:2], SWAP, SWAPPED),
]


def land(project: Project, run: int) -> None:
    if run > 1:
        return
    project.land(
        FORMAT,
        [
            Landed(f"{('old', 'new')[run]} {case.name}", offset, _value(message, case))
            for case in CASES
            for offset, message in enumerate((case.old, case.new)[run])
        ],
    )


def _value(message: Message, case: Case) -> bytes:
    lsn = message["source"]["lsn"]
    source = {**message["source"], "db": "moved", "schema": "public", "table": case.name}
    times = {"ts_ms": START + lsn}
    return json.dumps({**message, **times, "source": {**source, **times}}).encode()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_table(stages: Stages, case: Case) -> None:
    assert _rows(stages.last, case) == case.rows
    assert _rows(stages.rebuilt, case) == case.rows


def _rows(marts: Marts, case: Case) -> list[Row]:
    return marts.state(FORMAT, f"moved.public.{case.name}")
