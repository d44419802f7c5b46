"""What messages of both CDL formats come to in staging."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.python.formats.cdl import (
    BIG,
    BIGGER,
    FORMATS,
    ODD_KEYS,
    ODD_ROW,
    Cdl,
    each_cdl,
    each_cdl_and,
)
from tests.python.formats.connect import PLACEHOLDER, backwards, changed, enveloped, schema_of
from tests.python.formats.connect import without as without_member
from tests.python.formats.staging import (
    check_are_different_events,
    check_are_one_event,
    check_is_rejected,
    said,
)

Row = dict[str, Any]
Rows = list[Row]


@each_cdl(lambda cdl: [cdl.message("update", cdl.row, cdl.old_row), cdl.update])
def test_an_update_has_both_images(rows: Rows, cdl: Cdl) -> None:
    for row in rows:
        assert (row["op"], row["source_op"]) == ("update", cdl.codes["update"])
        assert (row["before"], row["after"]) == (cdl.old_row, cdl.row)
        assert (row["row_key"], row["previous_row_key"]) == (cdl.row_key, None)


@each_cdl(lambda cdl: [cdl.message("delete", before=cdl.row), cdl.delete])
def test_a_delete_has_the_row_in_before(rows: Rows, cdl: Cdl) -> None:
    for row in rows:
        assert (row["op"], row["source_op"]) == ("delete", cdl.codes["delete"])
        assert (row["before"], row["after"]) == (cdl.row, None)
        assert row["row_key"] == cdl.row_key


@each_cdl(
    lambda cdl: [
        cdl.payload("insert", cdl.row, cdl.old_row),
        cdl.payload("delete", cdl.old_row, cdl.row),
    ]
)
def test_an_image_that_does_not_fit_the_operation_is_left_out(rows: Rows, cdl: Cdl) -> None:
    insert, delete = rows
    assert (insert["op"], insert["before"]) == ("insert", None)
    assert (delete["op"], delete["after"]) == ("delete", None)


@each_cdl(
    lambda cdl: [
        cdl.payload("update", cdl.row, {**cdl.row, "id": 33}),
        cdl.payload("update", cdl.row, {"id": 33}),
    ]
)
def test_the_old_key_comes_from_before(rows: Rows, cdl: Cdl) -> None:
    for row in rows:
        assert (row["row_key"], row["previous_row_key"]) == (cdl.row_key, '{"id":33}')


@each_cdl(
    lambda cdl: [
        cdl.payload("update", cdl.row),
        cdl.payload("update", cdl.row, {"count1": 12}),
    ]
)
def test_without_the_key_columns_in_before_the_key_has_not_changed(rows: Rows, cdl: Cdl) -> None:
    for row in rows:
        assert (row["op"], row["previous_row_key"]) == ("update", None)


def composite_key(cdl: Cdl) -> dict[str, Any]:
    return cdl.payload("insert", cdl.row, unique={"time1": None, "id": 34, "count1": 13})


def odd_key(cdl: Cdl) -> dict[str, Any]:
    return cdl.payload("insert", ODD_ROW, unique=ODD_ROW)


def null_unique(cdl: Cdl) -> dict[str, Any]:
    return cdl.payload("insert", cdl.row, table="keyless", unique=None)


@each_cdl_and(
    "key_columns",
    lambda cdl: {
        "bare insert": (["id"], cdl.insert),
        "composite key": (["time1", "id", "count1"], composite_key(cdl)),
        "odd key": (ODD_KEYS, odd_key(cdl)),
        "odd key in the schema": (
            ODD_KEYS,
            enveloped(
                cdl.payload("insert", ODD_ROW, unique=None),
                unique=dict.fromkeys(ODD_KEYS, "int32"),
            ),
        ),
        "null unique": (["id"], cdl.message("delete", before=cdl.row, unique=None)),
        "null unique, no schema": ([], null_unique(cdl)),
        "null unique, keyless schema": (
            [],
            {
                "schema": schema_of(unique={}, **{cdl.after_member: cdl.columns}),
                "payload": null_unique(cdl),
            },
        ),
        "null unique, set": (
            ["time1", "id"],
            cdl.payload("insert", cdl.row, table="set", unique=None),
        ),
        "empty unique": ([], cdl.message("insert", cdl.row, table="keyless", unique={})),
        "empty unique, no schema": ([], cdl.keyless("insert", cdl.row)),
        "empty unique, set": (
            ["time1", "id"],
            cdl.message("insert", cdl.row, table="set", unique={}),
        ),
        "empty unique, set, no schema": (
            ["time1", "id"],
            cdl.payload("insert", cdl.row, table="set", unique={}),
        ),
    },
)
def test_the_key_is_unique_s_else_the_schema_s_else_the_project_s(
    row: Row, cdl: Cdl, key_columns: list[str]
) -> None:
    assert row["key_columns"] == key_columns


@each_cdl(
    lambda cdl: [
        composite_key(cdl),
        cdl.payload("insert", {**cdl.row, "id": "a"}, unique={"id": 1}),
        odd_key(cdl),
    ]
)
def test_a_row_key_has_the_values_of_the_image_in_the_order_of_the_key(
    rows: Rows, cdl: Cdl
) -> None:
    composite, from_image, odd = (row["row_key"] for row in rows)
    assert composite == f'{{"time1":null,"id":{cdl.id},"count1":13}}'
    assert from_image == '{"id":"a"}'
    assert list(json.loads(odd).items()) == list(ODD_ROW.items())


@each_cdl(
    lambda cdl: [
        cdl.message("insert", cdl.row, table="keyless", unique={}),
        cdl.keyless("insert", cdl.row),
        cdl.keyless("update", cdl.row, cdl.old_row),
    ]
)
def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows, cdl: Cdl) -> None:
    *inserts, update = rows
    key = f'{{"count1":13,"decimalNum":null,"id":{cdl.id},"time1":null}}'
    assert {row["row_key"] for row in (*inserts, update)} == {key}
    assert json.loads(update["previous_row_key"]) == cdl.old_row


@each_cdl(
    lambda cdl: [
        cdl.payload("insert", cdl.row, lsn=18446744073709551615),
        cdl.payload("insert", {"id": BIG, "n": BIGGER}),
    ]
)
def test_numbers_are_exact(rows: Rows, cdl: Cdl) -> None:
    large_lsn, large_numbers = rows
    assert large_lsn["sequence"]["position"] == 18446744073709551615
    assert large_numbers["after"] == {"id": BIG, "n": BIGGER}
    assert large_numbers["row_key"] == f'{{"id":{BIG}}}'


@each_cdl(
    lambda cdl: [
        cdl.message("insert", {"id": cdl.id, "count1": None}),
        cdl.message("update", {"id": cdl.id, "count1": 1}, cdl.old_row),
        cdl.message("update", {"count1": PLACEHOLDER, "id": cdl.id, "time1": None}),
        cdl.message("delete", before={"id": cdl.id}),
        cdl.message("update", cdl.row, {"id": cdl.id}),
        cdl.message("insert", cdl.row),
    ]
)
def test_a_column_of_the_schema_that_the_image_lacks_is_unavailable(rows: Rows, cdl: Cdl) -> None:
    insert, update, placeholder, delete, partial_before, whole = rows
    assert insert["unavailable_columns"] == ["time1", "decimalNum"]
    assert insert["after"] == {"id": cdl.id, "count1": None}
    assert update["unavailable_columns"] == ["time1", "decimalNum"]
    assert placeholder["unavailable_columns"] == ["count1", "decimalNum"]
    assert delete["unavailable_columns"] == ["count1", "time1", "decimalNum"]
    assert partial_before["unavailable_columns"] == whole["unavailable_columns"] == []
    assert partial_before["before"] == {"id": cdl.id}


@each_cdl(
    lambda cdl: [
        cdl.payload("insert", cdl.row, LOB_COLUMNS="note"),
        cdl.payload("insert", cdl.row, LOB_COLUMNS="note,photo"),
        cdl.payload("insert", cdl.row, LOB_COLUMNS=["note", "photo"]),
    ]
)
def test_large_objects_are_listed(rows: Rows, cdl: Cdl) -> None:
    assert [row["lob_columns"] for row in rows] == ["note", "note,photo", '["note","photo"]']


@each_cdl(lambda cdl: [cdl.insert, {**cdl.insert, **cdl.foreign}])
def test_members_that_the_format_does_not_know_are_ignored(rows: Rows, cdl: Cdl) -> None:
    insert, with_more = rows
    assert insert["after"] == with_more["after"] == cdl.row
    assert insert["event_id"] == with_more["event_id"] is not None


@each_cdl(
    lambda cdl: [
        cdl.payload("insert", cdl.row, message_version=version)
        for version in (float(cdl.version), cdl.version, str(cdl.version))
    ]
)
def test_the_version_may_be_a_number(rows: Rows, cdl: Cdl) -> None:
    assert [row["record_type"] for row in rows] == ["change"] * 3


@each_cdl(
    lambda cdl: [
        cdl.message("insert", cdl.row),
        cdl.message("update", cdl.row, cdl.old_row),
        cdl.message("delete", before=cdl.row),
        cdl.message("delete", before={"id": cdl.id}),
    ]
)
def test_a_message_with_a_schema_lists_all_columns(rows: Rows, cdl: Cdl) -> None:
    assert [row["lists_all_columns"] for row in rows] == [True] * 4


@each_cdl(
    lambda cdl: [
        cdl.heartbeat,
        {"HEARTBEAT_IDENTIFIER": "x", cdl.written_at_member: 1707048984208},
        cdl.payload("insert", table=None, HEARTBEAT_IDENTIFIER="279fb050"),
        cdl.payload("insert", cdl.row, message_type="heartbeat"),
        cdl.payload("insert", cdl.row, message_type="HEARTBEAT"),
        enveloped(cdl.heartbeat),
    ]
)
def test_a_message_about_no_table_with_an_identifier_is_a_heartbeat(rows: Rows, cdl: Cdl) -> None:
    assert len(rows) == 6
    for row in rows:
        assert (row["record_type"], row["reject_code"]) == ("heartbeat", None)
        assert row["event_id"] is None and row["op"] is None and row["row_key"] is None


@pytest.mark.parametrize(
    ("cdl", "op"),
    [
        pytest.param(
            cdl, op, id=f"{cdl.source_format}-{op}", marks=said(*messages, parse=cdl.parse)
        )
        for cdl in FORMATS
        for op, messages in {
            "insert": (
                cdl.message("insert", cdl.row),
                cdl.insert,
                json.dumps(cdl.insert, indent=1),
                cdl.payload("insert", cdl.row, lsn=str(cdl.lsn)),
                cdl.written_later(cdl.payload("insert", cdl.row, lsn=str(cdl.lsn))),
            ),
            "update": (
                cdl.message("update", cdl.row, cdl.old_row),
                cdl.update,
                json.dumps(cdl.update, indent=1),
                cdl.written_later(cdl.update),
                backwards(cdl.update),
            ),
            "delete": (cdl.message("delete", before=cdl.row), cdl.delete),
        }.items()
    ],
)
def test_a_redelivered_event_has_the_same_identity(rows: Rows, cdl: Cdl, op: str) -> None:
    check_are_one_event(rows)
    assert {row["op"] for row in rows} == {op}


@each_cdl(
    lambda cdl: [
        cdl.message("insert", cdl.row),
        cdl.message("update", cdl.row, cdl.old_row),
        cdl.message("delete", before=cdl.row),
        cdl.payload("update", {**cdl.row, "count1": 15}, cdl.old_row),
        cdl.payload("update", {**cdl.row, "count1": 15}),
        cdl.payload("update", {"id": cdl.id, "count1": None, "note": "null"}),
        cdl.payload("update", {"id": cdl.id, "count1": "null", "note": None}),
        cdl.payload("update", cdl.row, {**cdl.old_row, "count1": 11}),
        cdl.payload("update", cdl.row),
        cdl.payload("insert", cdl.row, lsn=cdl.lsn + 1),
        cdl.payload("insert", {**cdl.row, "id": 36}),
        cdl.payload("insert", cdl.row, table="t2"),
        cdl.keyless("insert", cdl.row),
        cdl.keyless("update", cdl.row, cdl.old_row),
    ]
)
def test_other_events_have_other_identities(rows: Rows, cdl: Cdl) -> None:
    check_are_different_events(rows)
    assert len(rows) == 14


def rejected(cdl: Cdl) -> dict[str, tuple[str, Any]]:
    """Return name -> (reject code, message)."""
    row, insert, other_version = cdl.row, cdl.insert, 3 - cdl.version
    return {
        "source is text": ("malformed_json", {**insert, cdl.source_member: "x"}),
        "other version": (
            "wrong_format",
            cdl.payload("insert", row, message_version=f"{other_version}.0"),
        ),
        "other version as a number": (
            "wrong_format",
            cdl.payload("insert", row, message_version=other_version),
        ),
        "other format": (
            "wrong_format",
            {**cdl.of_other_format, "message_version": f"{other_version}.0"},
        ),
        "no version": ("missing_field", without_member(insert, "message_version")),
        "no members": ("missing_field", {}),
        "schema only": ("missing_field", {"schema": schema_of()}),
        "no op": ("missing_field", without_member(insert, cdl.op_member)),
        "no op and no image": (
            "missing_field",
            cdl.payload(None, HEARTBEAT_IDENTIFIER="279fb050"),
        ),
        "no source": ("missing_field", without_member(insert, cdl.source_member)),
        "no table": ("missing_field", without_member(insert, cdl.table_member)),
        "key column missing": ("missing_field", cdl.payload("insert", {"count1": 1})),
        "unavailable key column": (
            "missing_field",
            cdl.payload("update", {**row, "id": PLACEHOLDER}),
        ),
        "op in the other case": (
            "unknown_op",
            changed(insert, **{cdl.op_member: cdl.codes["insert"].swapcase()}),
        ),
        "time is too large": (
            "bad_timestamp",
            changed(insert, **{cdl.written_at_member: BIG}),
        ),
        "time in seconds": (
            "bad_timestamp",
            changed(insert, **{cdl.written_at_member: 1707048984}),
        ),
        "lsn is text": ("bad_sequence", cdl.payload("insert", row, lsn="26/2C6FB0A0")),
        "lsn is empty": ("bad_sequence", cdl.payload("insert", row, lsn="")),
        "lsn is a fraction": ("bad_sequence", cdl.payload("insert", row, lsn=1.5)),
        "lsn is negative": ("bad_sequence", cdl.payload("insert", row, lsn=-5)),
        "lsn is too large": ("bad_sequence", cdl.payload("insert", row, lsn="9" * 39)),
        "insert without a row": ("missing_image", cdl.payload("insert", None, row)),
        "update without a row": ("missing_image", cdl.payload("update", None, row)),
        "update with an empty row": ("missing_image", cdl.payload("update", {}, row)),
        "delete without before": ("missing_image", cdl.payload("delete", row)),
        "image is text": ("missing_image", cdl.payload("insert", "x")),
        "image before is text": ("missing_image", cdl.payload("update", row, "x")),
        "image is an array": ("missing_image", cdl.payload("insert", [row])),
        "image before is an array": ("missing_image", cdl.payload("update", row, [row])),
    }


@each_cdl_and("reject_code", rejected)
def test_what_cannot_be_read_is_rejected(row: Row, sent: bytes, cdl: Cdl, reject_code: str) -> None:
    check_is_rejected(row, sent, reject_code)
