"""Iceberg's own REST catalog, the reference that others are tested against, as a server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from dbt.adapters.spark_session.java import use_java
from filelock import FileLock

from tests.python.cluster.services import HOST, answer_of, free_port, wait_until

_SPARK_JARS = Path(pyspark.__file__).parent / "jars"
#: Apart from Spark's jars, as it brings others of the same names.
_JARS = Path.home() / ".ivy2.5.2" / "rest-catalog"

#: Tests of Iceberg are artifacts with classifiers, which Spark's `packages` can't name.
_MODULES = """\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="cdc_marts" module="rest_catalog"/>
  <dependencies>
    <dependency org="org.apache.iceberg" name="iceberg-open-api" rev="1.11.0" transitive="false">
      <artifact name="iceberg-open-api" type="jar" ext="jar" m:classifier="test-fixtures"/>
    </dependency>
    <dependency org="org.apache.iceberg" name="iceberg-core" rev="1.11.0"
                conf="default->runtime,master">
      <artifact name="iceberg-core" type="jar" ext="jar"/>
      <artifact name="iceberg-core" type="jar" ext="jar" m:classifier="tests"/>
    </dependency>
    <dependency org="org.eclipse.jetty.ee10" name="jetty-ee10-servlet" rev="12.1.14"
                conf="default->runtime,master"/>
    <dependency org="org.eclipse.jetty.compression" name="jetty-compression-server" rev="12.1.14"
                conf="default->runtime,master"/>
    <dependency org="org.eclipse.jetty.compression" name="jetty-compression-gzip" rev="12.1.14"
                conf="default->runtime,master"/>
    <dependency org="org.xerial" name="sqlite-jdbc" rev="3.50.3.0" transitive="false"/>
  </dependencies>
</ivy-module>
"""
_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""


@contextmanager
def rest_catalog(folder: Path, warehouse: str) -> Iterator[str]:
    """A catalog, as long as the block runs; its URI.  Its tables are in `warehouse`."""
    port = free_port()
    settings = {
        "CATALOG_REST_PORT": str(port),
        "CATALOG_URI": f"jdbc:sqlite:{folder / 'rest.db'}",
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "CATALOG_WAREHOUSE": warehouse,
    }
    use_java(folder)
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    jars = [*_jars(java), *_SPARK_JARS.glob("hadoop-client-*.jar")]
    command = (java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    main = ("-cp", os.pathsep.join(map(str, jars)), "org.apache.iceberg.rest.RESTCatalogServer")
    with (folder / "rest.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, *main], env={**os.environ, **settings}, stdout=log, stderr=log
        )
    try:
        uri = f"http://{HOST}:{port}"
        wait_until(lambda: answer_of(f"{uri}/v1/config") is not None, "the REST catalog answers")
        yield uri
    finally:
        server.kill()
        server.wait()


def _jars(java: Path) -> list[Path]:
    """The server's jars, downloaded on first use by the Ivy that Spark has."""
    _JARS.mkdir(parents=True, exist_ok=True)
    with FileLock(_JARS / "download.lock"):
        modules = _JARS / "ivy.xml"
        if not modules.exists() or modules.read_text() != _MODULES:
            [ivy] = _SPARK_JARS.glob("ivy-*.jar")
            (_JARS / "settings.xml").write_text(_SETTINGS)
            (_JARS / "wanted.xml").write_text(_MODULES)
            pattern = _JARS / "jars" / "[artifact]-[revision](-[classifier]).[ext]"
            files = ("-settings", _JARS / "settings.xml", "-ivy", _JARS / "wanted.xml")
            cache = ("-cache", _JARS / "cache")
            subprocess.run(
                [java, "-jar", ivy, *files, *cache, "-retrieve", str(pattern)], check=True
            )
            (_JARS / "wanted.xml").rename(modules)
    return sorted((_JARS / "jars").glob("*.jar"))
