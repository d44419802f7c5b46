"""Orphan files: files in a table's folder that belong to no snapshot. Killed runs leave them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from dbt.adapters.spark_session.api import can_list_files, iceberg_table, java_class

from cdc_marts.operations.procedures import call
from cdc_marts.times import millis_of, timestamp_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: If a table has more files, Spark lists them, on several machines.
_MOST_FILES = 1_000


def remove_orphan_files(session: SparkSession, name: str, before: dt.datetime) -> int:
    """Delete orphan files of an Iceberg table that were written before a time; return their number.

    Spark's procedure runs jobs, which take seconds even for few files. So it is called only if the
    folder has such a file, or if looking would take long.
    """
    table = iceberg_table(session, name)
    can_list = can_list_files(session, table)
    if can_list and not _has_orphans(session, table, before):
        return 0
    listing = ("prefix_listing => true",) if can_list else ()
    older_than = f"older_than => {timestamp_literal(before)}"
    return len(call(session, "remove_orphan_files", name, older_than, *listing))


def _has_orphans(session: SparkSession, table: Any, before: dt.datetime) -> bool:
    """Return whether a table has old orphan files, or too many files to look at."""
    snapshot = table.currentSnapshot()
    totals = {} if snapshot is None else dict(snapshot.summary())
    if int(totals.get("total-data-files", 0)) > _MOST_FILES:
        return True
    old = _old_files(table, millis_of(before))
    return bool(old) and not old <= {*_metadata_files(session, table), *_files(session, table)}


def _old_files(table: Any, millis: int) -> set[str]:
    """Return the names of old files in the table's folder.

    They are unique, however paths are written.
    """
    found = table.io().listPrefix(table.location()).iterator()
    return {_name(file.location()) for file in found if file.createdAtMillis() < millis}


def _metadata_files(session: SparkSession, table: Any) -> Iterator[str]:
    reachable = java_class(session, "org.apache.iceberg.ReachableFileUtil")
    yield _name(reachable.versionHintLocation(table))
    for locations in (
        reachable.metadataFileLocations(table, False),
        reachable.manifestListLocations(table),
        reachable.statisticsFilesLocations(table),
    ):
        yield from map(_name, locations)


def _files(session: SparkSession, table: Any) -> Iterator[str]:
    """Yield the manifests of all snapshots, and the data and delete files in them."""
    manifests = {
        manifest.path(): manifest
        for snapshot in table.snapshots()
        for manifest in snapshot.allManifests(table.io())
    }
    reader = java_class(session, "org.apache.iceberg.ManifestFiles")
    for path, manifest in manifests.items():
        yield _name(path)
        if manifest.content().name() == "DATA":
            opened = reader.read(manifest, table.io(), table.specs())
        else:
            opened = reader.readDeleteManifest(manifest, table.io(), table.specs())
        with closing(opened):
            for file in opened.iterator():
                yield _name(file.location())


def _name(location: str) -> str:
    return location.rpartition("/")[2]
