"""DTS Avro: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import dts_avro
from cdc_marts.formats.dts.charsets import charsets_among
from tests.python.encoders import dts_avro as dts
from tests.python.encoders.dts_avro import ddl, encode
from tests.python.encoders.dts_avro import row as change
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    check_are_different_events,
    check_are_one_event,
    check_is_rejected,
    each_said,
    each_said_together,
    members,
)

Row = dict[str, Any]
Rows = list[Row]

TABLE = "shop.orders"
ROW = {"id": 7, "note": "new", "amount": Decimal("12.50")}
OLD_ROW = {"id": 7, "note": "old", "amount": Decimal("9.99")}
SECONDS, MILLIS = 1_700_000_000, 1_700_000_000_456
PARSE = partial(dts_avro.parse, key_settings={"shop.set": ["note"], TABLE: ["note"]})

INSERT = change("INSERT", TABLE, after=ROW, key=["id"], sourceTxid="9f:17", id=42)
UPDATE = change("UPDATE", TABLE, before=OLD_ROW, after=ROW, key=["id"])
DELETE = change("DELETE", TABLE, before=OLD_ROW, key=["id"])
KEYLESS = change("INSERT", "shop.keyless", after=ROW)
KEYLESS_INIT = change("INIT", "shop.keyless", after=ROW)
SNAPSHOT = {**INSERT, "operation": "INIT"}


def said(*records: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Puts records above the test that gets the staging rows of their messages."""
    return pytest.mark.said(*map(encode, records))


def keys(**keys_: list[str]) -> dict[str, str]:
    return {"pk_uk_info": json.dumps(keys_)}


@said(INSERT)
def test_an_insert_with_all_it_tells(row: Row) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "dts_avro",
        "topic": "topic",
        "partition": 0,
        "row_index": 0,
        "source_type": "mysql",
        "database_name": "shop",
        "schema_name": None,
        "table_name": "orders",
        "table_id": "shop.orders",
        "op": "insert",
        "source_op": "INSERT",
        "key_columns": ["id"],
        "row_key": '{"id":7}',
        "previous_row_key": None,
        "before": None,
        "after": {"id": 7, "note": "new", "amount": 12.5},
        "unavailable_columns": [],
        "column_types": {"id": "253", "note": "253", "amount": "253"},
        "lob_columns": None,
        "event_at": dt.datetime(2023, 11, 14, 22, 13, 20),
        "published_at": None,
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "9f:17",
        "pairing_id": None,
        "ddl_text": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": True,
        "value": None,
    }
    assert {name: row[name] for name in event} == event
    assert row["event_id"]
    assert row["sequence"] == {
        "position": Decimal(SECONDS * 10**19 + 42),
        "transaction_index": TOPIC_NUMBER,
        "partition": 0,
        "offset": row["offset"],
        "row_index": 0,
    }


@said(UPDATE)
def test_an_update_has_the_row_before_and_after(row: Row) -> None:
    assert (row["op"], row["source_op"]) == ("update", "UPDATE")
    assert row["before"] == {"id": 7, "note": "old", "amount": 9.99}
    assert row["after"] == {"id": 7, "note": "new", "amount": 12.5}
    assert row["previous_row_key"] is None


@said(change("UPDATE", TABLE, before={"id": 6}, after={"id": 7}, key=["id"]))
def test_an_update_of_a_key_names_the_old_key(row: Row) -> None:
    assert (row["previous_row_key"], row["row_key"]) == ('{"id":6}', '{"id":7}')


@said(change("UPDATE", TABLE, after=ROW, key=["id"]))
def test_an_update_may_come_without_the_row_before(row: Row) -> None:
    assert row["before"] is None
    assert row["after"] == {"id": 7, "note": "new", "amount": 12.5}


@said({**INSERT, "beforeImages": []}, {**DELETE, "afterImages": []}, {**UPDATE, "beforeImages": []})
def test_an_image_without_values_is_no_image(rows: Rows) -> None:
    insert, delete, update = rows
    assert (insert["op"], insert["before"]) == ("insert", None)
    assert (delete["op"], delete["after"]) == ("delete", None)
    assert (update["op"], update["before"]) == ("update", None)


@said({**INSERT, "afterImages": []})
def test_an_insert_needs_the_values_of_its_row(row: Row) -> None:
    assert row["reject_code"] == "missing_image"


MINIMAL_UPDATE = change("UPDATE", TABLE, before={"id": 7}, after={"note": "new"}, key=["id"])


@said(MINIMAL_UPDATE)
def test_an_update_leaves_unchanged_what_only_its_row_before_carries(row: Row) -> None:
    assert row["before"] == {"id": 7}
    assert row["after"] == {"id": 7, "note": "new"}
    assert (row["row_key"], row["unavailable_columns"]) == ('{"id":7}', [])


@said(DELETE)
def test_a_delete_has_the_row_before_only(row: Row) -> None:
    assert (row["op"], row["after"]) == ("delete", None)
    assert row["before"] == {"id": 7, "note": "old", "amount": 9.99}
    assert row["row_key"] == '{"id":7}'


@said(SNAPSHOT)
def test_a_row_of_the_full_load_is_a_snapshot(row: Row) -> None:
    assert (row["op"], row["source_op"]) == ("snapshot", "INIT")
    assert row["after"] == {"id": 7, "note": "new", "amount": 12.5}


@said({**UPDATE, "operation": "INSERT"})
def test_an_insert_has_no_row_before(row: Row) -> None:
    assert (row["op"], row["before"]) == ("insert", None)


@said(
    change("INSERT", TABLE, after={"id": 7, "b": dts.NONE, "c": None}, key=["id"]),
    change(
        "UPDATE",
        TABLE,
        before={"id": 7, "big": dts.NONE, "a": None},
        after={"id": 7, "big": dts.NONE, "a": dts.NONE},
        key=["id"],
    ),
    change("DELETE", TABLE, before={"id": 7, "note": dts.NONE}, key=["id"]),
)
def test_null_is_not_the_same_as_unavailable(rows: Rows) -> None:
    insert, update, delete = rows
    assert insert["after"] == {"id": 7, "c": None}
    assert insert["unavailable_columns"] == ["b"]
    assert update["before"] == {"id": 7, "a": None}
    assert update["after"] == {"id": 7, "a": None}
    assert update["unavailable_columns"] == ["big"]
    assert (delete["before"], delete["unavailable_columns"]) == ({"id": 7}, ["note"])


DIGITS_30 = "1234567890" * 3
DIGITS_38 = DIGITS_30 + "12345678"


def value(**columns: Any) -> dict[str, Any]:
    """An insert of one column into a keyless table."""
    return change("INSERT", "shop.v", after=columns)


def text(data: bytes, charset: str) -> dict[str, Any]:
    return value(v=dts.character(data, charset))


def time(**parts: int) -> dict[str, Any]:
    return value(v=dts.date_time(**parts))


def number(digits: str) -> dict[str, Any]:
    return value(v=dts.decimal_(digits))


DATE = {"year": 2024, "month": 2, "day": 9}
CLOCK = {"hour": 7, "minute": 5, "second": 3}

#: What a column's value comes to: name -> (record, its JSON in the image)
VALUES = {
    "integer": (value(v=7), "7"),
    "negative integer": (value(v=-7), "-7"),
    "unsigned bigint": (value(v=18446744073709551615), "18446744073709551615"),
    "integer of 38 digits": (value(v=dts.integer(DIGITS_38)), DIGITS_38),
    "integer of 39 digits": (value(v=dts.integer(DIGITS_38 + "9")), f'"{DIGITS_38}9"'),
    "integer with zeros in front": (value(v=dts.integer("00042")), "42"),
    "integer that is none": (value(v=dts.integer("x")), '"x"'),
    "decimal": (number("12.50"), "12.5"),
    "negative decimal": (number("-0.05"), "-0.05"),
    "decimal without digits in front": (number(".5"), "0.5"),
    "decimal without digits behind": (number("5."), "5"),
    "decimal with a plus": (number("+1.5"), "1.5"),
    "decimal zero": (number("-0.00"), "0"),
    "decimal beyond double": (number("90071992547409931.1"), "90071992547409931.1"),
    "decimal of 38 digits": (number(f"{DIGITS_30}.12345678"), f"{DIGITS_30}.12345678"),
    "decimal of 39 digits": (number(f"{DIGITS_38}.5"), f'"{DIGITS_38}.5"'),
    "decimal with 38 places": (number("0." + "0" * 37 + "1"), "0." + "0" * 37 + "1"),
    "decimal with 39 places": (number("0." + "0" * 38 + "1"), '"0.' + "0" * 38 + '1"'),
    "decimal with zeros behind": (number("1." + "0" * 60), "1"),
    "decimal with an exponent": (number("1.25E+3"), "1250"),
    "decimal with a negative exponent": (number("-1.25e-7"), "-0.000000125"),
    "decimal zero with an exponent": (number("0E-10"), "0"),
    "decimal with a vast exponent": (number("1E999"), '"1E999"'),
    "not a number": (number("NaN"), '"NaN"'),
    "empty number": (number(""), '""'),
    "float": (value(v=1.5), "1.5"),
    "infinite float": (value(v=float("-inf")), '"-Infinity"'),
    "text": (value(v='é "中" 😀'), '"é \\"中\\" 😀"'),
    "empty text": (value(v=""), '""'),
    "utf8": (text("é中".encode(), "utf8"), '"é中"'),
    "utf8mb3": (text("é中".encode(), "utf8mb3"), '"é中"'),
    "UTF8MB4": (text("é中".encode(), "UTF8MB4"), '"é中"'),
    "rare charset": (text(b"x", "dec8"), '"x"'),
    "no charset": (text(b"\x00a\xff", ""), '"0061FF"'),
    "no charset, no bytes": (text(b"", ""), '""'),
    "AL32UTF8": (text("é中".encode(), "AL32UTF8"), '"é中"'),
    "gbk": (text("中文€".encode("gbk", "ignore"), "gbk"), '"中文"'),
    "gb2312": (text("中文".encode("gb2312"), "gb2312"), '"中文"'),
    "gb18030": (text("中😀".encode("gb18030"), "gb18030"), '"中😀"'),
    "ZHS16GBK": (text("中文".encode("gbk"), "ZHS16GBK"), '"中文"'),
    "cp936": (text(b"\x80\xd6\xd0", "cp936"), '"€中"'),
    "gbk with a euro": (text(b"\xa2\xe3", "gbk"), '"€"'),
    "big5": (text("中文".encode("big5"), "big5"), '"中文"'),
    "big5 with a middle dot": (text(b"\xa1\x45", "big5"), '"\u2022"'),
    "cp950": (text("碁銹裏墻恒粧嫺".encode("cp950"), "cp950"), '"碁銹裏墻恒粧嫺"'),
    "cp950 with a middle dot": (text(b"\xa1\x45", "cp950"), '"\u2027"'),
    "ZHT16MSWIN950": (text("裏".encode("cp950"), "ZHT16MSWIN950"), '"裏"'),
    "sjis": (text("日本".encode("shift_jis"), "sjis"), '"日本"'),
    "JA16SJISTILDE": (text("日〜".encode("shift_jis"), "JA16SJISTILDE"), '"日\uff5e"'),
    "JA16SJIS": (text("〜".encode("shift_jis"), "JA16SJIS"), '"〜"'),
    "JA16EUCTILDE": (text("日〜".encode("euc_jp"), "JA16EUCTILDE"), '"日\uff5e"'),
    "ZHT32EUC": (text(b"a\xc4\xe3\xc5\xc6", "ZHT32EUC"), '"a中文"'),
    "ujis": (text("日本".encode("euc_jp"), "ujis"), '"日本"'),
    "euckr": (text("한국".encode("euc_kr"), "euckr"), '"한국"'),
    "euckr beyond KS X 1001": (text("똠方".encode("cp949"), "euckr"), '"똠方"'),
    "EUC_KR": (text("한국".encode("euc_kr"), "EUC_KR"), '"한국"'),
    "EUC_KR with the postal mark": (text(b"\xa2\xe8", "EUC_KR"), '"㉾"'),
    "latin1": (text("é€".encode("cp1252"), "latin1"), '"é€"'),
    "latin1 without a character": (text(b"\x81\x8d\x9d", "latin1"), '"\x81\x8d\x9d"'),
    "LATIN1": (text(b"\xe9\x80\x9d", "LATIN1"), '"é\x80\x9d"'),
    "LATIN7": (text("ė".encode("iso8859-13"), "LATIN7"), '"ė"'),
    "LATIN9": (text("€".encode("iso8859-15"), "LATIN9"), '"€"'),
    "WIN1252": (text("€".encode("cp1252"), "WIN1252"), '"€"'),
    "iso-8859-1": (text("é\x80".encode("latin-1"), "ISO-8859-1"), '"é\x80"'),
    "latin2": (text("ł".encode("iso8859-2"), "latin2"), '"ł"'),
    "cp1251": (text("ж".encode("cp1251"), "cp1251"), '"ж"'),
    "cp1256": (text("سلام".encode("cp1256"), "cp1256"), '"سلام"'),
    "macroman": (text("é".encode("mac_roman"), "macroman"), '"é"'),
    "eucjpms": (text("日本".encode("euc_jp"), "eucjpms"), '"日本"'),
    "UHC": (text("똠".encode("cp949"), "UHC"), '"똠"'),
    "tis620": (text("ก".encode("tis-620"), "tis620"), '"ก"'),
    "CP874": (text("ก€…".encode("cp874"), "CP874"), '"ก€…"'),
    "WIN874": (text("ก“”".encode("cp874"), "WIN874"), '"ก“”"'),
    "koi8r": (text("ж".encode("koi8-r"), "koi8r"), '"ж"'),
    "ascii": (text(b"abc", "ascii"), '"abc"'),
    "binary": (text(b"a\x00\xff", "binary"), '"a\\u0000ÿ"'),
    "ucs2": (text("中".encode("utf-16-be"), "ucs2"), '"中"'),
    "utf16": (text("中😀".encode("utf-16-be"), "utf16"), '"中😀"'),
    **{
        f"{charset} with {name}": (text(content.encode(encoding), charset), f'"{content}"')
        for charset, encoding in {
            "utf16": "utf-16-be",
            "utf16le": "utf-16-le",
            "ucs2": "utf-16-be",
            "utf32": "utf-32-be",
        }.items()
        for name, content in {
            "a byte order mark": "\ufeffa\ufeff",
            "a replacement character": "\ufffda",
        }.items()
    },
    "utf32": (text("中😀".encode("utf-32-be"), "utf32"), '"中😀"'),
    "replacement character": (text("a\ufffd".encode("gb18030"), "gb18030"), '"a\ufffd"'),
    "timestamp": (value(v=dts.timestamp(SECONDS)), '"2023-11-14 22:13:20"'),
    "timestamp with micros": (value(v=dts.timestamp(SECONDS, 42)), '"2023-11-14 22:13:20.000042"'),
    "timestamp before 1970": (value(v=dts.timestamp(-1)), '"1969-12-31 23:59:59"'),
    "timestamp out of range": (value(v=dts.timestamp(2**62)), f'"{2**62}"'),
    "date and time": (time(**DATE, **CLOCK), '"2024-02-09 07:05:03"'),
    "date and time with micros": (time(**DATE, **CLOCK, millis=45), '"2024-02-09 07:05:03.000045"'),
    "date and time with nanos": (
        time(**DATE, **CLOCK, millis=5_000_000),
        '"2024-02-09 07:05:03.005000"',
    ),
    "date and time with few nanos": (
        time(**DATE, **CLOCK, millis=3_333_333),
        '"2024-02-09 07:05:03.003333333"',
    ),
    "date and time without micros": (time(**DATE, **CLOCK, millis=0), '"2024-02-09 07:05:03"'),
    "date": (time(**DATE), '"2024-02-09"'),
    "zero date": (time(year=0, month=0, day=0), '"0000-00-00"'),
    "date in a large year": (time(year=12024, month=1, day=1), '"12024-01-01"'),
    "date before Christ": (time(year=-44, month=3, day=15), '"-0044-03-15"'),
    "year": (time(year=2024), '"2024"'),
    "time": (time(**CLOCK), '"07:05:03"'),
    "time with micros": (time(**CLOCK, millis=500000), '"07:05:03.500000"'),
    "time of many hours": (time(hour=838, minute=59, second=59), '"838:59:59"'),
    "negative time": (time(hour=-838, minute=59, second=59), '"-838:59:59"'),
    "negative time below an hour": (time(hour=0, minute=-5, second=-3), '"-00:05:03"'),
    "negative time of a second": (time(hour=0, minute=0, second=-3), '"-00:00:03"'),
    "negative micros": (time(hour=0, minute=0, second=0, millis=-45), '"-00:00:00.000045"'),
    "year and month": (time(year=2024, month=2), '"2024-02"'),
    "interval of years": (time(year=12, month=5), '"0012-05"'),
    "negative interval of years": (time(year=-12, month=-5), '"-0012-05"'),
    "negative interval of months": (time(year=0, month=-5), '"-0000-05"'),
    "month": (time(month=2), '"-02"'),
    "month and day": (time(month=2, day=9), '"-02-09"'),
    "day": (time(day=5), '"05"'),
    "interval of days": (time(day=5, hour=3, minute=4, second=5), '"05 03:04:05"'),
    "interval of many days": (
        time(day=100, hour=3, minute=4, second=5, millis=6000),
        '"100 03:04:05.006000"',
    ),
    "negative interval of days": (
        time(day=-5, hour=-3, minute=-4, second=-5, millis=-6),
        '"-05 03:04:05.000006"',
    ),
    "date with micros": (time(**DATE, millis=45), '"2024-02-09.000045"'),
    "micros": (time(millis=45), '".000045"'),
    "no micros": (time(millis=0), '".000000"'),
    "time with an offset": (
        value(v=dts.date_time_with_zone("+08:00", **DATE, **CLOCK)),
        '"2024-02-09 07:05:03+08:00"',
    ),
    "geometry": (value(v=dts.binary_geometry(b"\x00\x01")), '"AAE="'),
    "geometry as text": (value(v=dts.text_geometry("POINT(1 2)")), '"POINT(1 2)"'),
    "binary object": (value(v=bytes(3)), '"AAAA"'),
    "long binary object": (value(v=bytes(300)), '"' + "AAAA" * 100 + '"'),
    "empty binary object": (value(v=b""), '""'),
    "text object": (value(v=dts.text_object('{"a":1}')), '"{\\"a\\":1}"'),
    "NULL": (value(v=dts.NULL), "null"),
    "null": (value(v=dts.NO_BRANCH), "null"),
}


@pytest.mark.parametrize(
    "image",
    [pytest.param(image, id=name, marks=said(record)) for name, (record, image) in VALUES.items()],
)
def test_a_value_comes_through_exactly(row: Row, image: str) -> None:
    assert row["reject_reason"] is None
    # The key of a keyless table is the image's JSON, which Python has not read.
    assert row["row_key"] == f'{{"v":{image}}}'


def test_a_charset_that_java_lacks_is_a_smaller_one_or_unknown() -> None:
    """To `decode` it would be an error, which would stop the run."""
    meanings = charsets_among({"Big5", "EUC-KR", "GBK", "TIS-620"})
    names = ("euckr", "cp936", "cp874", "cp950", "uhc", "cp1256")
    assert [meanings.get(name) for name in names] == ["EUC-KR", "GBK", "TIS-620", None, None, None]


def jsonb(data: bytes, number: int = 3802, **members: Any) -> dict[str, Any]:
    """A value as DTS writes `jsonb` of PostgreSQL, with the number of its type."""
    members = {"sourceType": "PostgreSQL", "fields": [("v", number)], **members}
    return {**value(v=dts.binary_object(data, "jsonb")), **members}


@pytest.mark.parametrize(
    "image",
    [
        pytest.param(image, id=name, marks=said(record))
        for name, (record, image) in {
            "text": (jsonb('{"a": "é"}'.encode()), '{"a": "é"}'),
            "nothing": (jsonb(b""), ""),
            "of PPAS": (jsonb(b"[1]", sourceType="PPAS"), "[1]"),
            "not UTF-8": (jsonb(b"\xff"), "/w=="),
            "another type": (jsonb(b"[1]", number=17), "WzFd"),
            "another kind of database": (jsonb(b"[1]", sourceType="MySQL"), "WzFd"),
        }.items()
    ],
)
def test_jsonb_of_postgresql_is_its_text(row: Row, image: str) -> None:
    assert row["reject_reason"] is None
    assert row["after"] == {"v": image}


@said(
    change(
        "UPDATE",
        "shop.public.docs",
        before={"id": 7, "doc": dts.binary_object(b"[1]", "jsonb")},
        after={"id": 7, "doc": dts.binary_object(b"[2]", "jsonb")},
        key=["id"],
        sourceType="PostgreSQL",
        fields=[("id", 23), ("doc", 3802)],
    ),
)
def test_jsonb_is_a_text_in_both_images(row: Row) -> None:
    assert row["before"] == {"id": 7, "doc": "[1]"}
    assert row["after"] == {"id": 7, "doc": "[2]"}


KINDS = {
    "change": ("INSERT", "UPDATE", "DELETE", "INIT"),
    "ddl": ("DDL",),
    "heartbeat": ("HEARTBEAT", "CHECKPOINT"),
    "transaction": (
        *("BEGIN", "COMMIT", "ROLLBACK", "ABORT", "COMMAND", "FILL", "FINISH", "CONTROL"),
        *("RDB", "NOOP"),
    ),
}
HEARTBEAT, COMMIT = ({"operation": op, "sourceTxid": "t1"} for op in ("HEARTBEAT", "COMMIT"))


@said(
    *({**UPDATE, "operation": op} for op in KINDS["change"]),
    ddl(TABLE, None),
    *({**COMMIT, "operation": op} for op in KINDS["heartbeat"] + KINDS["transaction"]),
)
def test_every_operation_has_a_meaning(rows: Rows) -> None:
    assert {(row["record_type"], row["source_op"]) for row in rows} == {
        (kind, op) for kind, ops in KINDS.items() for op in ops
    }
    assert {row["source_op"] for row in rows} == set(dts.OPERATIONS)


@said(COMMIT)
def test_a_transaction_record_keeps_what_it_knows(row: Row) -> None:
    assert (row["source_op"], row["transaction_id"]) == ("COMMIT", "t1")
    assert row["event_at"] == dt.datetime(2023, 11, 14, 22, 13, 20)
    assert (row["op"], row["event_id"], row["row_key"]) == (None, None, None)
    assert (row["table_id"], row["source_type"]) == (None, "mysql")


@said({**COMMIT, "sourceTxid": ""}, {**COMMIT, "sourceTxid": "0"}, {**INSERT, "sourceTxid": "0"})
def test_no_text_and_zero_name_no_transaction(rows: Rows) -> None:
    assert [row["transaction_id"] for row in rows] == [None] * 3


CREATE_DATABASE = ddl("hr", "create database hr")


@said(
    ddl(TABLE, "create table orders (id int)"),
    ddl(TABLE, "alter table orders add x int", fields="none"),
    CREATE_DATABASE,
    ddl(TABLE, None),
)
def test_a_schema_change_has_its_statement(rows: Rows) -> None:
    assert [(row["record_type"], row["table_id"], row["ddl_text"]) for row in rows] == [
        ("ddl", "shop.orders", "create table orders (id int)"),
        ("ddl", "shop.orders", "alter table orders add x int"),
        ("ddl", "hr", "create database hr"),
        ("ddl", "shop.orders", None),
    ]


@said(
    ddl(TABLE, "TRUNCATE TABLE orders"),
    ddl(TABLE, "/* by me */ -- now\n drop  table if exists `orders`"),
    ddl("shop", "truncate table `shop`.`orders`"),
    ddl("shop", "truncate crm.orders"),
)
def test_truncate_and_drop_table_end_the_rows(rows: Rows, rows_of_module: Rows) -> None:
    assert [row for row in rows_of_module if row["is_truncation"]] == rows
    of_table, _, of_database, of_another_database = (row["table_id"] for row in rows)
    assert of_table == of_database == "shop.orders"
    assert of_another_database == "shop"


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id=record["objectName"], marks=said(record))
        for record, names in [
            (CREATE_DATABASE, ("mysql", "hr", None, None)),
            (INSERT, ("mysql", "shop", None, "orders")),
            (
                change("INSERT", "hr.public.people", after=ROW, sourceType="PostgreSQL"),
                ("postgresql", "hr", "public", "people"),
            ),
            (
                change("INSERT", "hr.pub\\u002Elic.peo\\u002eple", after=ROW),
                ("mysql", "hr", "pub.lic", "peo.ple"),
            ),
        ]
    ],
)
def test_an_object_name_has_one_two_or_three_parts(row: Row, names: tuple[str | None, ...]) -> None:
    columns = ("source_type", "database_name", "schema_name", "table_name")
    assert tuple(row[column] for column in columns) == names


@said(
    {**INSERT, "tags": keys(uk=["note"], PRIMARY=["id"])},
    {**INSERT, "tags": keys(uk_note=["note"], uk_id=["id"])},
    {**INSERT, "tags": keys(PRIMARY=[], uk=["amount"])},
    change("INSERT", TABLE, after=ROW, key=["note", "id"]),
)
def test_the_key_is_the_primary_key_else_the_first_unique_one(rows: Rows) -> None:
    behind_unique, unique, empty_primary, composite = rows
    assert behind_unique["key_columns"] == ["id"]
    assert unique["row_key"] == '{"note":"new"}'
    assert empty_primary["row_key"] == '{"amount":12.5}'
    assert composite["row_key"] == '{"note":"new","id":7}'


@said({**INSERT, "tags": keys(PRIMARY=["id", "id"])})
def test_a_key_column_that_is_listed_twice_counts_once(row: Row) -> None:
    assert row["key_columns"] == ["id"]


@each_said(
    {
        "insert": encode(INSERT),
        "update": encode(UPDATE),
        "minimal update": encode(MINIMAL_UPDATE),
        "delete": encode(DELETE),
        "snapshot": encode(SNAPSHOT),
    }
)
def test_every_row_lists_all_columns_of_its_table(row: Row) -> None:
    assert row["lists_all_columns"] is True


@said(change("INSERT", "shop.set", after=ROW), INSERT)
def test_a_key_set_for_the_table_stands_in_for_one_not_published(rows: Rows) -> None:
    assert [row["row_key"] for row in rows] == ['{"note":"new"}', '{"id":7}']


@said(
    KEYLESS,
    change("INSERT", "shop.none", after=ROW, tags=keys()),
    change("INSERT", "shop.none", after=ROW, tags={"pk_uk_info": ""}),
    change("UPDATE", "shop.keyless", before=OLD_ROW, after=ROW),
)
def test_a_table_without_a_key_is_known_by_its_whole_rows(rows: Rows) -> None:
    whole = '{"amount":12.5,"id":7,"note":"new"}'
    assert [(row["key_columns"], row["row_key"]) for row in rows] == [([], whole)] * 4


@said(
    INSERT,
    {**INSERT, "id": 2**63 - 1},
    {**INSERT, "sourceTimestamp": SECONDS + 1, "id": 0},
    {**INSERT, "sourceTimestamp": 253402300799, "id": 2**63 - 1},
    HEARTBEAT,
)
def test_a_position_is_the_time_and_then_the_id(rows: Rows) -> None:
    *positions, of_heartbeat = [row["sequence"]["position"] for row in rows]
    assert positions == sorted(set(positions))
    assert positions[1] == SECONDS * 10**19 + 2**63 - 1
    assert positions[3] == 253402300799 * 10**19 + 2**63 - 1
    assert of_heartbeat == SECONDS * 10**19 + 1


NO_TIME = {**INSERT, "sourceTimestamp": -1, "processTimestamps": [-1]}
TIME_ZERO = {**INSERT, "sourceTimestamp": 0}


@each_said(
    {
        "no time": encode(NO_TIME),
        "time zero": encode(TIME_ZERO),
        "negative id": encode({**INSERT, "id": -1}),
    }
)
def test_a_record_without_a_usable_time_or_id_has_no_position(row: Row) -> None:
    assert (row["record_type"], row["sequence"]["position"]) == ("change", None)


@said(NO_TIME, TIME_ZERO, {**INSERT, "processTimestamps": []})
def test_times_of_minus_one_are_unknown(rows: Rows) -> None:
    no_time, zero, no_process_times = rows
    assert [row["op"] for row in rows] == ["insert"] * 3
    assert (no_time["event_at"], no_time["published_at"]) == (None, None)
    assert zero["event_at"] is None
    assert no_process_times["published_at"] is None


@said({**INSERT, "processTimestamps": [1, MILLIS]})
def test_the_last_process_time_is_when_the_message_was_written(row: Row) -> None:
    assert row["published_at"] == dt.datetime(2023, 11, 14, 22, 13, 20, 456000)


GTID = "281c62dc-590c-11ee-a295-00163e390c7c:108156"
#: As a task on MySQL 8.0.28 writes its records: without `processTimestamps` and a transaction.
OF_MYSQL = {"sourceTimestamp": 1_696_984_408, "sourceTxid": "0", "processTimestamps": None}
TAGS_OF_MYSQL = {
    "readerThroughoutTime": "1696984408050",
    "server_id": "26957161",
    "thread_id": "163931",
}
INSERT_OF_MYSQL = INSERT | {
    **OF_MYSQL,
    "tags": INSERT["tags"] | TAGS_OF_MYSQL | {"metaVersion": "3109599372"},
}
WITH_GTID = {**OF_MYSQL, "tags": TAGS_OF_MYSQL | {"GTID": GTID, "Q_FLAGS2_CODE": "0"}}


@pytest.mark.said(
    *(
        encode(record, born_timestamp=OF_MYSQL["sourceTimestamp"])
        for record in (
            INSERT_OF_MYSQL,
            {"operation": "BEGIN", **WITH_GTID},
            ddl("shop", "create table t1 (a bigint primary key)", **WITH_GTID),
        )
    )
)
def test_a_task_on_mysql_gives_time_and_transaction_in_tags(rows: Rows) -> None:
    read_at = dt.datetime(2023, 10, 11, 0, 33, 28, 50000)
    assert [members(row, "record_type", "published_at", "transaction_id") for row in rows] == [
        ("change", read_at, None),
        ("transaction", read_at, GTID),
        ("ddl", read_at, GTID),
    ]


@said(
    *({**INSERT, "processTimestamps": times, "tags": TAGS_OF_MYSQL} for times in ([MILLIS], [-1])),
    {**COMMIT, "tags": {"GTID": GTID}},
)
def test_tags_count_only_where_the_record_itself_says_nothing(rows: Rows) -> None:
    processed, unknown, commit = rows
    assert processed["published_at"] == dt.datetime(2023, 11, 14, 22, 13, 20, 456000)
    assert unknown["published_at"] == dt.datetime(2023, 10, 11, 0, 33, 28, 50000)
    assert commit["transaction_id"] == "t1"


@said(
    *(
        {**INSERT, "tags": INSERT["tags"] | {"readerThroughoutTime": tag}}
        for tag in ("", "soon", "-1", "1696984408", "1696984408050123", "9" * 40)
    )
)
def test_a_tag_that_is_no_time_is_no_reason_to_reject(rows: Rows) -> None:
    assert [members(row, "record_type", "published_at") for row in rows] == [("change", None)] * 6


@said({**INSERT_OF_MYSQL, "tags": INSERT_OF_MYSQL["tags"] | {"GTID": GTID}}, INSERT_OF_MYSQL)
def test_no_row_takes_its_transaction_from_a_tag_that_its_neighbour_lacks(rows: Rows) -> None:
    assert [row["transaction_id"] for row in rows] == [None, None]


@said(
    INSERT_OF_MYSQL,
    {
        **INSERT_OF_MYSQL,
        "tags": INSERT_OF_MYSQL["tags"] | {"readerThroughoutTime": "1696984999999", "GTID": GTID},
    },
)
def test_tags_that_differ_between_deliveries_identify_and_order_nothing(rows: Rows) -> None:
    first, again = ({**row, "offset": 0, "sequence": 0, "published_at": 0} for row in rows)
    assert first == again
    assert first["event_id"] is not None
    assert len({row["sequence"]["position"] for row in rows}) == 1


@each_said_together(
    {
        name: map(encode, redeliveries)
        for name, redeliveries in {
            "insert": (
                INSERT,
                {**INSERT, "processTimestamps": [MILLIS], "tags": INSERT["tags"] | {"x": "y"}},
            ),
            "keyless": (KEYLESS, KEYLESS),
            "snapshot": (SNAPSHOT, {**SNAPSHOT, "processTimestamps": [MILLIS]}),
            "keyless snapshot": (KEYLESS_INIT, KEYLESS_INIT),
        }.items()
    }
)
def test_a_redelivery_has_the_same_event_id(rows: Rows) -> None:
    check_are_one_event(rows)


@said(INSERT, {**INSERT, "sourceTimestamp": SECONDS + 60})
def test_a_redelivery_may_come_with_another_time(rows: Rows) -> None:
    check_are_one_event(rows)


@said(SNAPSHOT, {**SNAPSHOT, "sourceTimestamp": SECONDS + 60})
def test_a_row_of_another_full_load_is_no_redelivery(rows: Rows) -> None:
    check_are_different_events(rows)


@each_said_together(
    {
        difference: map(encode, (INSERT, other))
        for difference, other in {
            "id": {**INSERT, "id": 43},
            "position": {**INSERT, "sourcePosition": "4@2"},
            "transaction": {**INSERT, "sourceTxid": "9f:18"},
            "image": change(
                "INSERT", TABLE, after={**ROW, "note": "x"}, key=["id"], sourceTxid="9f:17", id=42
            ),
        }.items()
    }
)
def test_another_record_has_another_event_id(rows: Rows) -> None:
    check_are_different_events(rows)


@said(INSERT, {**INSERT, "objectName": "shop.items"}, SNAPSHOT)
def test_records_of_another_table_or_operation_have_other_event_ids(rows: Rows) -> None:
    check_are_different_events(rows)


@said(KEYLESS_INIT, {**KEYLESS_INIT, "id": 2})
def test_equal_keyless_rows_of_the_full_load_differ_in_their_ids(rows: Rows) -> None:
    check_are_different_events(rows)


#: name -> (reject code, a part of the reason, record)
REJECTED = {
    "no object": ("missing_field", "objectName", {**INSERT, "objectName": None}),
    "no table": ("missing_field", "objectName", {**INSERT, "objectName": "shop"}),
    "no columns": ("missing_field", "fields", {**INSERT, "fields": None}),
    "columns as text": ("missing_field", "fields", {**INSERT, "fields": "id"}),
    "a document of MongoDB": (
        "wrong_format",
        "MongoDB",
        {**INSERT, "fields": None, "sourceType": "MongoDB"},
    ),
    "empty columns": (
        "missing_field",
        "fields",
        {**INSERT, "fields": [], "afterImages": []},
    ),
    "key column missing": (
        "missing_field",
        "the key is nr",
        change("INSERT", TABLE, after=ROW, key=["nr"]),
    ),
    "unavailable key column": (
        "missing_field",
        "the key is id",
        change("INSERT", TABLE, after={"id": dts.NONE, "note": "x"}, key=["id"]),
    ),
    "insert without after": ("missing_image", "afterImages", {**UPDATE, "afterImages": None}),
    "snapshot without after": (
        "missing_image",
        "afterImages",
        {**DELETE, "operation": "INIT"},
    ),
    "delete without before": (
        "missing_image",
        "beforeImages",
        {**INSERT, "operation": "DELETE"},
    ),
    "image as text": ("missing_image", "afterImages", {**INSERT, "afterImages": "row"}),
    "image before as text": ("missing_image", "beforeImages", {**UPDATE, "beforeImages": "row"}),
    "too few values": (
        "malformed_avro",
        "one value for each column",
        {**INSERT, "afterImages": INSERT["afterImages"][:-1]},
    ),
    "too many values before": (
        "malformed_avro",
        "one value for each column",
        {**UPDATE, "beforeImages": [*UPDATE["beforeImages"], dts.NULL]},
    ),
    "column twice": (
        "malformed_avro",
        "more than once",
        {**INSERT, "fields": [("id", 3), ("note", 253), ("id", 3)]},
    ),
    "keys as text": ("malformed_avro", "pk_uk_info", {**INSERT, "tags": {"pk_uk_info": "id"}}),
    "unknown charset": (
        "malformed_avro",
        "column v: its charset is unknown: klingon",
        text(b"abc", "klingon"),
    ),
    "bytes not in UTF-8": (
        "not_utf8",
        "column v: its bytes are not valid UTF-8",
        text(b"\xff\xfe", "utf8mb4"),
    ),
    "bytes not in GBK": (
        "malformed_avro",
        "column v: its bytes are not valid in its charset, gbk",
        text(b"\xff\xff", "gbk"),
    ),
    "bytes not in ASCII": ("malformed_avro", "ascii", text(b"\xff", "ascii")),
    "half a character of UTF-16": ("malformed_avro", "utf16", text(b"\x00a\x00", "utf16")),
    **{
        f"time of {' and '.join(parts) or 'nothing'}": (
            "malformed_avro",
            "column v: its date or time",
            value(w=dts.date_time(**DATE, **CLOCK), v=dts.date_time(**dict.fromkeys(parts, 1))),
        )
        for parts in [
            (),
            ("hour",),
            ("hour", "minute"),
            ("hour", "second"),
            ("minute",),
            ("minute", "second"),
            ("second", "millis"),
            ("year", "month", "day", "hour", "minute"),
            ("year", "month", "day", "minute", "second"),
        ]
    },
    "zoned time of an hour and a minute": (
        "malformed_avro",
        "column v: its date or time",
        value(v=dts.date_time_with_zone("+08:00", **DATE, hour=1, minute=2)),
    ),
    "time of nothing before": (
        "malformed_avro",
        "column v: its date or time",
        change("DELETE", TABLE, before={"v": dts.date_time()}),
    ),
    "bytes not in UTF-8 before": (
        "not_utf8",
        "column note",
        change("DELETE", TABLE, before={"id": 1, "note": dts.character(b"\xc3", "utf8")}),
    ),
    "text object not in UTF-8": (
        "not_utf8",
        "column v: its text",
        value(v=dts.text_object(b"\xff")),  # type: ignore[arg-type]
    ),
    "name not in UTF-8": ("not_utf8", "a name", {**INSERT, "objectName": b"shop.\xff"}),
    "time out of range": (
        "bad_timestamp",
        "sourceTimestamp",
        {**INSERT, "sourceTimestamp": MILLIS},
    ),
    **{
        f"time of {seconds}": (
            "bad_timestamp",
            "sourceTimestamp",
            {**INSERT, "sourceTimestamp": seconds},
        )
        for seconds in (-2, -SECONDS, -(2**62), 253402300800)
    },
    "process time out of range": (
        "bad_timestamp",
        "processTimestamps",
        {**INSERT, "processTimestamps": [2**62]},
    ),
}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param(code, reason, id=name, marks=said(record))
        for name, (code, reason, record) in REJECTED.items()
    ],
)
def test_what_cannot_be_read_is_rejected_with_a_reason(
    row: Row, sent: bytes, code: str, reason: str
) -> None:
    check_is_rejected(row, sent, code)
    assert reason in row["reject_reason"]


#: One message with every kind of value, in which no byte may be missed.
EVERYTHING = change(
    "UPDATE",
    TABLE,
    before={f"c{n}": None for n in range(13)},
    after={
        f"c{n}": dts_value
        for n, dts_value in enumerate(
            [
                *(1, "text", Decimal("1.5"), 1.5, dts.timestamp(SECONDS), dts.date_time(**DATE)),
                *(dts.date_time_with_zone("Z", **CLOCK), dts.binary_geometry(b"\x00")),
                *(dts.text_geometry("P"), b"\x01", dts.text_object("{}"), dts.NULL, dts.NONE),
            ]
        )
    },
    processTimestamps=[MILLIS],
    key=["c0"],
)
WHOLE, BORN = encode(EVERYTHING), encode(EVERYTHING, born_timestamp=MILLIS)
CUT = [
    *(WHOLE[:end] for end in range(len(WHOLE))),
    *(BORN[:end] for end in range(len(WHOLE) + 1, len(BORN))),
]


@pytest.mark.said(
    *(WHOLE, BORN, encode(EVERYTHING, born_timestamp=0), encode(EVERYTHING, born_timestamp=-1))
)
def test_records_with_and_without_born_timestamp_are_read_alike(rows: Rows) -> None:
    whole, *born = [{**row, "offset": 0, "sequence": 0} for row in rows]
    assert whole["record_type"] == "change"
    assert born == [whole] * 3


@pytest.mark.said(*CUT)
def test_a_record_cut_off_at_any_byte_is_malformed(rows: Rows) -> None:
    codes = {end: row["reject_code"] for end, row in enumerate(rows)}
    assert len(codes) == len(CUT)
    assert {end: code for end, code in codes.items() if code != "malformed_avro"} == {}


HEAD = dts.varint(0) + dts.varint(1) + dts.varint(SECONDS)
#: A record as far as the branch of its image after: values.
IMAGE = encode({"fields": [("id", 3)]})[:-1] + dts.varint(2)
#: A record as far as the bytes of its first value: characters in utf8.
CHARACTERS = IMAGE + dts.varint(1) + dts.varint(2) + dts.varint(4) + b"utf8"
VAST = (2**31 - 20, 2**31 - 8, 2**40, 2**62, -5, -(2**31) + 20)
DAMAGED = {
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "byte behind": WHOLE + b"\x80",
    "two bytes behind": WHOLE + b"\x00\x00",
    "born timestamp and more": BORN + b"\x00",
    "unknown operation": encode({"operation": "NOOP"}).replace(b"8.0.36\x1e", b"8.0.36\x7e"),
    **{f"string of {length} bytes": HEAD + dts.varint(length) + b"abc" for length in VAST},
    **{f"image of {count} values": IMAGE + dts.varint(count) + b"abc" for count in VAST},
    **{f"characters in {length} bytes": CHARACTERS + dts.varint(length) for length in VAST},
}


@each_said(DAMAGED)
def test_bytes_that_are_no_record_are_malformed(row: Row) -> None:
    assert row["reject_code"] == "malformed_avro"


NOISE = 500


def noise() -> Iterator[bytes]:
    """Random bytes, and records in which random bytes are others."""
    dice = random.Random(20240209)
    for _ in range(NOISE):
        yield dice.randbytes(dice.randrange(200))
    for _ in range(1000):
        message = bytearray(dice.choice([WHOLE, BORN]))
        for _ in range(dice.randrange(1, 4)):
            message[dice.randrange(len(message))] = dice.randrange(256)
        yield bytes(message)


@pytest.mark.said(*noise())
def test_random_and_damaged_bytes_never_stop_the_run(rows: Rows) -> None:
    assert len(rows) == NOISE + 1000
    assert sum(row["record_type"] == "rejected" for row in rows) > NOISE
