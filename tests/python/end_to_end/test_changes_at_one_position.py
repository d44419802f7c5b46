"""CDL and Lindorm number no changes: several of a row may stand at one log position."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.long

CDL, DEBEZIUM, LINDORM = "cdl_json", "cdl_debezium_json", "lindorm_debezium"
MILLIS = 1_760_000_000_000


def cdl(operation: str, lsn: int, data: Any, before: Any = None, key: Any = None) -> Any:
    return {
        "TABLE_NAME": "t" if key is None else "keyless",
        "TIMESTAMP": MILLIS,
        "OPERATION": operation,
        "transaction": {"properties": [{"name": "lsn", "value": lsn}]},
        "unique": {"id": 1} if key is None else key,
        "data": data,
        "before": before,
        "message_version": "1.0",
    }


def debezium(op: str, lsn: int, after: Any, table: str = "t") -> Any:
    return {
        "before": None,
        "after": after,
        "source": {"table": table, "lsn": lsn, "ts_ms": MILLIS, "txId": lsn},
        "op": op,
        "message_version": "2.0",
        "unique": {"id": 1},
    }


def lindorm(op: str, table: str, after: Any, before: Any = None, millis: int = MILLIS) -> Any:
    source = {"table": table, "ts_ms": millis}
    return {"op": op, "before": before, "after": after, "source": source}


def row(v: int, **columns: Any) -> dict[str, Any]:
    return {"id": 1, "v": v, **columns}


#: format -> (record key, message) in the order of the offsets
MESSAGES: dict[str, list[tuple[str | None, Any]]] = {
    CDL: [
        (None, cdl("INSERT", 200, row(1))),
        (None, cdl("UPDATE", 300, row(2), row(1))),
        (None, cdl("UPDATE", 300, row(3), row(2))),
        # a restart sends the transaction again
        (None, cdl("UPDATE", 300, row(2), row(1))),
        (None, cdl("UPDATE", 300, row(3), row(2))),
        (None, cdl("INSERT", 400, {"page": "home"}, key={})),
        (None, cdl("INSERT", 400, {"page": "home"}, key={})),
    ],
    DEBEZIUM: [
        (None, debezium("c", 200, row(1))),
        (None, debezium("u", 300, row(2))),
        (None, debezium("u", 300, row(3))),
        # a transaction that loads a table anew, sent again after a restart
        (None, debezium("t", 400, None, "reloaded")),
        (None, debezium("c", 400, row(1), "reloaded")),
        (None, debezium("t", 400, None, "reloaded")),
        (None, debezium("c", 400, row(1), "reloaded")),
    ],
    LINDORM: [
        ('{"a":1,"b":2}', lindorm("c", "two_keys", {"a": 1, "b": 2, "v": 1})),
        ('{"b":2,"a":1}', lindorm("u", "two_keys", {"a": 1, "b": 2, "v": 2}, millis=MILLIS + 1)),
        ('{"rowkey":1}', lindorm("c", "other_names", {"id": 1, "v": 1})),
        ('{"id":1}', lindorm("c", "back", row(1))),
        ('{"id":1}', lindorm("u", "back", row(2), row(1))),
        ('{"id":1}', lindorm("u", "back", row(1), row(2))),
        ('{"id":1}', lindorm("u", "back", row(2), row(1))),
        ('{"id":1}', lindorm("c", "sparse", row(1, name="joe"))),
        ('{"id":2}', lindorm("c", "sparse", {"id": 2, "other": True})),
        ('{"id":1}', lindorm("u", "sparse", row(2), row(1, name="joe"), MILLIS + 1)),
        ('{"id":2}', lindorm("d", "sparse", {"id": 2}, {"id": 2, "other": True}, MILLIS + 1)),
    ],
}


@pytest.fixture(scope="module")
def built(project: Project) -> Project:
    for source_format, messages in MESSAGES.items():
        landed = [
            Landed("topic", offset, json.dumps(message).encode(), key and key.encode())
            for offset, (key, message) in enumerate(messages)
        ]
        project.land(source_format, landed)
    project.dbt("run", "--exclude", "models/marts/typed")
    return project


def rows_of(project: Project, source_format: str, table_id: str) -> list[dict[str, Any]]:
    state = project.latest_state(source_format, table_id)
    return sorted((row["row"] for row in state), key=str)


@pytest.mark.parametrize("source_format", [CDL, DEBEZIUM])
def test_the_last_change_at_a_log_position_wins(built: Project, source_format: str) -> None:
    assert rows_of(built, source_format, "t") == [row(3)]


def test_a_truncate_that_is_sent_again_ends_no_row_behind_it(built: Project) -> None:
    assert rows_of(built, DEBEZIUM, "reloaded") == [row(1)]


def test_a_transaction_that_is_sent_again_counts_once(built: Project) -> None:
    ledger = built.rows(
        f"select row_changes, redelivered from marts.message_ledger where source_format = '{CDL}'"
    )
    assert ledger == [{"row_changes": 4, "redelivered": 3}]


def test_the_order_of_names_in_a_record_key_makes_no_other_row(built: Project) -> None:
    assert rows_of(built, LINDORM, "two_keys") == [{"a": 1, "b": 2, "v": 2}]


def test_a_record_key_of_other_names_makes_the_table_keyless(built: Project) -> None:
    assert rows_of(built, LINDORM, "other_names") == [row(1)]
    [state] = built.latest_state(LINDORM, "other_names")
    assert json.loads(state["row_key"]) == row(1)


def test_a_lindorm_row_is_what_its_last_image_holds(built: Project) -> None:
    assert rows_of(built, LINDORM, "sparse") == [row(2), {"id": 2}]


def test_a_change_that_looks_like_a_redelivery_is_warned_of(built: Project) -> None:
    # what the messages do not show: the last change of `back`, the second equal row, and whether
    # `reloaded` was truncated twice
    assert rows_of(built, LINDORM, "back") == [row(1)]
    assert [row["row_count"] for row in built.latest_state(CDL, "keyless")] == [1]
    test = "redeliveries_are_certain_int_records_ref_int_exceptional_records_"
    tested = built.dbt("test", "--select", test)
    # runs of hooks are results too
    outcomes = [(r.status, r.failures) for r in tested.results if r.node.name.endswith("_")]
    assert outcomes == [("warn", 3)]
