"""DataWorks JSON: what its Kafka messages come to in staging."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import dataworks_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
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
from tests.python.formats.streamx import SOURCE, TIMES, row_message, statement_message

Row = dict[str, Any]
Rows = list[Row]

ROW_ID = "#alibaba_rds_row_id#"
BIG = 9223372036854775807

PARSE = partial(
    dataworks_json.parse,
    key_settings={"shop.logs": ["day", "line"], "shop.orders": ["name"], "shop.hidden": ["id"]},
)


def vendor_message(op: str, sequence_id: str, times: tuple[int, int], **images: Any) -> Any:
    """A message of the vendor's page: a MySQL table without a key."""
    event_time, system_time = times
    return row_message(
        op,
        sequence_id=sequence_id,
        columns={"name": "STRING", "job": "STRING", "sex": "STRING", ROW_ID: "LONG"},
        primary_key=None,
        source={"dbType": "MySQL", "dbName": "pkset_test", "tableName": "pkset_test_no_pk"},
        times={
            "eventTime": event_time,
            "systemTime": system_time,
            "checkpointTime": event_time,
        },
        **images,
    )


def vendor_row(sex: str) -> dict[str, Any]:
    return {"name": "name11", "job": "job11", "sex": sex, ROW_ID: 15}


MAN, WOMAN = vendor_row("man"), vendor_row("woman")
INSERTED = ("1620457642589000000", (1620457896000, 1620457896977))
UPDATED = ("1620457642589000001", (1620458077000, 1620458077779))
DELETED = ("1620457642589000002", (1620458266000, 1620458266101))
VENDOR_HEARTBEAT = {
    "schema": {"dataColumn": None, "primaryKey": None, "source": None},
    "payload": {
        "before": None,
        "after": None,
        "sequenceId": None,
        "timestamp": {"eventTime": 1620457659000, "checkpointTime": 1620457659000},
        "op": "MHEARTBEAT",
        "ddl": None,
    },
    "version": "0.0.1",
}

A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}


def with_member(message: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The message with another value at a path such as `payload.op`."""
    changed = json.loads(json.dumps(message))
    *parents, last = path.split(".")
    member = changed
    for parent in parents:
        member = member[parent]
    member[last] = value
    return changed


INSERT = row_message("INSERT", after=A)
UPDATE = row_message("UPDATE_AFTER", before=A, after=B)
UPDATE_BEFORE = row_message("UPDATE_BEFOR", before=A)
UPDATE_AFTER = row_message("UPDATE_AFTER", after=B)
DELETE = row_message("DELETE", before=A)
SNAPSHOT = row_message(
    "INSERT",
    after=A,
    sequence_id="-1",
    times={"eventTime": -1, "systemTime": -1, "checkpointTime": -1},
)
TRUNCATE = statement_message("TRUNCATE", "TRUNCATE TABLE orders")
ALTER = statement_message("ALTER", "ALTER TABLE orders ADD note text")
PAIRING_ID = "dataworks_json:shop.orders:1620457642589000001"


def of_table(name: str) -> dict[str, Any]:
    return {**SOURCE, "tableName": name}


def vendor_event(position: str, times: tuple[int, int], **members_: Any) -> Row:
    """What every row change of the vendor's page has in common."""
    return row_change(
        "dataworks_json",
        position,
        {
            "source_type": "mysql",
            "database_name": "pkset_test",
            "table_name": "pkset_test_no_pk",
            "table_id": "pkset_test.pkset_test_no_pk",
            "key_columns": [ROW_ID],
            "row_key": f'{{"{ROW_ID}":15}}',
            "column_types": {"name": "STRING", "job": "STRING", "sex": "STRING", ROW_ID: "LONG"},
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
            (
                "insert",
                vendor_message("INSERT", *INSERTED, after=MAN),
                vendor_event(*INSERTED, op="insert", source_op="INSERT", after=MAN),
            ),
            (
                "update before",
                vendor_message("UPDATE_BEFOR", *UPDATED, before=MAN),
                vendor_event(
                    *UPDATED,
                    record_type="update_before",
                    op=None,
                    source_op="UPDATE_BEFOR",
                    before=MAN,
                    pairing_id="dataworks_json:pkset_test.pkset_test_no_pk:1620457642589000001",
                ),
            ),
            (
                "update after",
                vendor_message("UPDATE_AFTER", *UPDATED, after=WOMAN),
                vendor_event(
                    *UPDATED,
                    op="update",
                    source_op="UPDATE_AFTER",
                    after=WOMAN,
                    pairing_id="dataworks_json:pkset_test.pkset_test_no_pk:1620457642589000001",
                ),
            ),
            (
                "update",
                vendor_message("UPDATE_AFTER", *UPDATED, before=MAN, after=WOMAN),
                vendor_event(
                    *UPDATED, op="update", source_op="UPDATE_AFTER", before=MAN, after=WOMAN
                ),
            ),
            (
                "delete",
                vendor_message("DELETE", *DELETED, before=WOMAN),
                vendor_event(*DELETED, op="delete", source_op="DELETE", before=WOMAN),
            ),
        ]
    ],
)
def test_a_message_of_the_vendors_page_is_read(row: Row, event: Row) -> None:
    assert without_ids(row) == event


@said(VENDOR_HEARTBEAT)
def test_the_heartbeat_of_the_vendors_page_tells_its_times(row: Row) -> None:
    known = {name: member for name, member in row.items() if member is not None}
    assert known == {
        "record_type": "heartbeat",
        "source_format": "dataworks_json",
        "topic": "topic",
        "partition": 0,
        "offset": row["offset"],
        "row_index": 0,
        "source_op": "MHEARTBEAT",
        "event_at": utc(1620457659000),
        "checkpoint_at": utc(1620457659000),
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "sequence": {
            "position": None,
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "offset": row["offset"],
            "row_index": 0,
        },
        "is_truncation": False,
    }


@said(
    with_member(
        statement_message("MHEARTBEAT", sequence_id=None),
        "schema",
        {"dataColumn": [], "primaryKey": [], "source": {}},
    )
)
def test_a_heartbeat_may_have_empty_schema_members(row: Row) -> None:
    assert members(row, "record_type", "table_id") == ("heartbeat", None)


@pytest.mark.parametrize(
    ("op", "meaning"),
    [
        pytest.param(
            op,
            meaning,
            id=op,
            marks=said(
                statement_message(op, f"{op} something")
                if meaning[0] in ("ddl", "transaction", "heartbeat")
                else row_message(op, before=A, after=B)
            ),
        )
        for op, meaning in source_ops("dataworks_json").items()
    ],
)
def test_every_op_code_has_its_meaning(row: Row, op: str, meaning: tuple[Any, ...]) -> None:
    assert row["source_op"] == op
    assert members(row, "record_type", "op", "is_truncation") == meaning


#: name -> (reject code, message)
REJECTED = {
    "a schema that is text": ("malformed_json", {**INSERT, "schema": "none"}),
    "nothing": ("missing_field", {}),
    "no op": ("missing_field", row_message(None, after=A)),
    "an op in lower case": ("unknown_op", row_message("insert", after=A)),
    "an op of another format": ("unknown_op", row_message("c", after=A)),
    "no schema": ("missing_field", {"payload": INSERT["payload"]}),
    "no table": ("missing_field", with_member(INSERT, "schema.source.tableName", None)),
    "an empty table": ("missing_field", with_member(INSERT, "schema.source.tableName", "")),
    "no sequence id": ("missing_field", row_message("INSERT", after=A, sequence_id=None)),
    "a truncate at no position": ("missing_field", statement_message("TRUNCATE", sequence_id=None)),
    "a dropped column at no position": (
        "missing_field",
        statement_message("ALTER", "alter table orders drop column note", sequence_id=None),
    ),
    "a truncate of no table": ("missing_field", statement_message("TRUNCATE", source=None)),
    "a query that truncates at no position": (
        "missing_field",
        statement_message("QUERY", "truncate orders", sequence_id=None),
    ),
    "a lacking key column": ("missing_field", row_message("INSERT", after={"name": "a"})),
    "a lacking key column before": (
        "missing_field",
        row_message("UPDATE_AFTER", before={"name": "a"}, after=B),
    ),
    "a lacking key column in a half": (
        "missing_field",
        row_message("UPDATE_BEFOR", before={"name": "a"}),
    ),
    "a lacking row id": (
        "missing_field",
        row_message(
            "INSERT",
            after=A,
            primary_key=None,
            columns={ROW_ID: "LONG"},
            source=of_table("keyless"),
        ),
    ),
    "a sequence id of letters": ("bad_sequence", row_message("INSERT", after=A, sequence_id="x1")),
    "a negative sequence id": ("bad_sequence", row_message("INSERT", after=A, sequence_id="-2")),
    "a fractional sequence id": ("bad_sequence", row_message("INSERT", after=A, sequence_id=1.5)),
    "39 digits": ("bad_sequence", row_message("INSERT", after=A, sequence_id="1" * 39)),
    "a truncate with the sequence id of a full load": (
        "bad_sequence",
        statement_message("TRUNCATE", "truncate table orders", sequence_id="-1"),
    ),
    "a dropped column with the sequence id of a full load": (
        "bad_sequence",
        statement_message("ALTER", "alter table orders drop column a", sequence_id="-1"),
    ),
    **{
        f"a bad {time}": (
            "bad_timestamp",
            row_message("INSERT", after=A, times={**TIMES, time: "2021-05-08"}),
        )
        for time in TIMES
    },
    "a time out of range": (
        "bad_timestamp",
        row_message("INSERT", after=A, times={**TIMES, "eventTime": 10**18}),
    ),
    "a time in seconds": (
        "bad_timestamp",
        row_message("INSERT", after=A, times={**TIMES, "eventTime": 1620458077}),
    ),
    "a time of 0": (
        "bad_timestamp",
        row_message("INSERT", after=A, times={**TIMES, "systemTime": 0}),
    ),
    "a heartbeat with a bad time": (
        "bad_timestamp",
        with_member(VENDOR_HEARTBEAT, "payload.timestamp.eventTime", "now"),
    ),
    "an insert without after": ("missing_image", row_message("INSERT", before=A)),
    "an insert of no columns": ("missing_image", row_message("INSERT", after={})),
    "an insert of null columns": (
        "missing_image",
        with_member(INSERT, "payload.after.dataColumn", None),
    ),
    "an image that is a list": ("missing_image", row_message("INSERT", after=[1, 2])),
    "an image before that is a list": (
        "missing_image",
        row_message("UPDATE_AFTER", before=[1], after=B),
    ),
    "an image before that is a text": ("missing_image", row_message("INSERT", before="A", after=A)),
    "an image after that is a number": ("missing_image", row_message("DELETE", before=A, after=1)),
    "an update of no images": ("missing_image", row_message("UPDATE")),
    "a statement that is no object": ("malformed_json", row_message("INSERT", after=A, ddl=["x"])),
    "null members": ("missing_field", {"schema": None, "payload": None}),
    "a heartbeat without op": (
        "missing_field",
        with_member(statement_message("MHEARTBEAT"), "payload.op", None),
    ),
    "an update without after": ("missing_image", row_message("UPDATE_AFTER", before=A)),
    "a half without before": ("missing_image", row_message("UPDATE_BEFOR", after=A)),
    "a delete without before": ("missing_image", row_message("DELETE", after=A)),
    "a delete in the full load": (
        "missing_image",
        row_message("DELETE", before=A, sequence_id="-1"),
    ),
    "a half in the full load": (
        "missing_image",
        row_message("UPDATE_BEFOR", before=A, sequence_id="-1"),
    ),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)


@said(UPDATE, row_message("UPDATE", before=A, after=B))
def test_one_update_message_with_both_images_waits_for_no_other_half(rows: Rows) -> None:
    columns = ("op", "before", "after", "pairing_id")
    assert [members(row, *columns) for row in rows] == [("update", A, B, None)] * 2


@said(row_message("UPDATE", after=B), row_message("UPDATE", before=A))
def test_a_plain_update_of_one_image_is_a_half(rows: Rows) -> None:
    columns = ("record_type", "op", "before", "after", "pairing_id")
    assert [members(row, *columns) for row in rows] == [
        ("change", "update", None, B, PAIRING_ID),
        ("update_before", None, A, None, PAIRING_ID),
    ]


@said(
    row_message(
        "UPDATE_AFTER",
        before={**A, "body": "TOAST"},
        after=B,
        columns={"id": "LONG", "name": "STRING", "body": "STRING"},
    )
)
def test_the_row_before_is_read_whole(row: Row) -> None:
    assert members(row, "before", "after", "unavailable_columns") == (
        {**A, "body": "TOAST"},
        B,
        ["body"],
    )


@said(
    INSERT,
    row_message("INSERT", after=A, primary_key=["id", "id"]),
    row_message("INSERT", after=A, primary_key=["name", "id", "name"]),
    row_message("INSERT", after=A, primary_key=[None, "id"]),
)
def test_a_key_column_counts_once(rows: Rows) -> None:
    insert, twice, two, with_null = rows
    key = members(twice, "key_columns", "row_key", "event_id")
    assert key == (["id"], '{"id":1}', insert["event_id"])
    assert members(two, "key_columns", "row_key") == (["name", "id"], '{"name":"a","id":1}')
    assert with_null["key_columns"] == ["id"]


@said(row_message("UPDATE_AFTER", before=A, after={**B, "id": "1"}))
def test_a_whole_number_makes_one_key_as_text_and_as_number(row: Row) -> None:
    assert members(row, "row_key", "previous_row_key", "after") == (
        '{"id":1}',
        None,
        {**B, "id": "1"},
    )


@pytest.mark.parametrize(
    "row_key",
    [
        pytest.param(row_key, id=name, marks=said(value))
        for name, value, row_key in [
            (
                "whole number without a key",
                row_message(
                    "DELETE", before={**A, "id": "1"}, primary_key=[], source=of_table("keyless")
                ),
                '{"id":1,"name":"a"}',
            ),
            (
                "whole number of 38 digits",
                row_message("INSERT", after={"id": "9" * 38}),
                f'{{"id":{"9" * 38}}}',
            ),
            ("no whole number", row_message("INSERT", after={"id": "1.5"}), '{"id":"1.5"}'),
            (
                "text of digits",
                row_message("INSERT", after={**A, "name": "1"}, primary_key=["name"]),
                '{"name":"1"}',
            ),
            (
                "several",
                row_message(
                    "INSERT",
                    after={"c": "03", "b": "2", "a": None, "d": 4},
                    primary_key=["c", "b", "a", "d"],
                    columns={"a": "LONG", "b": "STRING", "c": "LONG", "d": "LONG"},
                ),
                '{"c":3,"b":"2","a":null,"d":4}',
            ),
        ]
    ],
)
def test_a_text_is_a_number_in_a_key_where_its_column_has_whole_numbers(
    row: Row, row_key: str
) -> None:
    assert row["row_key"] == row_key


@said(row_message("INSERT", after=A, ddl=""))
def test_an_empty_statement_is_none(row: Row) -> None:
    assert members(row, "record_type", "after", "ddl_text") == ("change", A, None)


@said(statement_message("MHEARTBEAT"))
def test_a_heartbeat_may_name_a_table(row: Row) -> None:
    assert members(row, "record_type", "table_id") == ("heartbeat", "shop.orders")


@said(UPDATE_BEFORE, UPDATE_AFTER)
def test_the_halves_of_an_update_share_their_pairing_id_only(rows: Rows) -> None:
    before, after = rows
    assert members(before, "record_type", "op", "before", "after") == (
        "update_before",
        None,
        A,
        None,
    )
    assert members(after, "record_type", "op", "before", "after") == ("change", "update", None, B)
    assert before["pairing_id"] == after["pairing_id"] == PAIRING_ID
    assert before["event_id"] != after["event_id"]
    for half in (before, after):
        assert members(half, "row_key", "key_columns") == ('{"id":1}', ["id"])
        assert half["sequence"]["position"] == Decimal(1620457642589000001)


@said(
    row_message("UPDATE_BEFOR", before=A, after=B),
    row_message("UPDATE_AFTER", before={}, after=B),
    row_message("UPDATE_BEFORE", before=A, sequence_id="5"),
)
def test_a_half_takes_only_its_own_image(rows: Rows) -> None:
    before, after, spelled_out = rows
    assert members(before, "record_type", "before", "after") == ("update_before", A, None)
    assert members(after, "before", "after", "pairing_id") == (None, B, PAIRING_ID)
    assert spelled_out["pairing_id"] == "dataworks_json:shop.orders:5"


KEY_CHANGE = row_message("UPDATE_AFTER", before=A, after={"id": 2, "name": "a"})


@said(KEY_CHANGE, UPDATE)
def test_an_update_that_changes_the_key_keeps_the_old_one(rows: Rows) -> None:
    assert [members(row, "row_key", "previous_row_key") for row in rows] == [
        ('{"id":2}', '{"id":1}'),
        ('{"id":1}', None),
    ]


@said(DELETE, row_message("DELETE", before=A, after=B))
def test_a_delete_takes_its_row_from_before(rows: Rows) -> None:
    assert [members(row, "op", "before", "after") for row in rows] == [("delete", A, None)] * 2


@said(SNAPSHOT, row_message("UPDATE_AFTER", before=A, after=B, sequence_id="-1"))
def test_a_row_of_the_full_load_is_a_snapshot_before_everything(rows: Rows) -> None:
    snapshot, by_update = rows
    assert members(snapshot, "op", "source_op", "before", "after") == (
        "snapshot",
        "INSERT",
        None,
        A,
    )
    assert snapshot["sequence"]["position"] == Decimal(-1)
    assert members(snapshot, "event_at", "published_at", "checkpoint_at") == (None,) * 3
    assert members(by_update, "op", "before", "after", "pairing_id") == ("snapshot", None, B, None)


@each_said_together(
    {
        # With and without the image before: the key after the change is enough.
        "update after": (UPDATE, UPDATE_AFTER),
        "snapshot": (SNAPSHOT, row_message("INSERT", after=A, sequence_id=-1)),
    }
)
def test_a_redelivery_has_the_event_id_of_the_first(rows: Rows) -> None:
    check_are_one_event(rows)


KEYLESS_SNAPSHOT = row_message(
    "INSERT", after=A, sequence_id="-1", primary_key=None, source=of_table("keyless")
)
KEYLESS_INSERT = row_message(
    "INSERT",
    after={"b": 1, "a": None},
    primary_key=[],
    columns={"b": "LONG", "a": "LONG"},
    source=of_table("keyless"),
)


@said(
    INSERT,
    row_message("INSERT", after=A, sequence_id="1620457642589000009"),
    row_message("INSERT", after=A, source=of_table("items")),
    UPDATE,
    UPDATE_BEFORE,
    KEY_CHANGE,
    DELETE,
    SNAPSHOT,
    row_message("INSERT", after={**A, "id": 2}, sequence_id="-1"),
    row_message("INSERT", after=B, sequence_id="-1"),
    KEYLESS_SNAPSHOT,
    KEYLESS_SNAPSHOT,
    KEYLESS_INSERT,
)
def test_different_events_have_different_event_ids(rows: Rows) -> None:
    check_are_different_events(rows)
    assert len(rows) == 13


@said(KEYLESS_INSERT)
def test_a_table_without_any_key_is_keyless(row: Row) -> None:
    assert members(row, "key_columns", "row_key") == ([], '{"a":null,"b":1}')


@said(
    INSERT,
    row_message(
        "INSERT",
        after={"line": 2, "day": "mon"},
        primary_key=None,
        columns={},
        source=of_table("logs"),
    ),
    row_message("INSERT", after={**A, ROW_ID: 3}, primary_key=None, source=of_table("hidden")),
)
def test_the_projects_key_stands_in_for_a_published_one(rows: Rows) -> None:
    published, of_project, beside_row_id = rows
    assert published["key_columns"] == ["id"]
    assert members(of_project, "key_columns", "row_key") == (
        ["day", "line"],
        '{"day":"mon","line":2}',
    )
    assert beside_row_id["key_columns"] == ["id"]


@said(
    row_message(
        "INSERT",
        after={"name": "a", "__#alibaba_rds_row_id#__": 15},
        primary_key=None,
        source={"dbType": "MySQL", "dbName": "shop", "tableName": "keyless"},
    )
)
def test_the_row_id_of_mysql_has_the_name_that_the_database_gives_it(row: Row) -> None:
    assert members(row, "key_columns", "row_key") == (
        ["__#alibaba_rds_row_id#__"],
        '{"__#alibaba_rds_row_id#__":15}',
    )


ORACLE = {"dbType": "Oracle", "dbName": "ORCL", "schemaName": "HR", "tableName": "EMPLOYEES"}


@said(
    row_message(
        "INSERT",
        after={"NAME": "x", "rowid": "AAIUMPAAFAACxExAAE"},
        primary_key=None,
        columns={"NAME": "STRING", "rowid": "STRING"},
        source=ORACLE,
        scn="123456",
    ),
    row_message(
        "INSERT",
        after={"ID": 1, "rowid": "AAIUMPAAFAACxExAAE"},
        primary_key=["ID"],
        columns={"ID": "LONG", "rowid": "STRING"},
        source=ORACLE,
    ),
    row_message("INSERT", after={"rowid": 1}, primary_key=None, source=of_table("t")),
)
def test_rowid_is_the_key_of_an_oracle_table_without_one(rows: Rows) -> None:
    without_key, with_key, of_mysql = rows
    assert members(without_key, "source_type", "table_id", "row_key") == (
        "oracle",
        "ORCL.HR.EMPLOYEES",
        '{"rowid":"AAIUMPAAFAACxExAAE"}',
    )
    assert with_key["row_key"] == '{"ID":1}'
    assert of_mysql["key_columns"] == []


@said(row_message("INSERT", after={"id": None, "name": "a"}))
def test_null_in_a_key_column_is_a_value(row: Row) -> None:
    assert row["row_key"] == '{"id":null}'


@said(
    row_message(
        "UPDATE_AFTER",
        before={"id": 1},
        after={"id": 1, "name": None},
        columns={"id": "LONG", "name": "STRING", "body": "STRING"},
    ),
    row_message("DELETE", before={"id": 1}),
)
def test_null_is_a_value_and_a_column_that_the_image_lacks_is_unavailable(rows: Rows) -> None:
    update, delete = rows
    assert members(update, "before", "after", "unavailable_columns") == (
        {"id": 1},
        {"id": 1, "name": None},
        ["body"],
    )
    assert delete["unavailable_columns"] == ["name"]


@said(
    '{"schema": {"source": {"tableName": "t"}}, "payload": {"op": "INSERT",'
    f' "sequenceId": {BIG}{BIG}, "after": {{"dataColumn": {{"id": {BIG}, "ok": true,'
    ' "price": "1.100000", "ratio": 12345678901234567890.0123456789}}}}'
)
def test_values_are_exact_as_published(row: Row) -> None:
    # The key of a keyless table is its whole image as text.
    assert row["row_key"] == (
        f'{{"id":{BIG},"ok":true,"price":"1.100000","ratio":12345678901234567890.0123456789}}'
    )
    assert row["sequence"]["position"] == Decimal(f"{BIG}{BIG}")


@said(
    row_message("INSERT", after=A, times={name: str(time) for name, time in TIMES.items()}),
    row_message("INSERT", after=A, times=None),
)
def test_a_time_may_be_text_or_absent(rows: Rows) -> None:
    assert [members(row, "op", "event_at", "published_at", "checkpoint_at") for row in rows] == [
        ("insert", *map(utc, TIMES.values())),
        ("insert", None, None, None),
    ]


@said(
    json.dumps(
        {
            "payload": {"after": {"dataColumn": A}, "op": "INSERT", "sequenceId": "7"},
            "schema": {"source": {"tableName": "t"}},
        }
    ),
    row_message(
        "INSERT",
        after=A,
        source={"dbType": "", "dbName": "", "schemaName": "", "tableName": "t"},
        primary_key=None,
        times=None,
    ),
)
def test_members_that_are_not_there_or_empty_are_as_null(rows: Rows) -> None:
    columns = ("op", "table_id", "source_type", "key_columns", "after", "event_at")
    assert [members(row, *columns) for row in rows] == [("insert", "t", None, [], A, None)] * 2


@said(
    INSERT,
    {
        **with_member(INSERT, "payload.after.rowImage", "full"),
        "traceId": {"dataColumn": [1]},
    },
)
def test_unknown_members_are_ignored(rows: Rows) -> None:
    insert, with_more = rows
    assert with_more["event_id"] == insert["event_id"]
    assert with_more["after"] == A


@said(
    with_member(INSERT, "schema.dataColumn", [{"name": None, "type": "LONG"}, None, {"name": "id"}])
)
def test_a_schema_column_without_a_name_is_ignored(row: Row) -> None:
    assert members(row, "column_types", "unavailable_columns") == ({"id": None, "name": None}, [])


@said(ALTER)
def test_a_statement_keeps_its_text_and_table(row: Row) -> None:
    assert members(row, "record_type", "table_id", "ddl_text", "ddl_meta", "is_truncation") == (
        "ddl",
        "shop.orders",
        "ALTER TABLE orders ADD note text",
        "rO0ABXNyACk=",
        False,
    )
    assert row["sequence"]["position"] == Decimal(1620457642589000001)
    assert row["event_at"] == utc(TIMES["eventTime"])
    assert members(row, "row_key", "key_columns") == (None, None)


@said(ALTER, TRUNCATE)
def test_a_statement_has_an_id_by_which_its_redelivery_is_known(rows: Rows) -> None:
    check_are_different_events(rows)


@said(TRUNCATE)
def test_a_truncate_ends_the_rows_of_its_table(row: Row) -> None:
    assert members(row, "record_type", "table_id", "is_truncation") == (
        "ddl",
        "shop.orders",
        True,
    )
    assert row["sequence"]["position"] == Decimal(1620457642589000001)


OF_DATABASE = {"dbType": "MySQL", "dbName": "shop"}


@said(
    statement_message("TRUNCATE", "truncate table items", source=OF_DATABASE),
    statement_message("ERASE", "drop database shop", source=OF_DATABASE),
    statement_message("QUERY", "drop table a, old.b"),
)
def test_the_text_of_a_statement_says_which_tables_it_empties(rows: Rows) -> None:
    truncate, erase, query = rows
    assert members(truncate, "table_id", "is_truncation") == ("shop.items", True)
    assert members(erase, "record_type", "is_truncation") == ("ddl", True)
    assert [
        (change["change"], change["database_name"], change["table_name"])
        for change in query["table_changes"]
    ] == [("table_drop", "shop", "a"), ("table_drop", "old", "b")]


@said(
    statement_message(
        "QUERY",
        "CREATE DATABASE old",
        source={"dbType": "MySQL", "dbName": "old"},
        sequence_id=None,
    )
)
def test_a_statement_may_have_neither_table_nor_position(row: Row) -> None:
    assert members(row, "record_type", "table_id", "ddl_text") == (
        "ddl",
        "old",
        "CREATE DATABASE old",
    )


@said(
    statement_message("ALTER", "alter table orders add a int", sequence_id=None),
    statement_message("ALTER", "alter table orders add b int", sequence_id=None),
    statement_message("ALTER", "alter table orders add c int", sequence_id="-1"),
)
def test_statements_without_an_id_are_no_redeliveries_of_one_another(rows: Rows) -> None:
    assert [members(row, "record_type", "event_id") for row in rows] == [("ddl", None)] * 3


@said(statement_message("TRANSACTION_BEGIN"))
def test_a_transaction_record_has_no_row(row: Row) -> None:
    assert members(row, "record_type", "source_op", "event_at", "event_id", "row_key") == (
        "transaction",
        "TRANSACTION_BEGIN",
        utc(TIMES["eventTime"]),
        None,
        None,
    )
