"""DataHub BLOB: the StreamX envelope without its empty members (all else: DataWorks JSON)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from cdc_marts.formats import datahub_blob
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import (
    check_are_different_events,
    check_are_one_event,
    each_is_rejected,
    each_said_together,
    members,
    row_change,
    said,
    utc,
    without_ids,
)
from tests.python.formats.streamx import row_message, statement_message, without_nulls

Row = dict[str, Any]
Rows = list[Row]

PARSE = datahub_blob.parse
KEY = ["id", "name"]
TYPES = {"id": "LONG", "name": "STRING", "comment": "STRING"}
SOURCE = {"dbName": "yunshi_db", "dbType": "MySQL", "tableName": "t_shiyu_pk"}
JOE = {"name": "joe", "comment": "comment", "id": 1}
NEW_JOE = {**JOE, "comment": "com1"}
INSERTED = ("1605339516000000004", (1605339932000, 1605339932736))
UPDATED = ("1605339516000000005", (1605339934000, 1605339934951))
DELETED = ("1605339516000000006", (1605339937000, 1605339937671))


def vendor_times(times: tuple[int, int]) -> dict[str, int]:
    event_time, system_time = times
    return {"eventTime": event_time, "systemTime": system_time, "checkpointTime": event_time}


def blob(op: str, sequence_id: str, times: tuple[int, int], **images: Any) -> dict[str, Any]:
    """A row change as on the vendor's page."""
    return without_nulls(
        row_message(
            op,
            sequence_id=sequence_id,
            primary_key=KEY,
            columns=TYPES,
            source=SOURCE,
            times=vendor_times(times),
            **images,
        )
    )


def keyless(message: dict[str, Any]) -> dict[str, Any]:
    return without_nulls({**message, "schema": {**message["schema"], "primaryKey": None}})


INSERT = blob("INSERT", *INSERTED, after=JOE)
UPDATE_BEFORE = blob("UPDATE_BEFOR", *UPDATED, before=JOE)
UPDATE_AFTER = blob("UPDATE_AFTER", *UPDATED, after=NEW_JOE)
HALF_BEFORE = blob("UPDATE", *UPDATED, before=JOE)
HALF_AFTER = blob("UPDATE", *UPDATED, after=NEW_JOE)
AFTER_WITH_BOTH = blob("UPDATE_AFTER", *UPDATED, before=JOE, after=NEW_JOE)
PAIRING_ID = "datahub_blob:yunshi_db.t_shiyu_pk:1605339516000000005"


def vendor_event(position: str, times: tuple[int, int], **members_: Any) -> Row:
    """What every row change of the vendor's page has in common."""
    return row_change(
        "datahub_blob",
        position,
        {
            "source_type": "mysql",
            "database_name": "yunshi_db",
            "table_name": "t_shiyu_pk",
            "table_id": "yunshi_db.t_shiyu_pk",
            "key_columns": KEY,
            "row_key": '{"id":1,"name":"joe"}',
            "column_types": TYPES,
            "event_at": utc(times[0]),
            "published_at": utc(times[1]),
            "checkpoint_at": utc(times[0]),
        },
        **members_,
    )


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(event, id=name, marks=said(value))
        for name, value, event in [
            ("insert", INSERT, vendor_event(*INSERTED, op="insert", source_op="INSERT", after=JOE)),
            (
                "update before",
                UPDATE_BEFORE,
                vendor_event(
                    *UPDATED,
                    record_type="update_before",
                    source_op="UPDATE_BEFOR",
                    before=JOE,
                    pairing_id=PAIRING_ID,
                ),
            ),
            (
                "update after",
                UPDATE_AFTER,
                vendor_event(
                    *UPDATED,
                    op="update",
                    source_op="UPDATE_AFTER",
                    after=NEW_JOE,
                    pairing_id=PAIRING_ID,
                ),
            ),
            (
                "delete",
                blob("DELETE", *DELETED, before=NEW_JOE),
                vendor_event(*DELETED, op="delete", source_op="DELETE", before=NEW_JOE),
            ),
        ]
    ],
)
def test_a_row_change_of_the_vendors_page_is_read(row: Row, event: Row) -> None:
    assert without_ids(row) == event


@said(
    {
        "schema": {},
        "payload": {
            "op": "MHEARTBEAT",
            "timestamp": {"eventTime": 1605339953629, "checkpointTime": 1605339953629},
        },
        "version": "0.0.1",
    }
)
def test_the_heartbeat_of_the_vendors_page_tells_its_times(row: Row) -> None:
    times = members(row, "event_at", "published_at", "checkpoint_at")
    assert times == (utc(1605339953629), None, utc(1605339953629))
    assert members(row, "record_type", "source_op", "table_id", "event_id") == (
        "heartbeat",
        "MHEARTBEAT",
        None,
        None,
    )


@said(
    without_nulls(
        statement_message(
            "ALTER",
            "alter table t_shiyu_nopk add column holo text",
            sequence_id="1605339516000000035",
            source={**SOURCE, "tableName": "t_shiyu_nopk"},
            times=vendor_times((1605342109000, 1605342109259)),
        )
    )
)
def test_the_statement_of_the_vendors_page_keeps_its_text(row: Row) -> None:
    assert members(row, "record_type", "source_op", "table_id", "is_truncation") == (
        "ddl",
        "ALTER",
        "yunshi_db.t_shiyu_nopk",
        False,
    )
    assert row["ddl_text"] == "alter table t_shiyu_nopk add column holo text"
    assert row["ddl_meta"] == "rO0ABXNyACk="
    assert row["sequence"]["position"] == Decimal(1605339516000000035)
    assert row["event_at"] == utc(1605342109000)


@pytest.mark.parametrize(
    ("op", "meaning"),
    [
        pytest.param(
            op,
            meaning,
            id=op,
            marks=said(
                without_nulls(statement_message(op, f"{op} something"))
                if meaning[0] in ("ddl", "transaction", "heartbeat")
                else blob(op, *UPDATED, before=JOE, after=NEW_JOE)
            ),
        )
        for op, meaning in source_ops("datahub_blob").items()
    ],
)
def test_every_op_code_has_its_meaning(row: Row, op: str, meaning: tuple[Any, ...]) -> None:
    assert row["source_op"] == op
    assert members(row, "record_type", "op", "is_truncation") == meaning


#: name -> (reject code, message)
REJECTED = {
    "empty object": ("missing_field", {}),
    "no table": ("missing_field", {"schema": {}, "payload": INSERT["payload"]}),
    "a lacking key column": ("missing_field", blob("INSERT", *INSERTED, after={"id": 1})),
    "unknown op": ("unknown_op", blob("UPSERT", *INSERTED, after=JOE)),
    "no image": ("missing_image", blob("UPDATE", *UPDATED)),
    "an empty image": ("missing_image", blob("DELETE", *UPDATED, before={})),
    "bad sequence id": ("bad_sequence", blob("INSERT", "8a", INSERTED[1], after=JOE)),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)


@said(blob("UPDATE", *UPDATED, before=JOE, after=NEW_JOE), AFTER_WITH_BOTH)
def test_an_update_in_one_message_waits_for_no_other_half(rows: Rows) -> None:
    columns = ("op", "before", "after", "pairing_id")
    assert [members(row, *columns) for row in rows] == [("update", JOE, NEW_JOE, None)] * 2


@said(HALF_BEFORE, HALF_AFTER)
def test_an_update_of_one_image_is_a_half_that_waits_for_the_other(rows: Rows) -> None:
    columns = ("record_type", "op", "source_op", "before", "after", "pairing_id")
    assert [members(row, *columns) for row in rows] == [
        ("update_before", None, "UPDATE", JOE, None, PAIRING_ID),
        ("change", "update", "UPDATE", None, NEW_JOE, PAIRING_ID),
    ]


@said(blob("UPDATE_AFTER", *UPDATED, before={}, after=NEW_JOE))
def test_an_empty_image_before_does_not_make_a_half_whole(row: Row) -> None:
    assert members(row, "op", "before", "after", "pairing_id") == (
        "update",
        None,
        NEW_JOE,
        PAIRING_ID,
    )


@each_said_together(
    {
        "insert": (INSERT, blob("INSERT", int(INSERTED[0]), INSERTED[1], after=JOE)),
        "update before": (UPDATE_BEFORE, HALF_BEFORE),
        "update after": (UPDATE_AFTER, HALF_AFTER, AFTER_WITH_BOTH),
    }
)
def test_a_redelivery_has_the_event_id_of_the_first(rows: Rows) -> None:
    check_are_one_event(rows)


@said(UPDATE_BEFORE, UPDATE_AFTER)
def test_the_halves_of_an_update_have_two_event_ids(rows: Rows) -> None:
    check_are_different_events(rows)


@said(blob("INSERT", "-1", (-1, -1), after=JOE))
def test_a_row_of_the_full_load_is_a_snapshot(row: Row) -> None:
    assert members(row, "op", "after", "event_at") == ("snapshot", JOE, None)
    assert row["sequence"]["position"] == Decimal(-1)


@said(
    blob("INSERT", "8", INSERTED[1], after={"id": 2, "name": "x"}),
    blob("UPDATE_AFTER", "9", UPDATED[1], before={"id": 1, "name": "x"}, after=JOE),
)
def test_a_listed_column_that_is_left_out_is_null(rows: Rows) -> None:
    insert, update = rows
    assert members(insert, "after", "unavailable_columns") == (
        {"id": 2, "name": "x", "comment": None},
        [],
    )
    assert members(update, "before", "after", "unavailable_columns") == (
        {"id": 1, "name": "x", "comment": None},
        JOE,
        [],
    )


@said(
    keyless(blob("INSERT", "8", INSERTED[1], after={})),
    keyless(blob("UPDATE", "9", UPDATED[1], before=JOE, after={})),
)
def test_a_row_of_nulls_is_a_row(rows: Rows) -> None:
    insert, update = rows
    nulls = dict.fromkeys(TYPES)
    assert members(insert, "op", "after", "row_key") == (
        "insert",
        nulls,
        '{"comment":null,"id":null,"name":null}',
    )
    assert members(update, "op", "before", "after", "pairing_id") == ("update", JOE, nulls, None)
