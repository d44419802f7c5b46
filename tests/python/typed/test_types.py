"""Which Spark type holds the values of a source type, and of several."""

from __future__ import annotations

from typing import Any

import pytest

from cdc_marts.typed.types import (
    CodeTable,
    ColumnType,
    TypeRule,
    castable_type,
    common_type,
    completed_type,
    type_systems_of,
)


@pytest.mark.parametrize(
    ("spark_types", "common"),
    [
        (["int"], "int"),
        (["int", "bigint"], "bigint"),
        (["int", "decimal(4,2)"], "decimal(12,2)"),
        (["bigint", "decimal(4,2)"], "decimal(21,2)"),
        (["decimal(20,2)", "decimal(24,6)"], "decimal(24,6)"),
        (["decimal(38,0)", "decimal(2,1)"], "string"),
        (["float", "double"], "double"),
        (["double", "int", "float"], "double"),
        (["float", "int"], "string"),
        (["double", "bigint"], "string"),
        (["date", "timestamp_ntz"], "timestamp_ntz"),
        (["date", "timestamp"], "string"),
        (["timestamp", "timestamp_ntz"], "string"),
        (["variant", "int"], "string"),
        (["array<int>", "array<string>"], "string"),
    ],
)
def test_the_common_type_holds_all_values(spark_types: list[str], common: str) -> None:
    assert common_type(spark_types) == common
    assert common_type(reversed(spark_types)) == common


@pytest.mark.parametrize(
    ("spark_type", "type_name", "parameters", "completed"),
    [
        ("string", "varchar(20)", {}, "string"),
        ("decimal", "decimal(12, 2)", {}, "decimal(12,2)"),
        ("decimal", "decimal(12)", {}, "decimal(12,0)"),
        ("decimal", "number(10,-2)", {}, "decimal(12,0)"),
        ("decimal", "number(2,5)", {}, "decimal(5,5)"),
        ("decimal", "decimal(65,30)", {}, "string"),
        ("decimal", "numeric", {}, "decimal(38,18)"),
        ("decimal", "Decimal", {"scale": "2", "connect.decimal.precision": "12"}, "decimal(12,2)"),
        ("decimal", "Decimal", {"scale": "3"}, "decimal(38,3)"),
        ("bits", "bit", {}, "bigint"),
        ("bits", "bit(63)", {}, "bigint"),
        ("bits", "Bits", {"length": "64"}, "decimal(20,0)"),
        ("bits", "bit(65)", {}, "binary"),
    ],
)
def test_length_and_scale_complete_a_type(
    spark_type: str, type_name: str, parameters: dict[str, Any], completed: str
) -> None:
    assert completed_type(spark_type, type_name, parameters) == completed


@pytest.mark.parametrize(
    ("declared", "castable"),
    [
        ("Decimal(10, 2)", "decimal(10,2)"),
        ("numeric(5)", "decimal(5,0)"),
        ("decimal(39,2)", None),
        ("decimal(2,5)", None),
        ("decimal", None),
        ("BIGINT", "bigint"),
        ("long", "bigint"),
        ("timestamp_ltz", "timestamp"),
        ("money", None),
        ("array<int>", None),
        (12, None),
    ],
)
def test_a_cast_is_to_a_type_of_spark(declared: Any, castable: str | None) -> None:
    assert castable_type(declared) == castable


@pytest.mark.parametrize(
    ("of_format", "source_type", "type_systems"),
    [
        (["mysql", "postgresql", "oracle"], "oracle", ["oracle"]),
        (["mysql", "postgresql", "oracle"], None, ["mysql", "postgresql", "oracle"]),
        (["dts"], "drds", ["dts_mysql"]),
        (["dts"], "ppas", ["dts_postgresql"]),
        (["dts"], "mongodb", ["dts"]),
        ([], "mysql", []),
    ],
)
def test_the_kind_of_database_decides_whose_types_they_are(
    of_format: list[str], source_type: str | None, type_systems: list[str]
) -> None:
    assert type_systems_of(of_format, source_type) == type_systems


RULES = [
    TypeRule("mysql", r"bit( ?\([^)]*\))?", "bits", "text"),
    TypeRule("oracle", r"bit( ?\([^)]*\))?", "string", "text"),
    TypeRule("connect", "int32", "int", "text"),
    TypeRule("connect", "decimal", "decimal", "base64_decimal"),
]


def test_the_first_type_system_that_has_a_type_reads_it() -> None:
    types = [
        CodeTable(RULES, d).column_type("BIT(4)", {}) for d in (["mysql", "oracle"], ["oracle"])
    ]
    assert [type_.spark_type for type_ in types] == ["bigint", "string"]


def test_a_type_without_a_rule_is_text() -> None:
    assert CodeTable(RULES, ["mysql"]).column_type("int32", {}) == ColumnType("int32")


def test_an_array_is_of_the_type_of_its_elements() -> None:
    code_table = CodeTable(RULES, ["connect"])
    decimals = {"name": "decimal", "type": "bytes", "parameters": {"scale": "2"}}
    array = code_table.column_type("array", decimals)
    assert (array.spark_type, array.decoding) == ("array<decimal(38,2)>", "base64_decimal")
    assert (array.element.spark_type, array.element.parameters) == ("decimal(38,2)", {"scale": "2"})
    assert code_table.column_type("array", {"type": "int32"}).spark_type == "array<int>"
    assert not code_table.column_type("array", {"type": "struct"}).is_array
