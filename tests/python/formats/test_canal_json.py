"""Canal JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import canal_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import each_is_rejected, members, said

ES, TS = 1600161894000, 1600161894771
SWITCH = dt.datetime(2020, 9, 15, 9, 24, 56, tzinfo=dt.timezone.utc)
PARSE = partial(
    canal_json.parse,
    key_settings={"shop.set": ["name"], "shop.composite": ["id", "name"]},
    swapped_topics={"swapped": None, "switched": SWITCH, "another": None},
)

Row = dict[str, Any]
Rows = list[Row]


def message(type_: str, **members: Any) -> dict[str, Any]:
    """A message of `shop.orders`, as a Canal server writes it."""
    return {
        "data": None,
        "database": "shop",
        "es": ES,
        "gtid": "",
        "id": 58,
        "isDdl": False,
        "mysqlType": {"id": "bigint", "name": "varchar(20)"},
        "old": None,
        "pkNames": ["id"],
        "sql": "",
        "sqlType": {"id": -5, "name": 12},
        "table": "orders",
        "ts": TS,
        "type": type_,
        **members,
    }


VENDOR = {
    "database": "dbname",
    "es": ES,
    "id": 58,
    "isDdl": False,
    "mysqlType": {"id": "bigint", "shipping_type": "varchar"},
    "pkNames": ["id"],
    "sql": "",
    "sqlType": {"id": -5, "shipping_type": 12},
    "table": "tablename",
    "ts": TS,
    "type": "DELETE",
}
ROW, CHANGED = {"id": "1", "name": "a"}, {"id": "1", "name": "b"}
INSERT = message("INSERT", data=[ROW])
UPDATE = message("UPDATE", data=[CHANGED], old=[{"name": "a"}])
DELETE = message("DELETE", data=[CHANGED])


@said({**VENDOR, "data": [{"id": "500000287", "shipping_type": None}]})
def test_the_vendors_delete_has_its_row_in_data(row: Row) -> None:
    expected = {
        "record_type": "change",
        "event_id": f"canal_json:topic:0:{row['offset']}:0",
        "source_format": "canal_json",
        "source_type": "mysql",
        "database_name": "dbname",
        "schema_name": None,
        "table_name": "tablename",
        "table_id": "dbname.tablename",
        "op": "delete",
        "source_op": "DELETE",
        "key_columns": ["id"],
        "row_key": '{"id":"500000287"}',
        "previous_row_key": None,
        "before": {"id": "500000287", "shipping_type": None},
        "after": None,
        "unavailable_columns": [],
        "column_types": {"id": "bigint", "shipping_type": "varchar"},
        "event_at": dt.datetime(2020, 9, 15, 9, 24, 54),
        "published_at": dt.datetime(2020, 9, 15, 9, 24, 54, 771000),
        "transaction_id": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["sequence"]["position"] == Decimal(TS)


# The page shows the changed column alone; the row of an old delete has all columns.
OLD_DELETE = {**VENDOR, "old": [{"id": "500000287", "shipping_type": "aaa"}]}


@said(OLD_DELETE, {**OLD_DELETE, "data": None}, {**OLD_DELETE, "data": []})
def test_a_delete_of_the_old_kind_has_its_row_in_old(rows: Rows) -> None:
    assert len(rows) == 3
    for row in rows:
        assert (row["op"], row["source_op"]) == ("delete", "DELETE")
        assert row["before"] == {"id": "500000287", "shipping_type": "aaa"}
        assert row["after"] is None
        assert row["row_key"] == '{"id":"500000287"}'


@said(
    {
        "database": "dbname",
        "es": ES,
        "id": 58,
        "isDdl": True,
        "sql": "eg:createxxx",
        "table": "tablename",
        "ts": TS,
        "type": "DDL",
    }
)
def test_the_vendors_ddl_is_a_schema_change_with_its_statement(row: Row) -> None:
    assert (row["record_type"], row["source_op"]) == ("ddl", "DDL")
    assert (row["table_id"], row["ddl_text"]) == ("dbname.tablename", "eg:createxxx")
    assert row["is_truncation"] is False
    assert row["op"] is None


@said(INSERT)
def test_an_insert_has_a_row_after(row: Row) -> None:
    assert (row["op"], row["before"], row["after"]) == ("insert", None, ROW)


@said(UPDATE)
def test_an_update_lays_old_over_the_row_after(row: Row) -> None:
    assert (row["op"], row["before"], row["after"]) == ("update", ROW, CHANGED)
    assert row["previous_row_key"] is None


@said(message("INIT", data=[ROW]))
def test_a_full_load_is_a_snapshot(row: Row) -> None:
    assert (row["op"], row["source_op"], row["after"]) == ("snapshot", "INIT", ROW)


OF_THREE_ROWS = said(
    message(
        "UPDATE",
        data=[{"id": "1", "name": "x"}, {"id": "3", "name": None}, {"id": "4", "name": "z"}],
        old=[{"name": "w"}, {"id": "2", "name": "b"}, {}],
    )
)


@OF_THREE_ROWS
def test_the_rows_of_a_message_are_events_each_with_its_own_old(rows: Rows) -> None:
    first, second, third = rows
    assert [row["row_index"] for row in rows] == [0, 1, 2]
    assert first["before"] == {"id": "1", "name": "w"}
    assert second["before"] == {"id": "2", "name": "b"}
    assert third["before"] == third["after"] == {"id": "4", "name": "z"}
    assert len({row["event_id"] for row in rows}) == 3


@OF_THREE_ROWS
def test_a_key_change_names_the_old_key(rows: Rows) -> None:
    second = rows[1]
    assert (second["previous_row_key"], second["row_key"]) == ('{"id":"2"}', '{"id":"3"}')


@said(message("INSERT", data=ROW))
def test_an_object_in_data_stands_for_one_row(row: Row) -> None:
    assert row["after"] == ROW


JSON_EXPRESSION = {"id": "1", "name": "JSON_REPLACE(name, '$.a', 2)"}


@said(message("INSERT", data=[JSON_EXPRESSION]))
def test_a_text_may_look_like_a_change_of_a_json_value(row: Row) -> None:
    assert row["after"] == JSON_EXPRESSION


@said(message("UPDATE", data=[{"id": "1", "name": ""}], old=[{"name": None}]))
def test_null_and_empty_text_differ(row: Row) -> None:
    assert (row["before"]["name"], row["after"]["name"]) == (None, "")


@said(message("INSERT", data=[{"name": "b", "id": "1"}], pkNames=None, table="logs"))
def test_a_keyless_row_is_its_own_key(row: Row) -> None:
    assert (row["key_columns"], row["row_key"]) == ([], '{"id":"1","name":"b"}')


@said(message("INSERT", data=[ROW], pkNames=None, table="set"))
def test_the_project_sets_the_key_of_a_table_without_one(row: Row) -> None:
    assert (row["key_columns"], row["row_key"]) == (["name"], '{"name":"a"}')


@said(
    message("INSERT", data=[ROW], table="composite"),
    message("INSERT", data=[ROW], pkNames=["name", "id"], table="composite"),
    message("INSERT", data=[ROW], pkNames=["id", "other"], table="composite"),
    message(
        "UPDATE", data=[{"name": "b"}], old=[{"name": "a"}], pkNames=["name"], table="composite"
    ),
)
def test_a_declared_key_replaces_a_part_of_it(rows: Rows) -> None:
    part, whole, other, update = rows
    assert (part["key_columns"], part["row_key"]) == (["id", "name"], '{"id":"1","name":"a"}')
    assert whole["key_columns"] == ["name", "id"]
    # The image does not say in which row a part of the key changed.
    assert [row["reject_code"] for row in (other, update)] == ["missing_field"] * 2


@said(message("INSERT", data=[ROW], pkNames=["id", "id"]))
def test_a_key_column_that_is_named_twice_counts_once(row: Row) -> None:
    assert (row["key_columns"], row["row_key"]) == (["id"], '{"id":"1"}')


@said(message("UPDATE", data=[{"id": "1"}], old=[{"id": "1"}]))
def test_a_column_the_image_lacks_is_unavailable(row: Row) -> None:
    assert row["unavailable_columns"] == ["name"]
    assert row["after"] == {"id": "1"}


@said({**INSERT, "extra": {"deep": [1, {"x": 2}]}, "_tags": "x"})
def test_unknown_fields_are_ignored(row: Row) -> None:
    assert row["after"] == ROW


@pytest.mark.parametrize(
    "image",
    [
        pytest.param(image, marks=said(message("INSERT", data=[image])))
        for image in (
            {"id": "9223372036854775807123", "name": "1.10"},
            {"id": 9007199254740993, "name": True},
        )
    ],
)
def test_values_keep_their_digits_and_types(row: Row, image: Row) -> None:
    assert row["after"] == image


@said(message("INSERT", data=[ROW], es=-1, ts=None))
def test_unknown_times_are_null(row: Row) -> None:
    assert (row["event_at"], row["published_at"]) == (None, None)
    assert row["sequence"]["position"] is None


@said(message("INSERT", data=[ROW], ts=-1), {k: v for k, v in INSERT.items() if k != "ts"})
def test_a_message_without_a_write_time_has_no_position(rows: Rows) -> None:
    for row in rows:
        assert (row["published_at"], row["sequence"]["position"]) == (None, None)
        assert row["after"] == ROW
    assert len(rows) == 2


@said(message("INSERT", data=[ROW], es=str(ES), ts=str(TS), isDdl="false"))
def test_numbers_may_come_as_texts(row: Row) -> None:
    assert row["sequence"]["position"] == Decimal(TS)
    assert row["event_at"] == dt.datetime(2020, 9, 15, 9, 24, 54)


@said(message("UPDATE", data=[ROW], old=None))
def test_an_update_without_old_changed_nothing_that_its_message_has(row: Row) -> None:
    assert row["before"] == row["after"] == ROW


@said(message("UPDATE", data=CHANGED, old={"name": "a"}))
def test_an_object_in_old_belongs_to_the_object_in_data(row: Row) -> None:
    assert (row["before"], row["after"]) == (ROW, CHANGED)


PART_OF_TYPES = message("INSERT", data=[ROW], mysqlType={"id": "bigint"})


@pytest.mark.parametrize(
    "lists_all_columns",
    [
        pytest.param(lists_all, id=name, marks=said(value))
        for name, value, lists_all in [
            ("insert", INSERT, True),
            ("full load", message("INIT", data=[ROW]), True),
            ("insert with defaults", message("INSERT", data=[{"id": "1"}]), True),
            ("types of some columns", PART_OF_TYPES, False),
            ("update", UPDATE, False),
            ("minimal image", message("UPDATE", data=[{"id": "1"}], old=[{"id": "1"}]), False),
            ("delete", DELETE, False),
            (
                "delete of the key",
                message("DELETE", data=[{"id": "1"}], mysqlType={"id": "bigint"}),
                False,
            ),
        ]
    ],
)
def test_only_inserts_and_snapshot_rows_list_all_columns(row: Row, lists_all_columns: bool) -> None:
    assert row["lists_all_columns"] is lists_all_columns


@said(message("INSERT", data=[ROW], mysqlType=None, sqlType=None))
def test_a_row_without_types_has_all_its_columns(row: Row) -> None:
    assert (row["after"], row["column_types"], row["unavailable_columns"]) == (ROW, None, [])
    assert row["lists_all_columns"] is True
    assert row["source_type"] == "mysql"


@said(PART_OF_TYPES)
def test_a_column_whose_type_is_left_out_is_listed_without_one(row: Row) -> None:
    assert row["column_types"] == {"id": "bigint", **dict.fromkeys(ROW.keys() - {"id"})}
    assert row["unavailable_columns"] == []


@pytest.mark.parametrize(
    "source_type",
    [
        pytest.param(
            source_type,
            marks=said(message("INSERT", data=[ROW], mysqlType={"id": number, "name": text})),
        )
        for source_type, number, text in [
            ("mysql", "bigint", "varchar(20)"),
            ("postgresql", "int4", "varchar"),
            ("oracle", "NUMBER", "VARCHAR2"),
        ]
    ],
)
def test_type_names_report_the_kind_of_database(row: Row, source_type: str) -> None:
    assert row["source_type"] == source_type


@pytest.mark.parametrize(
    "gtid",
    [
        pytest.param(gtid, marks=said(message("INSERT", data=[ROW], gtid=gtid)))
        # of MariaDB; of MySQL by DTS; the set of all transactions, of MySQL by a Canal server
        for gtid in ("0-101-7", "3e11fa47:7", "3e11fa47:1-7,9a51c04d:1-3")
    ],
)
def test_a_gtid_is_the_transaction(row: Row, gtid: str) -> None:
    assert row["transaction_id"] == gtid


@said(
    message("QUERY", database="", table="", mysqlType=None, sqlType=None, sql="UPDATE orders SET …")
)
def test_an_annotated_statement_is_no_row_and_no_reject(row: Row) -> None:
    assert members(row, "record_type", "source_op", "source_type") == ("transaction", "QUERY", None)
    assert row["ddl_text"] == "UPDATE orders SET …"


@said(message("INSERT", data=[{"id": "1", "name": "a\u2028b\u007f"}]))
def test_a_line_separator_is_text(row: Row) -> None:
    assert row["after"]["name"] == "a\u2028b\u007f"


#: name -> (reject code, message)
REJECTED = {
    "no type": ("missing_field", message("INSERT", type=None, data=[ROW])),
    "no table": ("missing_field", message("INSERT", table=None, data=[ROW])),
    "empty table": ("missing_field", message("INSERT", table="", data=[ROW])),
    "key column not in the image": ("missing_field", message("INSERT", data=[{"name": "a"}])),
    "key column not in one of the rows": (
        "missing_field",
        message("INSERT", data=[ROW, {"name": "a"}, ROW]),
    ),
    "unknown type": ("unknown_op", message("UPSERT", data=[ROW])),
    "lower case type": ("unknown_op", message("insert", data=[ROW])),
    "no data": ("missing_image", message("INSERT")),
    "no rows": ("missing_image", message("UPDATE", data=[], old=[])),
    "a row that is no object": ("missing_image", message("INSERT", data=["x"])),
    "a partial change of a JSON column, with its type in capitals": (
        "missing_image",
        message(
            "UPDATE",
            data=[JSON_EXPRESSION],
            old=[{"name": '{"a": 1, "b": 2}'}],
            mysqlType={"id": "BIGINT", "name": "JSON"},
        ),
    ),
    "a partial change of a JSON column": (
        "missing_image",
        message(
            "UPDATE",
            data=[JSON_EXPRESSION],
            old=[{"name": '{"a": 1, "b": 2}'}],
            mysqlType={"id": "bigint", "name": "json"},
        ),
    ),
    "delete without a row": ("missing_image", message("DELETE")),
    "more old rows than rows": ("missing_image", message("UPDATE", data=[ROW], old=[{}, {}])),
    "fewer old rows than rows": (
        "missing_image",
        message("UPDATE", data=[ROW, {"id": "20", "name": "b"}], old=[{"id": "2"}]),
    ),
    "fewer old rows than rows, keyless": (
        "missing_image",
        message("UPDATE", data=[ROW, CHANGED], old=[{"name": "b"}], pkNames=None, table="logs"),
    ),
    "null in the place of a row": ("missing_image", message("INSERT", data=[None, ROW])),
    "an empty old beside rows": ("missing_image", message("UPDATE", data=[ROW], old=[])),
    "an old row that is no object": ("missing_image", message("UPDATE", data=[ROW], old=["a"])),
    "an old row that is null": (
        "missing_image",
        message("UPDATE", data=[ROW, CHANGED], old=[{"name": "x"}, None]),
    ),
    "an old that is a text": ("missing_image", message("UPDATE", data=[ROW], old="a")),
    "a keyless row without columns": (
        "missing_image",
        message("INSERT", data=[{}], pkNames=None, table="logs"),
    ),
    "a keyless row without columns among others": (
        "missing_image",
        message("DELETE", data=[ROW, {}], pkNames=None, table="logs"),
    ),
    "es beyond year 9999": ("bad_timestamp", message("INSERT", data=[ROW], es=10**15)),
    "es in seconds": ("bad_timestamp", message("INSERT", data=[ROW], es=ES // 1000)),
    "ts in seconds": ("bad_timestamp", message("INSERT", data=[ROW], ts=TS // 1000)),
    "ts is no time": ("bad_timestamp", message("INSERT", data=[ROW], ts="soon")),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)


STATEMENT = message("DELETE", sql="DELETE FROM `shop`.`sessions`", mysqlType=None, pkNames=None)
#: As a Canal server publishes statements that it cannot parse.
UNPARSED = message("QUERY", isDdl=True, database="", table="", mysqlType=None, pkNames=None)
ROW_STATEMENTS = (
    "INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a",
    "insert into t values (1) returning a",
    "/* by me */ DELETE FROM t RETURNING a",
    "WITH x AS (SELECT 1) DELETE FROM t WHERE a IN (SELECT * FROM x)",
    "update t for portion of p from 1 to 2 set a = 1",
    "SET STATEMENT max_statement_time = 1 FOR INSERT INTO t VALUES (1)",
    "replace into t values (next value for s)",
)


@said(
    STATEMENT,
    # of several tables
    {**STATEMENT, "table": "", "sql": "delete t1, t2 from t1 inner join t2"},
    {**STATEMENT, "database": "", "table": ""},
    *({**UNPARSED, "sql": sql} for sql in ROW_STATEMENTS),
)
def test_a_statement_instead_of_rows_says_what_to_set(rows: Rows) -> None:
    assert len(rows) == 3 + len(ROW_STATEMENTS)
    for row in rows:
        assert (row["reject_code"], row["ddl_text"]) == ("missing_image", None)
        assert "`binlog_format` ROW" in row["reject_reason"]


@said(*({**UNPARSED, "isDdl": False, "sql": sql} for sql in ROW_STATEMENTS))
def test_the_annotation_of_rows_that_follow_is_no_reject(rows: Rows) -> None:
    assert [row["record_type"] for row in rows] == ["transaction"] * len(ROW_STATEMENTS)


#: A Canal server does not escape the values of user variables.
VARIABLES = (
    "SET @note := 'it's; truncate table orders'",
    "SET @name := 'O'Brien; drop table orders; '",
    "SET @name := 'O'Brien; alter table orders drop column note -- '",
)


@said(*({**UNPARSED, "isDdl": False, "sql": sql} for sql in VARIABLES))
def test_the_text_of_a_user_variable_changes_no_table(rows: Rows) -> None:
    assert [
        members(row, "record_type", "is_truncation", "table_changes", "ddl_text") for row in rows
    ] == [("transaction", False, None, sql) for sql in VARIABLES]


@said(
    {**UNPARSED, "sql": "create or replace table t select 1"},
    {
        **UNPARSED,
        "sql": "set statement max_statement_time = 1 for alter table t comment 'for update'",
    },
)
def test_other_statements_that_the_server_cannot_parse_are_schema_changes(rows: Rows) -> None:
    assert [row["record_type"] for row in rows] == ["ddl", "ddl"]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, marks=said(message(code, data=[ROW], isDdl=True, sql="x")))
        for code in source_ops("canal_json")
        if " " not in code
    ],
)
def test_every_op_has_its_kind_of_record(row: Row, code: str) -> None:
    record_type, op, is_truncation = source_ops("canal_json")[code]
    assert (row["record_type"], row["op"], row["is_truncation"]) == (record_type, op, is_truncation)


@pytest.mark.parametrize(
    "is_truncation",
    [
        pytest.param(is_truncation, id=sql, marks=said(message("DDL", isDdl=True, sql=sql)))
        for sql, is_truncation in {
            "truncate table t": True,
            "/* a */ TRUNCATE t": True,
            "DROP TABLE `t`": True,
            "drop index i on t": False,
            "alter table t drop column c": False,
        }.items()
    ],
)
def test_a_statement_that_empties_the_table_ends_its_rows(row: Row, is_truncation: bool) -> None:
    assert row["is_truncation"] is is_truncation


NAMELESS = message("DDL", isDdl=True, database="shop", table="")


@said(
    *(
        {**NAMELESS, "sql": sql}
        for sql in (
            "truncate orders",
            "TRUNCATE TABLE `orders`",
            "/* a */ truncate table shop.orders",
            'truncate table only "orders"',
            "drop table if exists [shop].[orders]",
            "DROP TABLE `orders` /* generated by server */",
        )
    )
)
def test_a_statement_names_the_table_that_its_message_does_not(rows: Rows) -> None:
    assert [(row["is_truncation"], row["table_id"]) for row in rows] == [(True, "shop.orders")] * 6


@said(*({**UNPARSED, "isDdl": is_ddl, "sql": "truncate a, b"} for is_ddl in (True, False)))
def test_a_statement_that_the_server_cannot_parse_is_a_schema_change(rows: Rows) -> None:
    assert len(rows) == 2
    for row in rows:
        assert members(row, "record_type", "source_op", "is_truncation") == ("ddl", "QUERY", True)
        assert [change["table_name"] for change in row["table_changes"]] == ["a", "b"]


DROP_COLUMN = "ALTER TABLE orders DROP COLUMN name, DROP CHECK x"


@said(
    {**UNPARSED, "sql": DROP_COLUMN},
    {**UNPARSED, "sql": DROP_COLUMN, "isDdl": False},
    message("ALTER", isDdl=True, sql=DROP_COLUMN),
    message("QUERY", isDdl=True, sql=DROP_COLUMN),
)
def test_a_server_that_cannot_parse_an_alter_keeps_the_old_columns(rows: Rows) -> None:
    changes = [[change["change"] for change in row["table_changes"]] for row in rows]
    assert changes == [["column_drop", "not_applied"], *[["column_drop"]] * 3]


@said(message("XAROLLBACK", table=""))
def test_a_rollback_of_published_rows_is_not_applied(row: Row) -> None:
    assert (row["record_type"], row["is_truncation"]) == ("transaction", False)
    assert [change["change"] for change in row["table_changes"]] == ["not_applied"]


THREE_ROWS = json.dumps(
    message(
        "UPDATE",
        data=[{"id": str(number), "name": "x"} for number in range(3)],
        old=[{"name": "w"}] * 3,
    )
).encode()


@said(THREE_ROWS, canal_json.without_rows(THREE_ROWS, {0, 2}))
def test_an_erased_row_leaves_the_others_of_its_message_as_they_were(rows: Rows) -> None:
    before, (first, second, third) = rows[:3], rows[3:]
    place = {"offset", "event_id", "sequence"}
    for name in second.keys() - place:
        assert second[name] == before[1][name], name
    for erased, row_index in ((first, 0), (third, 2)):
        assert (erased["record_type"], erased["row_index"]) == ("tombstone", row_index)
        content = ("row_key", "before", "after", "value", "reject_code", "op", "event_id")
        assert [erased[column] for column in content] == [None] * len(content)


# --- Topics with swapped images ------------------------------------------------------------------

SWAPPED = message("UPDATE", data=[ROW], old=[CHANGED])
LATE = 60_000


@said(UPDATE, topic="swapped")
def test_a_part_of_a_row_in_old_shows_that_a_topic_is_no_longer_swapped(row: Row) -> None:
    assert row["reject_code"] == "missing_image"
    assert "`swapped_canal_topics`" in row["reject_reason"]


@said(
    {**SWAPPED, "ts": 1600161895999},
    {**UPDATE, "ts": 1600161896000},
    # Read from the log before the restart, written after it.
    {**UPDATE, "es": ES - LATE, "ts": 1600161896001},
    {**SWAPPED, "es": ES + LATE, "ts": 1600161895998},
    topic="switched",
)
def test_a_swapped_topic_has_the_row_after_in_old_until_its_time_of_writing(rows: Rows) -> None:
    assert [(row["before"], row["after"]) for row in rows] == [(ROW, CHANGED)] * 4


@said({**SWAPPED, "ts": -1}, {**INSERT, "ts": None}, topic="switched")
def test_an_update_without_a_write_time_is_rejected_where_the_time_decides(rows: Rows) -> None:
    update, insert = rows
    assert (update["reject_code"], insert["op"]) == ("missing_field", "insert")
    assert "`ts`" in update["reject_reason"]


@said({**SWAPPED, "ts": -1}, topic="swapped")
def test_an_update_without_a_write_time_is_read_where_the_topic_decides(row: Row) -> None:
    assert (row["before"], row["after"]) == (ROW, CHANGED)


@said(
    {**SWAPPED, "data": None},
    {**SWAPPED, "old": None},
    {**SWAPPED, "data": [ROW, ROW]},
    {**SWAPPED, "data": []},
    {**SWAPPED, "data": ["x"]},
    {**SWAPPED, "old": ["x"]},
    topic="swapped",
)
def test_an_update_of_a_swapped_topic_needs_both_images_of_each_row(rows: Rows) -> None:
    assert [row["reject_code"] for row in rows] == ["missing_image"] * 6


SWAPPED_ROWS = json.dumps(message("UPDATE", data=[ROW, ROW], old=[CHANGED, CHANGED])).encode()


@said(canal_json.without_rows(SWAPPED_ROWS, {0}), topic="swapped")
def test_a_swapped_message_loses_its_row_too(rows: Rows) -> None:
    first, second = rows
    assert (first["record_type"], first["row_key"]) == ("tombstone", None)
    assert (second["before"], second["after"]) == (ROW, CHANGED)
