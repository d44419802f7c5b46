"""CDL JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from tests.python.formats.cdl import CDL_JSON, TX_ID, properties
from tests.python.formats.cdl import json_payload as payload
from tests.python.formats.connect import PLACEHOLDER, changed, enveloped, without
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    each_is_rejected,
    each_said,
    said,
)

Row = dict[str, Any]
Rows = list[Row]

ROW, OLD_ROW, LSN = CDL_JSON.row, CDL_JSON.old_row, CDL_JSON.lsn
PARSE = CDL_JSON.parse

INSERT = payload("INSERT", ROW)
UPDATE = payload("UPDATE", ROW, OLD_ROW)
DELETE = payload("DELETE", before=ROW)
HEARTBEAT = payload(None, TABLE_NAME=None, unique=None, transaction=None)


@said(enveloped(INSERT, **CDL_JSON.described))
def test_the_example_of_the_vendor(row: Row) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "cdl_json",
        "topic": "topic",
        "partition": 0,
        "offset": row["offset"],
        "row_index": 0,
        "source_type": "postgresql",
        "database_name": None,
        "schema_name": "public",
        "table_name": "ct_pg2hudi",
        "table_id": "public.ct_pg2hudi",
        "op": "insert",
        "source_op": "INSERT",
        "key_columns": ["id"],
        "row_key": '{"id":34}',
        "previous_row_key": None,
        "before": None,
        "after": ROW,
        "unavailable_columns": [],
        "column_types": {
            "count1": "int64",
            "id": "int32",
            "time1": "org.apache.kafka.connect.data.Timestamp",
            "decimalNum": "com.xxx.cdc.data.Decimal",
        },
        "lob_columns": None,
        "event_at": dt.datetime(2024, 2, 4, 11, 59, 56, 13000),
        "published_at": None,
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "57227595",
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


TEXT_LSN = payload("INSERT", ROW, lsn=str(LSN))


@said(
    TEXT_LSN,
    payload("INSERT", ROW, transaction=properties(other="x", txId="77", lsn=LSN)),
    payload("INSERT", ROW, transaction=properties(lsn=LSN)),
    payload("INSERT", ROW, transaction=properties(lsn=LSN, txId="")),
)
def test_the_lsn_may_be_text_and_stand_anywhere(rows: Rows) -> None:
    assert [row["sequence"]["position"] for row in rows] == [LSN] * 4
    assert [row["transaction_id"] for row in rows] == [str(TX_ID), "77", None, None]


@said(payload("UPDATE", {"id": 34, "note": PLACEHOLDER, "count1": 1}))
def test_a_placeholder_is_unavailable(row: Row) -> None:
    assert row["unavailable_columns"] == ["note"]
    assert row["after"] == {"id": 34, "count1": 1}


@said(payload("INSERT", ROW, TIMESTAMP=-1), without(INSERT, "TIMESTAMP"))
def test_an_unknown_time_is_null(rows: Rows) -> None:
    assert [(row["op"], row["event_at"]) for row in rows] == [("insert", None)] * 2


@said(payload("INSERT", ROW, SEG_OWNER=None, DATA_STORE=None))
def test_what_the_format_does_not_need_may_be_missing(row: Row) -> None:
    assert (row["source_type"], row["schema_name"], row["table_id"]) == (None, None, "ct_pg2hudi")


@said(INSERT, UPDATE, DELETE)
def test_a_message_without_a_schema_lists_them_where_it_inserts(rows: Rows) -> None:
    assert [row["lists_all_columns"] for row in rows] == [True, False, False]


@each_said(
    {
        "heartbeat": HEARTBEAT,
        "with little": {"message_version": "1.0", "HEARTBEAT_IDENTIFIER": "x"},
        "without a version": {"HEARTBEAT_IDENTIFIER": "x", "TIMESTAMP": 1707047996013},
        "without a table": payload("INSERT", TABLE_NAME=None),
        "enveloped": enveloped(HEARTBEAT),
    }
)
def test_the_identifier_makes_a_heartbeat_of_a_message_about_no_table(row: Row) -> None:
    assert (row["record_type"], row["reject_code"]) == ("heartbeat", None)
    assert row["event_id"] is None and row["op"] is None and row["row_key"] is None


@said(HEARTBEAT)
def test_a_heartbeat_keeps_what_it_knows(row: Row) -> None:
    assert (row["source_type"], row["schema_name"]) == ("postgresql", "public")
    assert row["event_at"] == dt.datetime(2024, 2, 4, 11, 59, 56, 13000)


#: name -> (reject code, message)
REJECTED = {
    "unknown version": ("wrong_format", payload("INSERT", ROW, message_version="1.1")),
    "other version of a heartbeat": ("wrong_format", changed(HEARTBEAT, message_version="2.0")),
    "image that is no row, no operation": ("missing_field", payload(None, "oops")),
    "image that is no row, no table": (
        "missing_field",
        payload("INSERT", "oops", TABLE_NAME=None),
    ),
    "no operation, no identifier": ("missing_field", payload(None, HEARTBEAT_IDENTIFIER=None)),
    "no lsn": ("missing_field", payload("INSERT", ROW, transaction=properties(txId=1))),
    "null lsn": ("missing_field", payload("INSERT", ROW, lsn=None)),
    "truncate": ("unknown_op", payload("TRUNCATE")),
    "time is a date": ("bad_timestamp", payload("INSERT", ROW, TIMESTAMP="2024-02-04")),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)
