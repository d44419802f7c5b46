"""Iceberg's metadata of the tables in the session's catalog."""

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
    """Make names on this thread resolve by the settings of `session`."""
    sessions = java_class(session, "org.apache.spark.sql.classic.SparkSession")
    sessions.setActiveSession(session._jsparkSession)


def has_iceberg_catalog(session: SparkSession) -> bool:
    """Return whether all tables of the session's current catalog are Iceberg tables."""
    setting = f"spark.sql.catalog.{session.catalog.currentCatalog()}"
    return session.conf.get(setting, "") == "org.apache.iceberg.spark.SparkCatalog"


def iceberg_table(session: SparkSession, name: str) -> Any:
    """Return the `org.apache.iceberg.Table` of a name.

    The name is resolved by the thread's active session, which must be `session` (see `activate`).
    """
    return java_class(session, _SPARK_3_UTIL).loadIcebergTable(session._jsparkSession, name)


@dataclass(frozen=True)
class Snapshot:
    """A state of a table."""

    id: int
    parent_id: int | None
    operation: str
    #: properties of its commit
    summary: Mapping[str, str]
    #: rises with each commit; rows have it as `_last_updated_sequence_number`
    sequence_number: int
    #: epoch milliseconds
    committed_at: int


def snapshots(session: SparkSession, table: Any, newest: int | None = None) -> Iterator[Snapshot]:
    """Yield the snapshot `newest` of an Iceberg table (None: the current one), and those before it.

    They end at the first one whose predecessor has expired.
    """
    parser = java_class(session, "org.apache.iceberg.SnapshotParser")
    snapshot = table.currentSnapshot() if newest is None else table.snapshot(newest)
    while snapshot is not None:
        # As JSON, by one call: a Java map costs a call per member, and an exception at its end.
        found = _snapshot(json.loads(parser.toJson(snapshot)))
        yield found
        snapshot = table.snapshot(found.parent_id) if found.parent_id is not None else None


@dataclass(frozen=True)
class TableSnapshots:
    """All snapshots of a table, at one time."""

    by_id: Mapping[int, Snapshot]
    #: the current snapshot, and those before it, up to the first one that has expired
    ancestors: list[Snapshot]
    #: ids of snapshots that are the newest of a branch, or have a tag
    referenced: frozenset[int]

    @property
    def unreachable(self) -> list[Snapshot]:
        """Snapshots that no branch or tag leads to: a `create or replace` left them."""
        reachable = {snapshot.id for snapshot in self.ancestors}
        for newest in self.referenced:
            reachable |= {snapshot.id for snapshot in _back_from(newest, self.by_id)}
        return [snapshot for snapshot in self.by_id.values() if snapshot.id not in reachable]


def all_snapshots(session: SparkSession, table: Any) -> TableSnapshots:
    """Return the snapshots of an Iceberg table, by one call of Java however many they are."""
    parser = java_class(session, "org.apache.iceberg.TableMetadataParser")
    metadata = json.loads(parser.toJson(table.operations().current()))
    by_id = {found["snapshot-id"]: _snapshot(found) for found in metadata.get("snapshots", ())}
    ancestors = list(_back_from(metadata.get("current-snapshot-id"), by_id))
    referenced = frozenset(ref["snapshot-id"] for ref in metadata.get("refs", {}).values())
    return TableSnapshots(by_id, ancestors, referenced)


def _back_from(newest: int | None, by_id: Mapping[int, Snapshot]) -> Iterator[Snapshot]:
    """Yield a snapshot, and the snapshots before it that still exist."""
    while newest is not None and (snapshot := by_id.get(newest)) is not None:
        yield snapshot
        newest = snapshot.parent_id


def _snapshot(found: dict[str, Any]) -> Snapshot:
    """Return a snapshot from Iceberg's JSON."""
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
    """Return the query of the view `schema.view`; None if there is no such view."""
    view = _view(session, name)
    return None if view is None else view.query()


def view_query_and_property(
    session: SparkSession, name: str, key: str
) -> tuple[str | None, str | None]:
    """Return the query and a property of the view `schema.view`; None for what does not exist."""
    view = _view(session, name)
    return (None, None) if view is None else (view.query(), view.properties().get(key))


def columns_id(session: SparkSession, name: str) -> str | None:
    """Return a text that changes if the table or view `schema.name` gets other columns.

    None if there is no such table or view.
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
    """Return a text that changes if the table `schema.name` gets other rows.

    None if there is no such table, or if the catalog does not know.
    """
    if not session.catalog.tableExists(name):
        return None
    table = iceberg_table(session, name)
    # Each commit writes another file of metadata.
    file = table.operations().current().metadataFileLocation()
    return f"{table.uuid().toString()} {file}" if file is not None else None


def _view(session: SparkSession, name: str) -> Any | None:
    """Return the `org.apache.iceberg.spark.source.SparkView` of a name; None if not a view."""
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
    """Return the names of the tables, without views, in the given schemas that exist."""
    return [
        f"{schema}.{row['tableName']}"
        for schema in schemas
        if session.catalog.databaseExists(schema)
        for row in session.sql(f"show tables in {schema}").collect()
        if not row["isTemporary"]
    ]


def table_property(session: SparkSession, name: str, key: str) -> str | None:
    """Return a property of a table; None if the table does not have it."""
    rows = session.sql(f"show tblproperties {name} ('{key}')").collect()
    return next((row.value for row in rows if "does not have property" not in row.value), None)


def has_rows(session: SparkSession, name: str) -> bool:
    """Return whether the current snapshot of a table counts any rows."""
    snapshot = iceberg_table(session, name).currentSnapshot()
    return snapshot is not None and snapshot.summary().get("total-records") != "0"


def has_row_lineage(session: SparkSession, name: str) -> bool:
    """Return whether the rows of a table know the commit that wrote them. False for a view."""
    if view_query(session, name) is not None:
        return False
    operations = iceberg_table(session, name).operations()
    return operations.current().formatVersion() >= _FIRST_VERSION_WITH_ROW_LINEAGE
