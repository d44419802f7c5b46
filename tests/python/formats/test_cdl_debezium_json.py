"""Debezium JSON of CDL: what its messages come to in staging."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest

from cdc_marts.parsing.ops import source_ops
from tests.python.formats.cdl import BIG, CDL_DEBEZIUM_JSON
from tests.python.formats.cdl import debezium_payload as payload
from tests.python.formats.connect import PLACEHOLDER, changed, enveloped, without
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    check_are_different_events,
    check_are_one_event,
    each_is_rejected,
    each_said,
    said,
)

Row = dict[str, Any]
Rows = list[Row]

ROW, OLD_ROW, LSN = CDL_DEBEZIUM_JSON.row, CDL_DEBEZIUM_JSON.old_row, CDL_DEBEZIUM_JSON.lsn
EXAMPLE = {**ROW, "count1": 14}
KEY_ONLY = {"count1": None, "id": 35, "time1": None, "decimalNum": None}
PARSE = CDL_DEBEZIUM_JSON.parse


def captured(
    op: str, table: str, lsn: int, unique: Any, before: Any = None, after: Any = None
) -> dict[str, Any]:
    """A message that Debezium 3.5 wrote of PostgreSQL, as CDL passes it on, without schemas."""
    return {
        "before": before,
        "after": after,
        "source": {
            "version": "3.5.0.Final",
            "connector": "postgresql",
            "name": "pg",
            "ts_ms": 1795172069084,
            "snapshot": "first" if op == "r" else "false",
            "db": "shop",
            "sequence": f'[null,"{lsn}"]',
            "ts_us": 1795172069084849,
            "ts_ns": 1795172069084849000,
            "schema": "public",
            "table": table,
            "txId": 733,
            "lsn": lsn,
            "xmin": None,
            "origin": None,
            "origin_lsn": None,
        },
        "transaction": None,
        "op": op,
        "ts_ms": 1795172069272,
        "ts_us": 1795172069272092,
        "ts_ns": 1795172069272092461,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
        "unique": unique,
    }


INSERT = payload("c", ROW)
UPDATE = payload("u", ROW, OLD_ROW)
DELETE = payload("d", before=ROW)
NO_LSN = {"snapshot": "true", "lsn": None}


@said(enveloped(payload("c", EXAMPLE), **CDL_DEBEZIUM_JSON.described))
def test_the_example_of_the_vendor(row: Row) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "cdl_debezium_json",
        "topic": "topic",
        "partition": 0,
        "offset": row["offset"],
        "row_index": 0,
        "source_type": "postgresql",
        "database_name": "cdl",
        "schema_name": "public",
        "table_name": "ct_pg2hudi",
        "table_id": "cdl.public.ct_pg2hudi",
        "op": "insert",
        "source_op": "c",
        "key_columns": ["id"],
        "row_key": '{"id":35}',
        "previous_row_key": None,
        "before": None,
        "after": EXAMPLE,
        "unavailable_columns": [],
        "column_types": {
            "count1": "int64",
            "id": "int32",
            "time1": "com.xxx.cdc.data.timestamp",
            "decimalNum": "com.xxx.cdc.data.Decimal",
        },
        "lob_columns": None,
        "event_at": dt.datetime(2024, 2, 4, 12, 14, 51, 235000),
        "published_at": dt.datetime(2024, 2, 4, 12, 16, 24, 208000),
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "57227663",
        "sequence": {
            "position": Decimal(LSN),
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "offset": row["offset"],
            "row_index": 0,
        },
        "delivery_position": Decimal(LSN),
        "pairing_id": None,
        "ddl_text": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": True,
        "value": None,
    }
    assert event.items() <= row.items()
    assert len(row["event_id"]) == 32


@said(*(payload(op, ROW, ROW, unique={}) for op in source_ops("cdl_debezium_json")))
def test_every_operation_is_read(rows: Rows) -> None:
    read = {row["source_op"]: (row["record_type"], row["op"], row["is_truncation"]) for row in rows}
    assert read == source_ops("cdl_debezium_json")


DELETE_OF_NULLS = payload("d", before=KEY_ONLY)
NULL_UNIQUE = enveloped(payload("d", before=KEY_ONLY, unique=None), **CDL_DEBEZIUM_JSON.described)


@said(DELETE_OF_NULLS, NULL_UNIQUE)
def test_a_delete_may_have_nulls_in_all_but_the_key(rows: Rows) -> None:
    assert [(row["row_key"], row["before"]) for row in rows] == [('{"id":35}', KEY_ONLY)] * 2


TRUNCATE = payload("t", unique={})


@pytest.mark.parametrize(
    ("table_id", "lsn"),
    [
        pytest.param("cdl.public.ct_pg2hudi", LSN, marks=said(TRUNCATE)),
        pytest.param(
            "shop.public.scratch", 27010736, marks=said(captured("t", "scratch", 27010736, {}))
        ),
    ],
)
def test_a_truncate_ends_the_rows_of_its_table(row: Row, table_id: str, lsn: int) -> None:
    assert (row["record_type"], row["source_op"], row["is_truncation"]) == ("ddl", "t", True)
    assert (row["table_id"], row["sequence"]["position"]) == (table_id, lsn)
    assert row["op"] is None and row["row_key"] is None


@said(
    TRUNCATE,
    changed(TRUNCATE, ts_ms=1707048999999),
    payload("t", unique={}, source={"table": "t2"}),
)
def test_a_truncate_that_is_delivered_again_is_known_as_one(rows: Rows) -> None:
    one, again, other = (row["event_id"] for row in rows)
    assert None not in (one, other)
    assert one == again != other


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=f"{op}-{flag}", marks=said(payload(op, ROW, source={"snapshot": flag})))
        for op in "cr"
        for flag in (
            "true",
            "first",
            "last",
            "first_in_data_collection",
            "last_in_data_collection",
            "incremental",
        )
    ],
)
def test_a_row_with_a_snapshot_flag_is_a_snapshot(row: Row, op: str) -> None:
    assert (row["op"], row["source_op"]) == ("snapshot", op)


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=name, marks=said(value))
        for name, value, op in [
            ("snapshot without a flag", payload("r", ROW, source={"snapshot": None}), "snapshot"),
            ("insert with a boolean", payload("c", ROW, source={"snapshot": True}), "snapshot"),
            ("insert with another flag", payload("c", ROW, source={"snapshot": "no"}), "insert"),
            ("insert without a flag", without(INSERT, "source__snapshot"), "insert"),
            ("update", payload("u", ROW, source={"snapshot": "incremental"}), "update"),
        ]
    ],
)
def test_other_flags_leave_the_operation(row: Row, op: str) -> None:
    assert row["op"] == op


SNAPSHOT = payload("r", ROW, source={"snapshot": "true"})
SNAPSHOT_WITHOUT_LSN = payload("r", ROW, source=NO_LSN)


@said(SNAPSHOT_WITHOUT_LSN, SNAPSHOT)
def test_a_snapshot_without_an_lsn_sorts_before_everything(rows: Rows) -> None:
    assert [(row["op"], row["sequence"]["position"]) for row in rows] == [
        ("snapshot", None),
        ("snapshot", LSN),
    ]


def update_of(value: Any) -> dict[str, Any]:
    return payload("u", {"id": 35, "a": None, "b": BIG, "c": value})


PLACEHOLDER_BYTES = PLACEHOLDER.encode()
PLACEHOLDER_UUID = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"
PLACEHOLDERS = {
    "text": PLACEHOLDER,
    "bytes as base64": base64.b64encode(PLACEHOLDER_BYTES).decode(),
    "bytes as hex": PLACEHOLDER_BYTES.hex(),
    "an array of text": [PLACEHOLDER],
    "an array of bytes": [base64.b64encode(PLACEHOLDER_BYTES).decode()],
    "an array of integers": list(PLACEHOLDER_BYTES),
    "an array of uuid": [PLACEHOLDER_UUID],
    "a map": {PLACEHOLDER: PLACEHOLDER},
    "a map as JSON": json.dumps({PLACEHOLDER: PLACEHOLDER}, separators=(",", ":")),
}


@each_said(
    {
        **{kind: update_of(value) for kind, value in PLACEHOLDERS.items()},
        "compact integers": json.dumps(update_of(list(PLACEHOLDER_BYTES)), separators=(",", ":")),
        "spaced integers": json.dumps(update_of(list(PLACEHOLDER_BYTES))).replace("[95", "[ 95"),
    }
)
def test_a_placeholder_is_unavailable_and_not_in_the_image(row: Row) -> None:
    assert row["unavailable_columns"] == ["c"]
    assert row["after"] == {"id": 35, "a": None, "b": BIG}


NO_PLACEHOLDERS = [
    f"{PLACEHOLDER}!",
    PLACEHOLDER.upper(),
    f'{{"a":"{PLACEHOLDER}"}}',
    [PLACEHOLDER, "a"],
    {"a": PLACEHOLDER},
    [*PLACEHOLDER_BYTES, 1],
]


@said(payload("u", {"id": 35, **{f"v{i}": value for i, value in enumerate(NO_PLACEHOLDERS)}}))
def test_what_only_resembles_a_placeholder_is_a_value(row: Row) -> None:
    assert row["unavailable_columns"] == []
    assert [row["after"][f"v{i}"] for i in range(len(NO_PLACEHOLDERS))] == NO_PLACEHOLDERS


@said(payload("u", {"id": 35, "a": 1}, {"id": 35, "a": PLACEHOLDER}))
def test_a_placeholder_in_the_image_before_of_an_update_is_left_out(row: Row) -> None:
    assert (row["before"], row["after"]) == ({"id": 35}, {"id": 35, "a": 1})
    assert row["unavailable_columns"] == []


@said(payload("d", before={"id": 35, "a": PLACEHOLDER}))
def test_a_placeholder_in_a_delete_is_unavailable(row: Row) -> None:
    assert (row["before"], row["unavailable_columns"]) == ({"id": 35}, ["a"])


LITTLE = {
    "op": "c",
    "after": ROW,
    "source": {"table": "t", "lsn": "7"},
    "message_version": "2.0",
}


@each_said(
    {
        "unknown times": payload("c", ROW, source={"ts_ms": -1}, ts_ms=-1),
        "no times": without(without(INSERT, "ts_ms"), "source__ts_ms"),
        "little": LITTLE,
    }
)
def test_an_unknown_time_is_null(row: Row) -> None:
    assert row["record_type"] == "change"
    assert row["event_at"] is None and row["published_at"] is None


@said(LITTLE, payload("c", ROW, source={"txId": None}))
def test_what_the_format_does_not_need_may_be_missing(rows: Rows) -> None:
    little, without_transaction = rows
    assert (little["table_id"], little["key_columns"], little["source_type"]) == ("t", [], None)
    assert little["transaction_id"] is None
    assert little["sequence"]["position"] == 7
    assert (without_transaction["op"], without_transaction["transaction_id"]) == ("insert", None)


HEARTBEAT = payload(None, source={"table": None}, unique=None, HEARTBEAT_IDENTIFIER="279fb050")


@said(HEARTBEAT, {"HEARTBEAT_IDENTIFIER": "x", "ts_ms": 1707048984208})
def test_a_heartbeat_has_the_time_of_its_writing(rows: Rows) -> None:
    written_at = dt.datetime(2024, 2, 4, 12, 16, 24, 208000)
    assert [row["published_at"] for row in rows] == [written_at] * 2


@said(payload("c", ROW, HEARTBEAT_IDENTIFIER="279fb050"))
def test_a_row_is_no_heartbeat_for_its_identifier(row: Row) -> None:
    assert row["record_type"] == "change"


@said(SNAPSHOT_WITHOUT_LSN, payload("r", ROW, source=NO_LSN, ts_ms=1707048999999))
def test_a_redelivered_row_of_a_snapshot_has_the_same_identity(rows: Rows) -> None:
    check_are_one_event(rows)
    assert {row["op"] for row in rows} == {"snapshot"}


TO_ANOTHER_IMAGE = payload("u", {**ROW, "count1": 15})
TO_A_THIRD_IMAGE = payload("u", {**ROW, "count1": 16})
OLD_KEY = captured("d", "docs", 26563000, {"id": 7}, before={"id": 7, "title": None, "body": None})
NEW_KEY = captured(
    "c", "docs", 26563000, {"id": 8}, after={"id": 8, "title": "t", "body": PLACEHOLDER}
)


@said(
    INSERT,
    UPDATE,
    DELETE,
    TO_ANOTHER_IMAGE,
    TO_A_THIRD_IMAGE,
    SNAPSHOT,
    SNAPSHOT_WITHOUT_LSN,
    payload("r", ROW, source={**NO_LSN, "ts_ms": 1707048899999}),
    OLD_KEY,
    NEW_KEY,
)
def test_rows_of_snapshots_and_changed_keys_have_identities_of_their_own(rows: Rows) -> None:
    check_are_different_events(rows)
    assert len(rows) == 10


@said(*[payload("r", ROW, unique={}, source={"table": "keyless", "snapshot": "true"})] * 2)
def test_equal_rows_of_a_keyless_snapshot_are_two_events(rows: Rows) -> None:
    one, other = rows
    assert one["row_key"] == other["row_key"]
    assert one["event_id"] != other["event_id"]


@said(OLD_KEY, NEW_KEY)
def test_a_captured_key_change_is_a_delete_and_an_insert_at_one_lsn(rows: Rows) -> None:
    old, new = rows
    assert (old["op"], old["row_key"]) == ("delete", '{"id":7}')
    assert (new["op"], new["row_key"]) == ("insert", '{"id":8}')
    assert (new["after"], new["unavailable_columns"]) == ({"id": 8, "title": "t"}, ["body"])
    assert old["transaction_id"] == new["transaction_id"] == "733"
    assert old["sequence"]["position"] == new["sequence"]["position"] == 26563000
    assert old["sequence"]["partition"] == new["sequence"]["partition"]
    assert new["sequence"]["offset"] == old["sequence"]["offset"] + 1


@said(TO_ANOTHER_IMAGE, TO_A_THIRD_IMAGE)
def test_two_changes_of_a_row_at_one_lsn_are_two_events(rows: Rows) -> None:
    one, other = rows
    assert (one["row_key"], one["op"]) == (other["row_key"], other["op"])
    assert one["sequence"]["position"] == other["sequence"]["position"]
    assert one["event_id"] != other["event_id"]


@said(INSERT, SNAPSHOT, NEW_KEY, UPDATE, DELETE, DELETE_OF_NULLS)
def test_a_message_without_a_schema_lists_them_where_its_row_is_whole(rows: Rows) -> None:
    assert [row["lists_all_columns"] for row in rows] == [True] * 3 + [False] * 3


WIDE = {
    "id": 96,
    "bi": 9223372036854775807,
    "r": "NaN",
    "d": "-Infinity",
    "n": {"scale": 0, "value": "ZA=="},
    "n0": "tMSzV6V5O4X2dd3AAAAAAQ==",
    "ta": ["a,b", None, "中"],
    "tz": "infinity",
    "ch": "中文      ",
}


@said(captured("r", "wide", 26554216, {"id": 96}, after=WIDE))
def test_captured_values_stay_as_they_are(row: Row) -> None:
    assert (row["op"], row["after"]) == ("snapshot", WIDE)
    assert row["database_name"] == "shop"


EVENT = {"k": 40, "who": "Cyd", "msg": "NULL", "at": 703098611000}


@said(
    captured("c", "events_nopk", 26561000, {}, after=EVENT),
    captured("d", "events_nopk", 26562000, {}, before=EVENT),
)
def test_captured_rows_of_a_keyless_table_have_the_same_key(rows: Rows) -> None:
    insert, delete = rows
    assert insert["key_columns"] == delete["key_columns"] == []
    assert insert["row_key"] == delete["row_key"]
    assert json.loads(insert["row_key"]) == EVENT


#: name -> (reject code, message)
REJECTED = {
    "truncate of no table": ("missing_field", payload("t", source={"table": ""})),
    "no lsn": ("missing_field", without(INSERT, "source__lsn")),
    "truncate without an lsn": ("missing_field", payload("t", source={"lsn": None})),
    "update in a snapshot without an lsn": ("missing_field", payload("u", ROW, source=NO_LSN)),
    "long op": ("unknown_op", payload("INSERT", ROW)),
    "logical message": ("unknown_op", payload("m")),
    "time in seconds": ("bad_timestamp", payload("c", ROW, source={"ts_ms": 1707048891})),
    "snapshot with an empty image": ("missing_image", payload("r", {})),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)
