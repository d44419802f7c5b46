"""Iceberg's metadata of the tables in the session's catalog."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from dbt.adapters.spark_session.jvm import java_class
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

_SPARK_3_UTIL = "org.apache.iceberg.spark.Spark3Util"
_VIEW_UTIL = "org.apache.spark.sql.catalyst.analysis.ViewUtil"
_FIRST_VERSION_WITH_ROW_LINEAGE = 3
#: A commit that counts its rows has one of these among its properties.
_COUNTS = frozenset({"changed-partition-count", "total-records"})


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

    @property
    def has_rows(self) -> bool:
        """Whether the table had rows then; true if its commits did not count them."""
        return self.summary.get("total-records") != "0"

    @property
    def added_rows(self) -> int | None:
        """How many rows its commit added; None if the commit did not count them."""
        added = self.summary.get("added-records")
        if added is None:
            # Writers that count leave out a zero.
            return None if _COUNTS.isdisjoint(self.summary) else 0
        return int(added)


class _History:
    """The snapshots of an Iceberg table. Java is asked for each of them once."""

    def __init__(self, session: SparkSession, table: Any) -> None:
        self._table = table
        self._parser = java_class(session, "org.apache.iceberg.SnapshotParser")
        #: by id; None: the current one
        self._found: dict[int | None, Snapshot | None] = {}

    def back_from(self, newest: int | None) -> Iterator[Snapshot]:
        """Yield a snapshot (None: the current one), and those before it that still exist."""
        snapshot = self._snapshot(newest)
        while snapshot is not None:
            yield snapshot
            before = snapshot.parent_id
            snapshot = self._snapshot(before) if before is not None else None

    def _snapshot(self, id: int | None) -> Snapshot | None:
        if id not in self._found:
            found = self._found[id] = self._look_up(id)
            if found is not None:
                self._found[found.id] = found
        return self._found[id]

    def _look_up(self, id: int | None) -> Snapshot | None:
        found = self._table.currentSnapshot() if id is None else self._table.snapshot(id)
        # As JSON, by one call: a Java map costs a call per member, and an exception at its end.
        return None if found is None else _snapshot(json.loads(self._parser.toJson(found)))


def snapshots(session: SparkSession, table: Any, newest: int | None = None) -> Iterator[Snapshot]:
    """Yield the snapshot `newest` of an Iceberg table (None: the current one), and those before it.

    They end at the first one whose predecessor has expired.
    """
    return _History(session, table).back_from(newest)


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

    def ancestors_to(self, oldest: int | None) -> list[Snapshot]:
        """Return the ancestors down to the snapshot `oldest`; all if it is not among them."""
        ids = [snapshot.id for snapshot in self.ancestors]
        return self.ancestors[: ids.index(oldest) + 1] if oldest in ids else self.ancestors


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


def _view(session: SparkSession, name: str) -> Any | None:
    """Return the `org.apache.iceberg.spark.source.SparkView` of a name; None if not a view."""
    place = java_class(session, _SPARK_3_UTIL).catalogAndIdentifier(session._jsparkSession, name)
    found = java_class(session, _VIEW_UTIL).loadView(place.catalog(), place.identifier())
    return found.get() if found.isDefined() else None


class Metadata:
    """Tables, their snapshots, and views, as they are when they are first asked for.

    Each is loaded once, and a later change of it is not seen. Names are `schema.name`.
    """

    def __init__(self, session: SparkSession) -> None:
        """Ask the catalog of `session`, which must be the thread's active one (see `activate`)."""
        self._session = session
        #: name -> the `org.apache.iceberg.Table`
        self.table = cache(partial(iceberg_table, session))
        #: name -> the `org.apache.iceberg.spark.source.SparkView`; None if it is not a view
        self.view = cache(partial(_view, session))
        self.view_query = cache(self._view_query)
        self._history = cache(lambda name: _History(session, self.table(name)))

    @cached_property
    def is_of_iceberg(self) -> bool:
        """Whether all tables of the catalog are Iceberg tables."""
        return has_iceberg_catalog(self._session)

    def snapshots(self, name: str, newest: int | None = None) -> Iterator[Snapshot]:
        """Yield the snapshot `newest` of a table (None: the current one), and those before it."""
        return self._history(name).back_from(newest)

    def newest_snapshot(self, name: str) -> Snapshot | None:
        """Return the current snapshot of a table; None if nothing was committed to it."""
        return next(self.snapshots(name), None)

    def has_rows(self, name: str) -> bool:
        """Return whether the current snapshot of a table counts any rows."""
        newest = self.newest_snapshot(name)
        return newest is not None and newest.has_rows

    def added_rows(self, name: str, snapshot: Snapshot) -> int:
        """Return how many rows the commit of a snapshot added to a table."""
        if snapshot.added_rows is not None:
            return snapshot.added_rows
        table = self.table(name)
        added = table.snapshot(snapshot.id).addedDataFiles(table.io())
        return sum(file.recordCount() for file in added)

    def total_rows(self, name: str, snapshot: Snapshot) -> int:
        """Return how many rows a table had at a snapshot. Without its commits' counts, query it."""
        total = snapshot.summary.get("total-records")
        if total is None:
            query = f"select count(*) from {name} version as of {snapshot.id}"
            total = self._session.sql(query).collect()[0][0]
        return int(total)

    def columns_id(self, name: str) -> str | None:
        """Return a text that changes if a table or view gets other columns; None if neither."""
        view = self.view(name)
        if view is not None:
            found = view.view()
            return f"{found.uuid().toString()} {found.currentVersion().versionId()}"
        table = self._table_if_any(name)
        return None if table is None else f"{table.uuid().toString()} {table.schema().schemaId()}"

    def rows_id(self, name: str) -> str | None:
        """Return a text that changes if a table gets other rows.

        None if there is no such table, or if the catalog does not know.
        """
        table = self._table_if_any(name)
        if table is None:
            return None
        # Each commit writes another file of metadata.
        file = table.operations().current().metadataFileLocation()
        return f"{table.uuid().toString()} {file}" if file is not None else None

    def _view_query(self, name: str) -> str | None:
        """Return the query of a view; None if it is not a view."""
        view = self.view(name)
        return None if view is None else view.query()

    def _table_if_any(self, name: str) -> Any | None:
        try:
            return self.table(name)
        except AnalysisException as error:
            if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
                return None
            raise


def view_query(session: SparkSession, name: str) -> str | None:
    """Return the query of the view `schema.view`; None if there is no such view."""
    return Metadata(session).view_query(name)


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
    return Metadata(session).has_rows(name)


def has_row_lineage(session: SparkSession, name: str) -> bool:
    """Return whether the rows of a table know the commit that wrote them. False for a view."""
    metadata = Metadata(session)
    if metadata.view(name) is not None:
        return False
    operations = metadata.table(name).operations()
    return operations.current().formatVersion() >= _FIRST_VERSION_WITH_ROW_LINEAGE
