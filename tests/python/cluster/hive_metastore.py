"""A metastore of Hive, which starts from the jars of Spark and keeps its tables in Derby.

PyIceberg reads it by a library that is no dependency of the project: `./run --with thrift pytest …`
brings it.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from dbt.adapters.spark_session.java import use_java

from tests.python.cluster.services import HOST, free_port, wait_until

_SPARK_JARS = Path(pyspark.__file__).parent / "jars"
_MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"


@contextmanager
def hive_metastore(folder: Path, warehouse: str) -> Iterator[str]:
    """A metastore without tables, as long as the block runs; its URI.  Its log is in `folder`."""
    if importlib.util.find_spec("thrift") is None:
        pytest.skip("there is no thrift here: ./run --with thrift pytest …")
    port = free_port()
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'hive'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": warehouse,
        # Spark lacks the libraries of the defaults.
        "datanucleus.connectionPoolingType": "HikariCP",
        "hive.async.log.enabled": "false",
        # Creates the tables of locks too, which Iceberg takes for its commits.
        "hive.in.test": "true",
    }
    use_java(folder)
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    command = (java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    conf = [option for item in settings.items() for option in ("--hiveconf", "=".join(item))]
    with (folder / "hive.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "-cp", _SPARK_JARS / "*", _MAIN, "-p", str(port), *conf],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        wait_until(lambda: _listens(port), "the metastore of Hive listens")
        yield f"thrift://{HOST}:{port}"
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex((HOST, port)) == 0
