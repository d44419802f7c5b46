"""Every row of the code table: a value of that source type, and what the mart holds of it."""

from __future__ import annotations

import base64
import csv
import datetime as dt
import re
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from pyspark.sql import Row

from tests.python.harness.manifest import ROOT
from tests.python.typed.folded import Folded, declared

pytestmark = pytest.mark.thorough

CODE_TABLE = ROOT / "seeds" / "code_tables" / "source_types.csv"

UTC = dt.timezone.utc


class Example(NamedTuple):
    """A column of some source type, as published, and as it is in the mart.

    `column_type`: a name, or (name, parameters of a Connect type).
    """

    column_type: str | tuple[str, Any]
    published: Any
    spark_type: str
    value: Any

    @property
    def type_name(self) -> str:
        return self.column_type if isinstance(self.column_type, str) else self.column_type[0]


def base64_of(number: int, size: int) -> str:
    return base64.b64encode(number.to_bytes(size, "big", signed=True)).decode()


def day(text: str) -> dt.date:
    return dt.date.fromisoformat(text)


def local(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


CONNECT = "org.apache.kafka.connect.data."
TIME = "io.debezium.time."
DATA = "io.debezium.data."

CONNECT_EXAMPLES = [
    Example("boolean", True, "boolean", True),
    Example("int8", -128, "int", -128),
    Example("int16", 32767, "int", 32767),
    Example("int32", -2147483648, "int", -2147483648),
    Example("int64", 9223372036854775807, "bigint", 9223372036854775807),
    Example("float", 0.1, "float", 0.10000000149011612),
    Example("float32", "NaN", "float", "nan"),
    Example("double", 0.1, "double", 0.1),
    Example("float64", "-Infinity", "double", float("-inf")),
    Example("string", 'O\'Neill "née" \\ 李', "string", 'O\'Neill "née" \\ 李'),
    Example("string", 12.5, "string", "12.5"),
    Example("bytes", "AAH/", "binary", bytearray(b"\0\1\xff")),
    Example("struct", {"x": 1}, "variant", '{"x":1}'),
    Example("map", {"a": "b"}, "variant", '{"a":"b"}'),
    Example(f"{CONNECT}Date", -1, "date", day("1969-12-31")),
    Example(f"{CONNECT}Time", 3723004, "string", "01:02:03.004"),
    Example(
        f"{CONNECT}Timestamp",
        1709276460001,
        "timestamp",
        local("2024-03-01T07:01:00.001"),
    ),
    Example(
        (f"{CONNECT}Decimal", {"scale": "2", "connect.decimal.precision": "12"}),
        base64_of(-1234567, 3),
        "decimal(12,2)",
        Decimal("-12345.67"),
    ),
    Example(
        (f"{CONNECT}Decimal", {"scale": "3"}), base64_of(5, 1), "decimal(38,3)", Decimal("0.005")
    ),
    Example((f"{CONNECT}Decimal", {"scale": "0"}), base64_of(0, 1), "decimal(38,0)", Decimal(0)),
    # a converter that writes numbers
    Example((f"{CONNECT}Decimal", {"scale": "2"}), 12.5, "decimal(38,2)", Decimal("12.50")),
    # likewise, of more digits than a VARIANT holds: a text, which could also be base64
    Example(
        (f"{CONNECT}Decimal", {"scale": "0", "connect.decimal.precision": "65"}),
        "1234567890" * 4,
        "string",
        "1234567890" * 4,
    ),
    # more digits than Spark has
    Example(
        (f"{CONNECT}Decimal", {"scale": "30", "connect.decimal.precision": "65"}),
        base64_of(10**30, 13),
        "string",
        "1.000000000000000000000000000000",
    ),
    Example(
        (f"{CONNECT}Decimal", {"scale": "30", "connect.decimal.precision": "65"}),
        base64_of(-(10**64) - 5, 28),
        "string",
        "-10000000000000000000000000000000000.000000000000000000000000000005",
    ),
    Example(f"{TIME}Date", 19783, "date", day("2024-03-01")),
    Example(f"{TIME}Time", 86399999, "string", "23:59:59.999"),
    Example(f"{TIME}MicroTime", -45015250000, "string", "-12:30:15.25"),
    Example(f"{TIME}MicroTime", 3020399000000, "string", "838:59:59"),
    Example(f"{TIME}NanoTime", 1000000001, "string", "00:00:01.000000001"),
    Example(f"{TIME}Timestamp", -1, "timestamp_ntz", local("1969-12-31T23:59:59.999")),
    Example(
        f"{TIME}MicroTimestamp",
        253402300799999999,
        "timestamp_ntz",
        local("9999-12-31T23:59:59.999999"),
    ),
    Example(
        f"{TIME}NanoTimestamp",
        1709276460000001000,
        "timestamp_ntz",
        local("2024-03-01T07:01:00.000001"),
    ),
    Example(
        f"{TIME}ZonedTimestamp",
        "2024-03-01T07:01:00.5+08:00",
        "timestamp",
        local("2024-02-29T23:01:00.5"),
    ),
    # isostring: times without a zone, written as if they were in UTC
    Example(f"{TIME}IsoDate", "2017-09-15Z", "date", day("2017-09-15")),
    Example(f"{TIME}IsoTime", "10:15:30.25Z", "string", "10:15:30.25"),
    Example(
        f"{TIME}IsoTimestamp",
        "2024-03-01T07:01:00.123456Z",
        "timestamp_ntz",
        local("2024-03-01T07:01:00.123456"),
    ),
    Example(f"{TIME}ZonedTime", "22:36:51.53+08:00", "string", "22:36:51.53+08:00"),
    Example(f"{TIME}Year", 1901, "int", 1901),
    Example(f"{TIME}Interval", "P1Y2M", "string", "P1Y2M"),
    Example(f"{TIME}MicroDuration", -1, "bigint", -1),
    Example(f"{TIME}NanoDuration", 1, "bigint", 1),
    Example((f"{DATA}Bits", {"length": "24"}), "AQI=", "bigint", 513),
    Example((f"{DATA}Bits", {"length": "24"}), "", "bigint", 0),
    Example((f"{DATA}Bits", {"length": "64"}), "//////////8=", "decimal(20,0)", Decimal(2**64 - 1)),
    Example((f"{DATA}Bits", {"length": "80"}), "AQI=", "binary", bytearray(b"\1\2")),
    Example(
        f"{DATA}VariableScaleDecimal",
        {"scale": 20, "value": base64_of(-1, 1)},
        "string",
        "-0.00000000000000000001",
    ),
    Example(f"{DATA}VariableScaleDecimal", {"scale": -2, "value": "BQ=="}, "string", "500"),
    # uint256, the number type of blockchains
    Example(
        f"{DATA}VariableScaleDecimal",
        {"scale": 0, "value": base64_of(2**256 - 1, 33)},
        "string",
        str(2**256 - 1),
    ),
    Example(f"{DATA}Json", '{"a": 1e20}', "string", '{"a": 1e20}'),
    Example(f"{DATA}EnumSet", "a,b", "string", "a,b"),
    Example(f"{DATA}geometry.Point", {"x": 1.5}, "variant", '{"x":1.5}'),
    Example("com.huawei.cdc.data.Decimal", "129.90", "decimal(38,18)", Decimal("129.90")),
    Example(
        "com.xxx.cdc.data.timestamp",
        "2024-03-01 07:01:00",
        "timestamp_ntz",
        local("2024-03-01T07:01"),
    ),
    Example(("array", {"type": "int32"}), [1, None, 3], "array<int>", [1, None, 3]),
    Example(("array", {"type": "string"}), ["a", "", None], "array<string>", ["a", "", None]),
    Example(("array", {"type": "int64"}), [], "array<bigint>", []),
    Example(
        ("array", {"type": "int32", "name": f"{TIME}Date"}), [0], "array<date>", [day("1970-01-01")]
    ),
    Example(
        ("array", {"type": "bytes", "name": f"{CONNECT}Decimal", "parameters": {"scale": "1"}}),
        [base64_of(15, 1)],
        "array<decimal(38,1)>",
        [Decimal("1.5")],
    ),
]

STREAMX_EXAMPLES = [
    Example("BOOLEAN", "true", "boolean", True),
    Example("DOUBLE", "1.100000", "double", 1.1),
    Example("DATE", 1709276460000, "timestamp", local("2024-03-01T07:01")),
    Example("BYTES", "AAH/", "binary", bytearray(b"\0\1\xff")),
    Example("LONG", "9223372036854775807", "bigint", 9223372036854775807),
    Example("STRING", "1.10", "string", "1.10"),
]

MYSQL_EXAMPLES = [
    Example("BOOL", "2", "int", 2),
    Example("SERIAL", "18446744073709551615", "decimal(20,0)", Decimal(2**64 - 1)),
    # as somebody wrote them, which MySQL reads too
    Example("INT8", "-9223372036854775808", "bigint", -9223372036854775808),
    Example("int4 unsigned", "4294967295", "bigint", 4294967295),
    Example("float8", "0.1", "double", 0.1),
    Example("character varying(20)", "x", "string", "x"),
    Example("tinyint(1)", "-128", "int", -128),
    Example("smallint(5) unsigned", "65535", "int", 65535),
    Example("mediumint unsigned zerofill", "00016777215", "int", 16777215),
    Example("int", "-2147483648", "int", -2147483648),
    Example("int(10) unsigned", "4294967295", "bigint", 4294967295),
    Example("int(10) zerofill", "0000000007", "bigint", 7),
    Example("bigint(20)", "-9223372036854775808", "bigint", -9223372036854775808),
    Example("bigint(20) unsigned", "18446744073709551615", "decimal(20,0)", Decimal(2**64 - 1)),
    Example("decimal(24,6)", "-1.500000", "decimal(24,6)", Decimal("-1.5")),
    Example("decimal(10) unsigned", "7", "decimal(10,0)", Decimal(7)),
    Example("decimal", "1E-7", "decimal(38,18)", Decimal("1E-7")),
    Example("numeric(65,30)", "1" * 35 + "." + "2" * 30, "string", "1" * 35 + "." + "2" * 30),
    Example("float", "1.17549435E-38", "float", 1.1754943508222875e-38),
    Example("double(10,2) unsigned", "1.6777216E7", "double", 16777216.0),
    Example("bit(1)", "1", "bigint", 1),
    Example("bit(64)", "18446744073709551615", "decimal(20,0)", Decimal(2**64 - 1)),
    Example("year(4)", "0000", "int", 0),
    Example("varchar(200)", "null", "string", "null"),
    Example("char(8)", "中文", "string", "中文"),
    Example("national varchar(20)", "é", "string", "é"),
    Example("longtext", "", "string", ""),
    Example(
        "uuid",
        "123e4567-e89b-12d3-a456-426655440000",
        "string",
        "123e4567-e89b-12d3-a456-426655440000",
    ),
    Example("inet6", "::1", "string", "::1"),
    Example("json", '{"a": 1}', "string", '{"a": 1}'),
    Example("enum('new','it''s, odd')", "2", "string", "it's, odd"),
    Example("enum('new','it''s, odd')", "0", "string", ""),
    Example("enum('new','it''s, odd')", "new", "string", "new"),
    Example("enum('new','of two\nlines')", "2", "string", "of two\nlines"),
    Example("set('gift','rush','fragile')", "5", "string", "gift,fragile"),
    Example("set('gift','rush')", "0", "string", ""),
    Example("set('gift','rush')", "rush,gift", "string", "rush,gift"),
    Example("set('of two\nlines','rush')", "3", "string", "of two\nlines,rush"),
    Example("set(" + ",".join(f"'{n}'" for n in range(64)) + ")", str(2**63 + 1), "string", "0,63"),
    Example("enum", "new", "string", "new"),
    Example("set", "a,b", "string", "a,b"),
    Example("binary(6)", "\xff\xfe", "binary", bytearray(b"\xff\xfe\0\0\0\0")),
    Example("varbinary(64)", "\x00é\n", "binary", bytearray(b"\0\xe9\n")),
    Example("mediumblob", "", "binary", bytearray()),
    Example("point", "\x01", "binary", bytearray(b"\1")),
    Example("date", "1000-01-01", "date", day("1000-01-01")),
    Example(
        "datetime(6)",
        "9999-12-31 23:59:59.999999",
        "timestamp_ntz",
        local("9999-12-31T23:59:59.999999"),
    ),
    Example(
        "timestamp(3)", "2024-03-01 07:01:00.100", "timestamp_ntz", local("2024-03-01T07:01:00.1")
    ),
    Example("time(3)", "-838:59:58.999", "string", "-838:59:58.999"),
]

POSTGRESQL_EXAMPLES = [
    Example("int4", "7", "int", 7),
    Example("int8", "7", "bigint", 7),
    Example("numeric(10,2)", "7.50", "decimal(10,2)", Decimal("7.5")),
    Example("float4", "0.5", "float", 0.5),
    # as PostgreSQL before 12 prints it
    Example("float8", "0.10000000000000001", "double", 0.1),
    Example("real", "0.100000001", "float", 0.10000000149011612),
    Example("bool", "t", "boolean", True),
    Example("bit(4)", "0101", "string", "0101"),
    Example("character varying(120)", "x", "string", "x"),
    Example("date", "2024-03-01", "date", day("2024-03-01")),
    Example("jsonb", "{}", "string", "{}"),
    Example("bit varying(24)", "0101", "string", "0101"),
    Example(
        "timestamp(6) without time zone",
        "2024-03-01 07:01:00",
        "timestamp_ntz",
        local("2024-03-01T07:01"),
    ),
    Example("timestamptz", "2024-03-01 07:01:00+08", "timestamp", local("2024-02-29T23:01")),
    Example("time(3) with time zone", "07:01:00+08", "string", "07:01:00+08"),
    Example("interval day to second", "1 day", "string", "1 day"),
]

ORACLE_EXAMPLES = [
    Example("NUMBER", "12.5", "decimal(38,18)", Decimal("12.5")),
    Example("NUMBER(10)", "12", "decimal(10,0)", Decimal(12)),
    Example("NUMBER(3,-2)", "12300", "decimal(5,0)", Decimal(12300)),
    Example("NUMBER(2,5)", "0.00012", "decimal(5,5)", Decimal("0.00012")),
    Example("FLOAT", "123456789.123", "decimal(38,18)", Decimal("123456789.123")),
    Example("DATE", "2024-03-01 07:01:00", "timestamp_ntz", local("2024-03-01T07:01")),
    Example(
        "TIMESTAMP(6)", "2024-03-01 07:01:00.5", "timestamp_ntz", local("2024-03-01T07:01:00.5")
    ),
    Example("BINARY_FLOAT", "0.5", "float", 0.5),
    Example("BINARY_DOUBLE", "1.0E-001", "double", 0.1),
    Example("BINARY_DOUBLE", "Inf", "double", float("inf")),
    Example("VARCHAR2(10 CHAR)", "x", "string", "x"),
    Example("RAW(16)", "00FF", "string", "00FF"),
    Example(
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "2024-03-01 07:01:00Z",
        "timestamp",
        local("2024-03-01T07:01"),
    ),
    Example("INTERVAL DAY(2) TO SECOND(6)", "+01 00:00:00", "string", "+01 00:00:00"),
]

DTS_MYSQL_EXAMPLES = [
    Example("0", 1.5, "decimal(38,18)", Decimal("1.5")),
    Example("1", 255, "int", 255),
    Example("2", 65535, "int", 65535),
    Example("3", 4294967295, "bigint", 4294967295),
    Example("4", 0.5, "float", 0.5),
    Example("5", 0.1, "double", 0.1),
    Example("7", "2024-03-01 07:01:00.5", "timestamp", local("2024-03-01T07:01:00.5")),
    Example("8", 18446744073709551615, "decimal(20,0)", Decimal(2**64 - 1)),
    Example("9", 16777215, "int", 16777215),
    Example("10", "2024-03-01", "date", day("2024-03-01")),
    Example("11", "-838:59:59", "string", "-838:59:59"),
    Example("12", "2024-03-01 07:01:00", "timestamp_ntz", local("2024-03-01T07:01")),
    Example("13", 2024, "int", 2024),
    Example("16", "AQ==", "string", "AQ=="),
    Example("245", '{"a": 1}', "string", '{"a": 1}'),
    Example("246", 129.9, "decimal(38,18)", Decimal("129.9")),
    Example("247", "new", "string", "new"),
    Example("252", "a text, or base64", "string", "a text, or base64"),
    Example("253", "x", "string", "x"),
    Example("255", "POINT(1 1)", "string", "POINT(1 1)"),
]

DTS_ORACLE_EXAMPLES = [
    Example("1", "x", "string", "x"),
    Example("2", 12.5, "decimal(38,18)", Decimal("12.5")),
    Example("8", "long text", "string", "long text"),
    Example("12", "2024-03-01 07:01:00", "timestamp_ntz", local("2024-03-01T07:01")),
    Example("23", "AP8=", "binary", bytearray(b"\0\xff")),
    Example("58", "<a/>", "string", "<a/>"),
    Example("69", "AAAB", "string", "AAAB"),
    Example("100", 0.5, "float", 0.5),
    Example("101", 0.1, "double", 0.1),
    Example("112", "clob", "string", "clob"),
    Example("113", "AP8=", "binary", bytearray(b"\0\xff")),
    Example(
        "180", "2024-03-01 07:01:00.000001", "timestamp_ntz", local("2024-03-01T07:01:00.000001")
    ),
    *(
        Example("181", f"2024-03-01 07:01:00{zone}", "timestamp", local("2024-02-29T23:01"))
        for zone in ("+08:00", " +08:00", "+8:00", "+0800", "+8", "GMT+08:00", "UTC+8:00")
    ),
    Example("181", "2024-03-01 07:01:00GMT", "timestamp", local("2024-03-01T07:01")),
    Example("183", "+01 00:00:00", "string", "+01 00:00:00"),
]

DTS_POSTGRESQL_EXAMPLES = [
    Example("16", "true", "boolean", True),
    Example("17", "AP8=", "binary", bytearray(b"\0\xff")),
    Example("20", 7, "bigint", 7),
    Example("21", 7, "int", 7),
    Example("25", "x", "string", "x"),
    Example("114", "{}", "string", "{}"),
    Example("600", "(1,1)", "string", "(1,1)"),
    Example("700", 0.5, "float", 0.5),
    Example("701", 0.1, "double", 0.1),
    Example("790", "$1.00", "string", "$1.00"),
    Example("1082", "2024-03-01", "date", day("2024-03-01")),
    Example("1083", "07:01:00", "string", "07:01:00"),
    Example("1114", "2024-03-01 07:01:00", "timestamp_ntz", local("2024-03-01T07:01")),
    Example("1184", "2024-03-01 07:01:00+00:00", "timestamp", local("2024-03-01T07:01")),
    Example("1186", "1 day", "string", "1 day"),
    Example("1560", "0101", "string", "0101"),
    Example("1700", 12.5, "decimal(38,18)", Decimal("12.5")),
    Example("2950", "8639817-…", "string", "8639817-…"),
]

#: Dialect -> (format that has it, kind of database, examples).
TYPE_SYSTEMS = {
    "connect": ("cdl_debezium_json", None, CONNECT_EXAMPLES),
    "streamx": ("dataworks_json", None, STREAMX_EXAMPLES),
    "mysql": ("canal_json", "mysql", MYSQL_EXAMPLES),
    "postgresql": ("canal_json", "postgresql", POSTGRESQL_EXAMPLES),
    "oracle": ("canal_json", "oracle", ORACLE_EXAMPLES),
    "dts_mysql": ("dts_avro", "mysql", DTS_MYSQL_EXAMPLES),
    "dts_oracle": ("dts_avro", "oracle", DTS_ORACLE_EXAMPLES),
    "dts_postgresql": ("dts_avro", "postgresql", DTS_POSTGRESQL_EXAMPLES),
}
CASES = [
    pytest.param(type_system, index, id=f"{type_system}-{index}-{example.type_name[:40]}")
    for type_system, (_, _, examples) in TYPE_SYSTEMS.items()
    for index, example in enumerate(examples)
]


@pytest.fixture(scope="module")
def marts(folded: Folded) -> dict[str, Row]:
    """Dialect -> the one row of a mart with a column for each example."""
    tables = []
    for type_system, (source_format, kind, examples) in TYPE_SYSTEMS.items():
        table = folded.table(type_system, source_format, kind)
        table.has_columns(
            7, {"id": "string", **{f"c{i}": e.column_type for i, e in enumerate(examples)}}
        )
        table.holds({"id": "1", **{f"c{i}": e.published for i, e in enumerate(examples)}}, 7)
        tables.append(table)
    folded.run(declared(tables))
    return {table.table_id: folded.rows(table.table_id)[0] for table in tables}


@pytest.mark.parametrize(("type_system", "index"), CASES)
def test_a_value_has_its_type(
    folded: Folded, marts: dict[str, Row], type_system: str, index: int
) -> None:
    example = TYPE_SYSTEMS[type_system][2][index]
    value = marts[type_system][f"c{index}"]
    assert folded.types(type_system)[f"c{index}"] == example.spark_type
    if example.spark_type == "variant":
        value = value.toJson()
    assert (str(value) if example.value == "nan" else value) == example.value


@pytest.mark.parametrize("type_system", TYPE_SYSTEMS)
def test_none_of_these_values_fails_to_cast(marts: dict[str, Row], type_system: str) -> None:
    assert marts[type_system]["_cast_errors"] == []


@pytest.mark.parametrize("type_system", TYPE_SYSTEMS)
def test_every_row_of_the_code_table_has_an_example(type_system: str) -> None:
    examples = [e.type_name.lower() for e in TYPE_SYSTEMS[type_system][2]]
    items = [
        e.column_type[1].get("name", e.column_type[1]["type"]).lower()
        for e in TYPE_SYSTEMS[type_system][2]
        if e.type_name == "array"
    ]
    without = [
        row["type_pattern"]
        for row in code_table(type_system)
        if not any(re.fullmatch(row["type_pattern"], name) for name in [*examples, *items])
    ]
    assert without == []


@pytest.mark.parametrize("type_system", TYPE_SYSTEMS)
def test_one_row_of_the_code_table_matches_a_type(type_system: str) -> None:
    patterns = [row["type_pattern"] for row in code_table(type_system)]
    for example in TYPE_SYSTEMS[type_system][2]:
        matching = [p for p in patterns if re.fullmatch(p, example.type_name.lower())]
        assert len(matching) == (example.type_name != "array"), example.type_name


def code_table(type_system: str) -> list[dict[str, str]]:
    with CODE_TABLE.open(encoding="utf-8", newline="") as rows:
        return [row for row in csv.DictReader(rows) if row["type_system"] == type_system]
