"""Changes of rows in place, and the removal of a table's past.

A rewrite is committed like a compaction: rows keep their lineage (`_row_id`,
`_last_updated_sequence_number`), and readers of increments take no row for new. The old values stay
in older snapshots until these are removed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from dbt.adapters.spark_session.catalog import all_snapshots, iceberg_table
from dbt.adapters.spark_session.jvm import java_class, static_method
from dbt.adapters.spark_session.replacements import MAIN, branches_of_replacements
from py4j.java_gateway import is_instance_of
from pyspark.sql import DataFrame, SparkSession

_SPARK = "org.apache.iceberg.spark"
_LISTS_FILES = "org.apache.iceberg.io.SupportsPrefixOperations"


def rewrite_rows(
    session: SparkSession,
    name: str,
    files: Collection[str],
    rewritten: Callable[[DataFrame], DataFrame],
    properties: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Rewrite data files of a table with other values in their rows, in one commit.

    A second commit removes the old files from the manifests, also those of earlier rewrites.

    `files`: their paths, as in the metadata column `_file`. `rewritten`: a function from the rows
    of these files, with the columns of their lineage, to as many rows with the same columns.
    `properties`: properties of the commit, as in `Snapshot.summary`.
    """
    table = iceberg_table(session, name)
    tasks = [task for task in _scan_tasks(table) if task.file().location() in files]
    if tasks:
        _replace_files(session, table, tasks, rewritten, properties)
    if table.currentSnapshot() is not None:
        _drop_deleted_entries(session, table)


def forget_past(
    session: SparkSession, name: str, oldest: int | None, orphans_before: int
) -> list[str]:
    """Delete all files that only older snapshots need, and all files that no snapshot knows.

    `oldest`: the oldest snapshot that stays; None if the table has none. Newer ones stay too, also
    if another process commits them meanwhile. `orphans_before`: a time (epoch ms). Files that no
    snapshot knows stay if they were written later. Return the names of the tags and branches that
    somebody made, which keep their snapshots.
    """
    table = iceberg_table(session, name)
    # Runs that were killed left them.
    for branch in branches_of_replacements(table):
        table.manageSnapshots().removeBranch(branch).commit()
    references = {str(reference) for reference in table.refs().keySet()}
    found = all_snapshots(session, table)
    kept = found.referenced.union(snapshot.id for snapshot in found.ancestors_to(oldest))
    if expired := found.by_id.keys() - kept:
        # None by age or number, which another process changes if it commits now.
        expiry = _actions(session).expireSnapshots(table).expireOlderThan(0)
        for snapshot in expired:
            expiry = expiry.expireSnapshotId(snapshot)
        expiry.execute()
    orphans = _actions(session).deleteOrphanFiles(table).olderThan(orphans_before)
    # Hadoop, which lists files otherwise, may have no file system for the table's scheme.
    orphans.usePrefixListing(can_list_files(session, table)).execute()
    return sorted(references - {MAIN})


def can_list_files(session: SparkSession, table: Any) -> bool:
    """Return whether Iceberg itself lists the files of a table's folder, without Hadoop."""
    return bool(is_instance_of(session.sparkContext._gateway, table.io(), _LISTS_FILES))


def _replace_files(
    session: SparkSession,
    table: Any,
    tasks: list[Any],
    rewritten: Callable[[DataFrame], DataFrame],
    properties: Mapping[str, str],
) -> None:
    snapshot = table.currentSnapshot()
    rewrite = table.newRewrite().validateFromSnapshot(snapshot.snapshotId())
    rewrite = rewrite.dataSequenceNumber(snapshot.sequenceNumber())
    for name, value in properties.items():
        rewrite.set(name, value)
    with _staged(session, table, tasks) as (group, new_files):
        rows = session.read.format("iceberg").load(group)
        new_rows = rewritten(rows).select(*rows.columns)
        writer = new_rows.write.format("iceberg").option("distribution-mode", "none")
        writer.mode("append").save(group)
        for file in new_files():
            rewrite.addFile(file)
    for task in tasks:
        rewrite.deleteFile(task.file())
        for deletes in task.deletes():
            rewrite.deleteFile(deletes)
    rewrite.commit()


def _drop_deleted_entries(session: SparkSession, table: Any) -> None:
    """Rewrite the manifests, which list the old files of a rewrite with bounds of columns."""
    # A constant function: one manifest may have the entries of all.
    as_one = java_class(session, "com.google.common.base.Functions").constant("all")
    table.rewriteManifests().clusterBy(as_one).commit()


def _scan_tasks(table: Any) -> Iterator[Any]:
    tasks = table.newScan().planFiles()
    try:
        found = tasks.iterator()
        while found.hasNext():
            yield found.next()
    finally:
        tasks.close()


@contextmanager
def _staged(
    session: SparkSession, table: Any, tasks: list[Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name under which Spark reads the files of these tasks, and writes others for them.

    Also yield a function that returns the files that were written.
    """
    tables = static_method(session, f"{_SPARK}.SparkTableCache", "get")()
    scans = static_method(session, f"{_SPARK}.ScanTaskSetManager", "get")()
    coordinator = static_method(session, f"{_SPARK}.FileRewriteCoordinator", "get")()
    group = str(uuid.uuid4())
    staged = java_class(session, "java.util.ArrayList")()
    for task in tasks:
        staged.add(task)
    tables.add(group, table)
    scans.stageTasks(table, group, staged)
    try:
        yield group, lambda: coordinator.fetchNewFiles(table, group)
    finally:
        tables.remove(group)
        scans.removeTasks(table, group)
        coordinator.clearRewrite(table, group)


def _actions(session: SparkSession) -> Any:
    return java_class(session, f"{_SPARK}.actions.SparkActions").get(session._jsparkSession)
