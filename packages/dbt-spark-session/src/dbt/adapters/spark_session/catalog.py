"""Tables of the session's catalog as Iceberg has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_session.jvm import java_class
from pyspark.sql import SparkSession

_SPARK_3_UTIL = "org.apache.iceberg.spark.Spark3Util"
_FIRST_VERSION_WITH_ROW_LINEAGE = 3


def activate(session: SparkSession) -> None:
    """Have names on this thread resolved by the settings of `session`."""
    sessions = java_class(session, "org.apache.spark.sql.classic.SparkSession")
    sessions.setActiveSession(session._jsparkSession)


def has_iceberg_catalog(session: SparkSession) -> bool:
    """Whether the tables of the session's current catalog are Iceberg's, all of them."""
    setting = f"spark.sql.catalog.{session.catalog.currentCatalog()}"
    return session.conf.get(setting, "") == "org.apache.iceberg.spark.SparkCatalog"


def iceberg_table(session: SparkSession, name: str) -> Any:
    """The `org.apache.iceberg.Table` of a name that SQL resolves, on a thread of the session."""
    return java_class(session, _SPARK_3_UTIL).loadIcebergTable(session._jsparkSession, name)


@dataclass(frozen=True)
class Snapshot:
    """A state of a table."""

    id: int
    parent_id: int | None
    operation: str
    #: properties of its commit
    summary: Mapping[str, str]
    #: rises with each commit; rows bear it as `_last_updated_sequence_number`
    sequence_number: int
    #: epoch milliseconds
    committed_at: int


def snapshots(session: SparkSession, table: Any, newest: int | None = None) -> Iterator[Snapshot]:
    """The snapshot `newest` of an Iceberg table, None for its current one, and those before it.

    They end where an older one has expired.
    """
    parser = java_class(session, "org.apache.iceberg.SnapshotParser")
    snapshot = table.currentSnapshot() if newest is None else table.snapshot(newest)
    while snapshot is not None:
        # Member by member, a Java map costs a call each and an exception behind the last.
        found = _snapshot(json.loads(parser.toJson(snapshot)))
        yield found
        snapshot = table.snapshot(found.parent_id) if found.parent_id is not None else None


@dataclass(frozen=True)
class TableSnapshots:
    """All snapshots of a table, at one time."""

    by_id: Mapping[int, Snapshot]
    #: the current one, and those before it; they end where an older one has expired
    ancestors: list[Snapshot]
    #: ids of those that are the newest of a branch, or have a tag
    referenced: frozenset[int]

    @property
    def unreachable(self) -> list[Snapshot]:
        """Those to which neither a branch nor a tag leads: a `create or replace` left them."""
        reachable = {snapshot.id for snapshot in self.ancestors}
        for newest in self.referenced:
            reachable |= {snapshot.id for snapshot in _back_from(newest, self.by_id)}
        return [snapshot for snapshot in self.by_id.values() if snapshot.id not in reachable]


def all_snapshots(session: SparkSession, table: Any) -> TableSnapshots:
    """The snapshots of an Iceberg table, by one call of Java however many they are."""
    parser = java_class(session, "org.apache.iceberg.TableMetadataParser")
    metadata = json.loads(parser.toJson(table.operations().current()))
    by_id = {found["snapshot-id"]: _snapshot(found) for found in metadata.get("snapshots", ())}
    ancestors = list(_back_from(metadata.get("current-snapshot-id"), by_id))
    referenced = frozenset(ref["snapshot-id"] for ref in metadata.get("refs", {}).values())
    return TableSnapshots(by_id, ancestors, referenced)


def _back_from(newest: int | None, by_id: Mapping[int, Snapshot]) -> Iterator[Snapshot]:
    """A snapshot, and those before it that are still there."""
    while newest is not None and (snapshot := by_id.get(newest)) is not None:
        yield snapshot
        newest = snapshot.parent_id


def _snapshot(found: dict[str, Any]) -> Snapshot:
    """As Iceberg writes it in JSON."""
    summary = dict(found["summary"])
    operation = summary.pop("operation")
    return Snapshot(
        found["snapshot-id"],
        found.get("parent-snapshot-id"),
        operation,
        summary,
        found.get("sequence-number", 0),
        found["timestamp-ms"],
    )


def view_query(session: SparkSession, name: str) -> str | None:
    """The query of the view `schema.view`; None where the name is not a view's."""
    view = _view(session, name)
    return None if view is None else view.query()


def view_query_and_property(
    session: SparkSession, name: str, key: str
) -> tuple[str | None, str | None]:
    """The query of the view `schema.view` and a property of it; None for what is not there."""
    view = _view(session, name)
    return (None, None) if view is None else (view.query(), view.properties().get(key))


def columns_id(session: SparkSession, name: str) -> str | None:
    """A text that is another one once the table or view `schema.name` has other columns.

    None where there is no such table or view.
    """
    view = _view(session, name)
    if view is not None:
        found = view.view()
        return f"{found.uuid().toString()} {found.currentVersion().versionId()}"
    if not session.catalog.tableExists(name):
        return None
    table = iceberg_table(session, name)
    return f"{table.uuid().toString()} {table.schema().schemaId()}"


def rows_id(session: SparkSession, name: str) -> str | None:
    """A text that is another one once the table `schema.name` has other rows.

    None where there is no such table, or where the catalog does not say.
    """
    if not session.catalog.tableExists(name):
        return None
    table = iceberg_table(session, name)
    # Each commit writes another file of metadata.
    file = table.operations().current().metadataFileLocation()
    return f"{table.uuid().toString()} {file}" if file is not None else None


def _view(session: SparkSession, name: str) -> Any | None:
    """The `org.apache.iceberg.spark.source.SparkView` of a name; None where it is not a view's."""
    schema, identifier = name.split(".")
    text = java_class(session, "java.lang.String")
    gateway: Any = session.sparkContext._gateway
    namespace = gateway.new_array(text, 1)
    namespace[0] = schema
    identifiers = java_class(session, "org.apache.spark.sql.connector.catalog.Identifier")
    view = identifiers.of(namespace, identifier)
    catalogs = session._jsparkSession.sessionState().catalogManager()
    catalog = catalogs.catalog(session.catalog.currentCatalog())
    return catalog.loadView(view) if catalog.viewExists(view) else None


def tables_of(session: SparkSession, schemas: Iterable[str]) -> list[str]:
    """Names of the tables, not the views, of those schemas that are there."""
    return [
        f"{schema}.{row['tableName']}"
        for schema in schemas
        if session.catalog.databaseExists(schema)
        for row in session.sql(f"show tables in {schema}").collect()
        if not row["isTemporary"]
    ]


def table_property(session: SparkSession, name: str, key: str) -> str | None:
    """A property of a table; None where it has none of that name."""
    rows = session.sql(f"show tblproperties {name} ('{key}')").collect()
    return next((row.value for row in rows if "does not have property" not in row.value), None)


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
