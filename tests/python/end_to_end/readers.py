"""Other engines than Spark, each as a function that returns the rows of a table of a catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession

#: Table -> its rows as sorted texts.
Reader = Callable[[str], list[str]]


def embedded_catalog(home: Path) -> Catalog:
    """The catalog of an embedded target, as PyIceberg opens it."""
    return SqlCatalog("cdc", uri=f"sqlite:///{home}/catalog.db", warehouse=f"file:{home}/warehouse")


def of_spark(spark: SparkSession) -> Reader:
    return lambda table: texts(spark.table(table).toArrow())


def of_pyiceberg(catalog: Catalog) -> Reader:
    return lambda table: texts(catalog.load_table(table).scan().to_arrow())


def of_duckdb(catalog: Catalog) -> Reader:
    """By DuckDB's own reader of Iceberg tables, which asks `catalog` for nothing but the place."""
    connection = duckdb_with_iceberg()

    def rows(table: str) -> list[str]:
        place = catalog.load_table(table).metadata_location
        found = connection.execute("select * from iceberg_scan(?)", [place])
        return texts(found.to_arrow_table())

    return rows


def of_duckdb_with_rest_catalog(uri: str) -> Reader:
    """By DuckDB alone, which asks a REST catalog for its tables.

    That needs one more package, which only tests with such a catalog install.
    """
    import duckdb_extension_httpfs

    connection = duckdb_with_iceberg()
    _load_extension(connection, duckdb_extension_httpfs, "httpfs")
    connection.execute(
        f"attach '' as lake (type iceberg, endpoint '{uri}', authorization_type 'none')"
    )
    return lambda table: texts(connection.execute(f"select * from lake.{table}").to_arrow_table())


def duckdb_with_iceberg() -> duckdb.DuckDBPyConnection:
    """A connection with DuckDB's extension, which needs no download where PyPI has brought it."""
    connection = duckdb.connect()
    _load_extension(connection, duckdb_extension_avro, "avro")
    _load_extension(connection, duckdb_extension_iceberg, "iceberg")
    connection.execute("set TimeZone = 'UTC'")
    return connection


def _load_extension(connection: duckdb.DuckDBPyConnection, package: ModuleType, name: str) -> None:
    assert package.__file__
    [extension] = Path(package.__file__).parent.rglob(f"{name}.duckdb_extension")
    connection.load_extension(str(extension))


def texts(table: pa.Table) -> list[str]:
    """The rows as sorted texts: equal where names and values are, whatever the engine's types."""
    return sorted(json.dumps(row, sort_keys=True, default=_text) for row in table.to_pylist())


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
