"""Tables of the session's catalog as Iceberg has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

_FIRST_VERSION_WITH_ROW_LINEAGE = 3


def activate(session: SparkSession) -> None:
    """Have names on this thread resolved by the settings of `session`."""
    session._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)


def iceberg_table(session: SparkSession, name: str) -> Any:
    """The `org.apache.iceberg.Table` of a name that SQL resolves, on a thread of the session."""
    return session._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
        session._jsparkSession, name
    )


def view_query(session: SparkSession, name: str) -> str | None:
    """The query of the view `schema.view`; None where the name is not a view's."""
    jvm = session._jvm
    schema, identifier = name.split(".")
    namespace = session.sparkContext._gateway.new_array(jvm.java.lang.String, 1)
    namespace[0] = schema
    view = jvm.org.apache.spark.sql.connector.catalog.Identifier.of(namespace, identifier)
    catalogs = session._jsparkSession.sessionState().catalogManager()
    catalog = catalogs.catalog(session.catalog.currentCatalog())
    return catalog.loadView(view).query() if catalog.viewExists(view) else None


def drop_table(session: SparkSession, name: str) -> None:
    """Drop a table of few files with them; Spark's `purge` would run a job to find them."""
    jvm = session._jvm
    catalog = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(
        session._jsparkSession, session.catalog.currentCatalog()
    )
    catalog.dropTable(jvm.org.apache.iceberg.catalog.TableIdentifier.parse(name), True)


def tables_of(session: SparkSession, schemas: Iterable[str]) -> list[str]:
    """Names of the tables, not the views, of those schemas that are there."""
    return [
        f"{schema}.{row['tableName']}"
        for schema in schemas
        if session.catalog.databaseExists(schema)
        for row in session.sql(f"show tables in {schema}").collect()
        if not row["isTemporary"]
    ]


def has_rows(session: SparkSession, name: str) -> bool:
    """Whether the current snapshot of a table counts any rows."""
    snapshot = iceberg_table(session, name).currentSnapshot()
    return snapshot is not None and snapshot.summary().get("total-records") != "0"


def has_row_lineage(session: SparkSession, name: str) -> bool:
    """Whether the rows of a name know the commit that brought them: those of no view do."""
    if view_query(session, name) is not None:
        return False
    operations = iceberg_table(session, name).operations()
    return operations.current().formatVersion() >= _FIRST_VERSION_WITH_ROW_LINEAGE
