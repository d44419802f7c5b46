"""One Spark session per process, which all tests share, and a target with Iceberg.

`pytest` in the folder of this package uses both.  A workspace around it has a target of its own.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark_session import SparkSessionCredentials
from dbt.adapters.spark_session.session import close_session
from pyspark.sql import SparkSession

#: For many small jobs: one task each, queries that run as they are planned, without being
#: compiled or planned anew behind each stage, and Java code that is compiled quickly rather
#: than well.
SMALL = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn512m -XX:ReservedCodeCacheSize=256m"
    ),
    "spark.buffer.pageSize": "1m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Spark would ask Python for the line in which each expression was written.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}

_CATALOG = "spark.sql.catalog.lake"
TARGET = {
    "type": "spark_session",
    "schema": "tests",
    "threads": 2,
    "packages": [
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        "org.xerial:sqlite-jdbc:3.50.3.0",
    ],
    "conf": {
        **SMALL,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": False,
        "spark.sql.ansi.enabled": False,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        "spark.sql.defaultCatalog": "lake",
        _CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{_CATALOG}.cache-enabled": False,
        f"{_CATALOG}.table-default.format-version": 3,
        f"{_CATALOG}.table-default.write.merge.mode": "merge-on-read",
        f"{_CATALOG}.type": "jdbc",
        f"{_CATALOG}.jdbc.schema-version": "V1",
        f"{_CATALOG}.uri": ("jdbc:sqlite:${home}/catalog.db?busy_timeout=60000&journal_mode=WAL"),
        f"{_CATALOG}.warehouse": "file:${home}/warehouse",
    },
}


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of this process's catalog and warehouse; every xdist worker has its own.

    Its name is of the kind that folders of people have.
    """
    return tmp_path_factory.mktemp("our home, it's")


@pytest.fixture(scope="session")
def spark_target(spark_home: Path) -> dict[str, Any]:
    return {**copy.deepcopy(TARGET), "home": str(spark_home)}


@pytest.fixture(scope="session")
def spark(spark_target: dict[str, Any], spark_home: Path) -> Iterator[SparkSession]:
    """The session of the target, which dbt's threads share too."""
    folder = Path.cwd()
    jvm_folder = spark_home / "cwd"
    jvm_folder.mkdir()
    # What the JVM leaves where it was started is seen, and is not left in the project.
    os.chdir(jvm_folder)
    try:
        session = SparkSessionCredentials.from_dict({"database": None, **spark_target}).session()
    finally:
        os.chdir(folder)
    yield session
    close_session()
