"""Whose type names a table has."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cdc_marts.formats.canal.type_systems import source_type

TABLES = {
    "mysql": [
        [],
        ["bigint", "varchar", "date"],
        ["bigint(20) unsigned", "varchar(20)", "datetime(6)", "enum('int4','VARCHAR2')"],
        ["SERIAL", "BOOL", "INTEGER", "text"],
        # As somebody wrote it, and MySQL takes it.
        ["INT8", "tinyint(1)"],
        ["int8", "varchar(20)", "bigint"],
        ["INT8", "float", "text"],
        ["float8", "int", "bit(1)"],
        ["set('a','number')"],
        ["numeric", "float", "double precision", "timestamp"],
        # MariaDB's
        ["uuid", "varchar(50)", "double", "text"],
        ["UUID", "blob"],
        ["uuid", "inet6"],
    ],
    "postgresql": [
        ["int4", "varchar", "bool"],
        ["bigint", "timestamptz"],
        ["INT8", "bpchar(3)"],
        ["integer", "character varying(20)"],
        ["bigint", "timestamp(6) without time zone"],
        ["text", "_int4"],
        ["bit varying(8)", "integer[]"],
        ["uuid", "text", "double precision"],
        ["int8", "varchar(20)", "timestamptz"],
        ["int8", "numeric(10)"],
    ],
    "oracle": [
        ["NUMBER", "FLOAT", "DATE"],
        ["number(10,2)", "varchar2(20 byte)"],
        ["CLOB", "date"],
        ["NUMBER", "BLOB"],
        ["RAW(16)", "TIMESTAMP(6) WITH TIME ZONE"],
        ["TIMESTAMP(6) WITH LOCAL TIME ZONE"],
        ["INTERVAL DAY(2) TO SECOND(6)", "LONG RAW"],
    ],
}
CASES = [(names, system) for system, tables in TABLES.items() for names in tables]


def test_names_that_only_another_database_than_mysql_has_decide(spark: SparkSession) -> None:
    tables = spark.createDataFrame([(names,) for names, _ in CASES], "names array<string>")
    found = tables.select("names", source_type(F.col("names"))).collect()
    assert [tuple(row) for row in found] == CASES


def test_without_names_it_is_mysql(spark: SparkSession) -> None:
    names = F.lit(None).cast("array<string>")
    assert spark.range(1).select(source_type(names)).first()[0] == "mysql"
