"""Messages of the shapes on which Apache Paimon tests its Canal and Aliyun formats.

The shapes are those of its public fixtures; names, rows and values are ours.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.python.harness.manifest import ROOT
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import QUARANTINED_MESSAGES, Stages

pytestmark = pytest.mark.thorough

Message = Mapping[str, Any]
TS = 1_683_006_724_000


@dataclass(frozen=True)
class Case:
    """Messages by topic, the rows of tables at last, and why messages are quarantined."""

    source_format: str
    topics: Mapping[str, Sequence[Message]]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    reject_codes: Sequence[str] = ()


def canal(
    table: str,
    type_: str,
    second: int,
    data: list[Message] | None,
    types: Mapping[str, str] | None = None,
    old: list[Message] | None = None,
    **members: Any,
) -> Message:
    return {
        "data": data,
        "database": "evolving",
        "es": TS + second * 1000,
        "id": second,
        "isDdl": False,
        "mysqlType": types,
        "old": old,
        "pkNames": ["k"],
        "sql": "",
        "sqlType": None if types is None else dict.fromkeys(types, 12),
        "table": table,
        "ts": TS + second * 1000 + 306,
        "type": type_,
        **members,
    }


def ddl(table: str, second: int, sql: str, type_: str = "ALTER") -> Message:
    return canal(table, type_, second, None, isDdl=True, sql=sql, pkNames=None)


def aliyun(sequence: int, op: str, before: Message | None, after: Message | None) -> Message:
    names = {"id": "LONG", "val": "DOUBLE", "name": "STRING", "create_time": "DATE"}
    return {
        "schema": {
            "dataColumn": [{"name": name, "type": type_} for name, type_ in names.items()],
            "primaryKey": ["id"],
            "source": {"dbType": "MySQL", "dbName": "evolving", "tableName": "synced"},
        },
        "payload": {
            "before": None if before is None else {"dataColumn": before},
            "after": None if after is None else {"dataColumn": after},
            "sequenceId": f"17316638422920000{sequence:02}",
            "timestamp": {"eventTime": TS, "systemTime": TS + 900, "checkpointTime": TS},
            "op": op,
            "ddl": None,
        },
        "version": "0.0.1",
    }


#: The types of Paimon's table of all MySQL types, in spellings that Canal servers publish.
MYSQL_TYPES = {
    "bit(1)": "1",
    "bit(64)": "9223372036854775809",
    "boolean": "1",
    "bool": "2",
    "tinyint(1)": "1",
    "tinyint": "1",
    "tinyint unsigned": "255",
    "tinyint unsigned zerofill": "007",
    "smallint": "-32768",
    "smallint unsigned": "65535",
    "smallint unsigned zerofill": "00019",
    "mediumint": "-8388608",
    "mediumint unsigned": "16777215",
    "mediumint unsigned zerofill": "00000017",
    "int": "-2147483648",
    "int unsigned": "4294967295",
    "int unsigned zerofill": "0000000005",
    "integer": "10",
    "bigint": "-9223372036854775808",
    "bigint unsigned": "18446744073709551615",
    "bigint unsigned zerofill": "00000000000000000012",
    "serial": "40000000000",
    "float": "1.5",
    "float unsigned": "1.000011",
    "float unsigned zerofill": "000001.00111",
    "real": "1.000011",
    "real unsigned": "1.000111",
    "real unsigned zerofill": "0000000000000001.000007",
    "double": "1.000011",
    "double unsigned": "1.000111",
    "double unsigned zerofill": "0000000000000001.000007",
    "double precision": "1.000011",
    "double precision unsigned": "1.000111",
    "double precision unsigned zerofill": "0000000000000001.000007",
    "numeric(8,3)": "12345.110",
    "numeric(8,3) unsigned": "12345.220",
    "numeric(8,3) unsigned zerofill": "12345.330",
    "numeric(38,9)": "123456789876543212345678987.654321234",
    "fixed(40,0)": "1234567890123456789012345678901234567890",
    "fixed(40,0) unsigned": "0",
    "fixed(40,0) unsigned zerofill": "0000000000000000000000000000000000000008",
    "decimal(8,0)": "11111",
    "decimal(8,0) unsigned": "22222",
    "decimal(8,0) unsigned zerofill": "00033333",
    "decimal(18,3)": "-2147483649.110",
    "decimal": "11111",
    "date": "2023-03-23",
    "datetime": "2023-03-23 14:30:05",
    "datetime(3)": "2023-03-23 14:30:05.123",
    "datetime(6)": "2023-03-24 14:30:05.123456",
    "timestamp": "2023-03-23 15:00:10",
    "timestamp(3)": "2023-03-23 00:10:00.123",
    "timestamp(6)": "2023-03-23 15:00:10.123456",
    "char(10)": "Paimon",
    "varchar(10)": "Apache Pa",
    "text": "Apache\u2028Paimon",
    "tinytext": "",
    "mediumtext": "medium",
    "longtext": "long",
    "binary(10)": "byte",
    "varbinary(10)": "ÿþ\u0080",
    "tinyblob": "tiny",
    "blob": "\u0000\u0001",
    "mediumblob": "medium",
    "longblob": "long",
    "json": '{"a": "b"}',
    "enum('value1','value2','value3')": "1",
    "year": "2023",
    "time": "10:13:23",
    "time(6)": "-838:59:58.999999",
    "point": "\u0000\u0000\u0000\u0000\u0001\u0001",
    "geometry": "\u0000",
    "linestring": "\u0000",
    "polygon": "\u0000",
    "set('a','b','c','d')": "3",
}
ALL_TYPES = {f"c{number}": type_ for number, type_ in enumerate(MYSQL_TYPES)}
ALL_VALUES = {name: MYSQL_TYPES[type_] for name, type_ in ALL_TYPES.items()}

INT_TEXT = {"k": "INT", "v1": "VARCHAR(10)"}
WIDER = {**INT_TEXT, "v2": "INT"}
A, B = {"k": "1", "v1": "one"}, {"k": "2", "v1": "two"}
MANY = {"k": "2", "v1": "two", "v2": "40000000000", "v3": "2023-03-23 14:30:05.123", "v4": None}
MANY_TYPES = {"k": "INT", "v1": "VARCHAR(20)", "v2": "BIGINT", "v3": "DATETIME(3)", "v4": "TEXT"}
PAID = {"id": 2, "val": "1.100000", "name": "a", "create_time": 1731661114000}

CASES = {
    "75 types of columns": Case(
        "canal_json",
        {"all_types": [canal("all_types", "INSERT", 1, [{"k": "1", **ALL_VALUES}], ALL_TYPES)]},
        {"evolving.all_types": [{"k": "1", **ALL_VALUES}]},
    ),
    "a column is added, and another one becomes wider, by a statement": Case(
        "canal_json",
        {
            "with_ddl": [
                canal("with_ddl", "INSERT", 1, [A, B], INT_TEXT),
                ddl("with_ddl", 2, "ALTER TABLE with_ddl ADD COLUMN v2 INT"),
                canal("with_ddl", "INSERT", 3, [{"k": "3", "v1": "three", "v2": "30"}], WIDER),
                ddl("with_ddl", 4, "ALTER TABLE with_ddl MODIFY COLUMN v2 BIGINT"),
                canal(
                    "with_ddl",
                    "UPDATE",
                    5,
                    [{"k": "1", "v1": "first", "v2": None}],
                    {**WIDER, "v2": "BIGINT"},
                    [{"v1": "one"}],
                ),
                canal(
                    "with_ddl",
                    "INSERT",
                    6,
                    [{"k": "4", "v1": "four", "v2": "40000000000"}],
                    {**WIDER, "v2": "BIGINT"},
                ),
            ]
        },
        {
            "evolving.with_ddl": [
                {"k": "1", "v1": "first", "v2": None},
                B,
                {"k": "3", "v1": "three", "v2": "30"},
                {"k": "4", "v1": "four", "v2": "40000000000"},
            ]
        },
    ),
    "one statement adds, widens and drops columns": Case(
        "canal_json",
        {
            "many_actions": [
                canal("many_actions", "INSERT", 1, [{**A, "v0": "x"}], {**INT_TEXT, "v0": "TEXT"}),
                ddl(
                    "many_actions",
                    2,
                    "ALTER TABLE many_actions ADD v2 INT, MODIFY v1 VARCHAR(20), DROP COLUMN v0,"
                    " ADD COLUMN (v3 DATETIME(3), v4 VARCHAR(50)), MODIFY COLUMN v2 BIGINT",
                ),
                canal("many_actions", "INSERT", 3, [MANY], MANY_TYPES),
            ]
        },
        {"evolving.many_actions": [A, MANY]},
    ),
    "a key that the image has in another letter case": Case(
        "canal_json",
        {
            "letter_case": [
                canal("letter_case", "INSERT", 1, [{"K": "1"}], {"K": "INT"}, pkNames=["k"])
            ]
        },
        {"evolving.letter_case": []},
        ["missing_field"],
    ),
    "columns come without a statement": Case(
        "canal_json",
        {
            "without_ddl": [
                canal("without_ddl", "INSERT", 1, [A, B], INT_TEXT),
                canal("without_ddl", "INSERT", 2, [{"k": "3", "v1": "x", "v2": "30"}], WIDER),
                canal(
                    "without_ddl",
                    "UPDATE",
                    3,
                    [{"k": "2", "v1": "second", "v2": None}],
                    WIDER,
                    [{"v1": "two"}],
                ),
                canal("without_ddl", "DELETE", 4, [{"k": "3", "v1": "x", "v2": "30"}], WIDER),
            ]
        },
        {"evolving.without_ddl": [A, {"k": "2", "v1": "second", "v2": None}]},
    ),
    "several tables share a topic, and one table two topics": Case(
        "canal_json",
        {
            "mixed_1": [
                canal("t1", "INSERT", 1, [A], INT_TEXT),
                canal("t2", "INSERT", 2, [B], INT_TEXT),
            ],
            "mixed_2": [
                canal("t1", "INSERT", 3, [B], INT_TEXT),
                canal("t2", "UPDATE", 4, [{**B, "v1": "2"}], INT_TEXT, [{"v1": "two"}]),
            ],
        },
        {"evolving.t1": [A, B], "evolving.t2": [{"k": "2", "v1": "2"}]},
    ),
    "shards of one table are tables of their databases": Case(
        "canal_json",
        {
            "shards": [
                canal("t", "INSERT", 1, [A], INT_TEXT, database="shard_1"),
                canal("t", "INSERT", 2, [{**A, "v1": "other"}], INT_TEXT, database="shard_2"),
            ]
        },
        {"shard_1.t": [A], "shard_2.t": [{**A, "v1": "other"}]},
    ),
    "equal rows of a table without a key": Case(
        "canal_json",
        {
            "keyless": [
                canal("keyless", "INSERT", second, [{"v0": "five", "v1": "50"}], None, pkNames=[])
                for second in (1, 2)
            ]
        },
        {"evolving.keyless": [{"v0": "five", "v1": "50"}] * 2},
    ),
    "an insert with an empty list of old rows": Case(
        "canal_json",
        {"old_empty": [canal("old_empty", "INSERT", 1, [A], INT_TEXT, [])]},
        {"evolving.old_empty": [A]},
    ),
    "values that are numbers": Case(
        "canal_json",
        {
            "numbers": [
                canal("numbers", "INSERT", 1, [{"k": 1, "v1": 10}], INT_TEXT),
                canal("numbers", "UPDATE", 2, [{"k": 1, "v1": 20}], INT_TEXT, [{"v1": 10}]),
            ]
        },
        {"evolving.numbers": [{"k": 1, "v1": 20}]},
    ),
    "messages that name no table": Case(
        "canal_json",
        {"nameless": [{"data": [{"k": "1", "v": "Hi"}], "type": "INSERT"}]},
        {},
        ["missing_field"],
    ),
    "inserts, updates in one message and deletes of DataWorks": Case(
        "dataworks_json",
        {
            "aliyun": [
                aliyun(1, "INSERT", None, {**PAID, "id": 1}),
                aliyun(2, "INSERT", None, PAID),
                aliyun(3, "UPDATE_AFTER", PAID, {**PAID, "val": "2.200000"}),
                aliyun(4, "DELETE", {**PAID, "id": 1}, None),
            ]
        },
        {"evolving.synced": [{**PAID, "val": "2.200000"}]},
    ),
}


def land(project: Project, run: int) -> None:
    """All in the first run."""
    for case in CASES.values() if run == 0 else ():
        for topic, messages in case.topics.items():
            values = [json.dumps(message, ensure_ascii=False).encode() for message in messages]
            project.land(
                case.source_format, [Landed(topic, o, value) for o, value in enumerate(values)]
            )


@pytest.mark.parametrize("name", CASES)
def test_tables_hold_what_their_messages_say(stages: Stages, name: str) -> None:
    case = CASES[name]
    for table_id, rows in case.rows.items():
        found = stages.last.state(case.source_format, table_id)
        assert sorted(found, key=json.dumps) == sorted(rows, key=json.dumps)


@pytest.mark.parametrize("name", CASES)
def test_what_can_not_be_read_is_quarantined_and_nothing_else(stages: Stages, name: str) -> None:
    case = CASES[name]
    quarantined = stages.last.rows[QUARANTINED_MESSAGES]
    codes = [message["reject_code"] for message in quarantined if message["topic"] in case.topics]
    assert codes == list(case.reject_codes)


@pytest.mark.parametrize("type_", MYSQL_TYPES)
def test_each_type_is_in_the_code_table_once(type_: str) -> None:
    with (ROOT / "seeds/code_tables/source_types.csv").open(encoding="utf-8", newline="") as rows:
        patterns = [
            row["type_pattern"] for row in csv.DictReader(rows) if row["type_system"] == "mysql"
        ]
    assert len([p for p in patterns if re.fullmatch(p, type_, re.IGNORECASE)]) == 1
