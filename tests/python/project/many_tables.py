"""Many tables with the snapshots of a day, made without committing each of them."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dbt.adapters.spark_session.api import commit_watermarks, iceberg_table, java_class
from py4j.protocol import MEMORY_COMMAND_NAME
from pyspark.sql import SparkSession


def calls_of_java(session: SparkSession, what: Callable[[], object]) -> int:
    """How many calls of Java something takes."""
    client = session._jvm._gateway_client
    send = client.send_command
    calls: list[str] = []

    def noted(command: str, *arguments: Any, **options: Any) -> Any:
        # Python's garbage is collected at any time.
        if not command.startswith(MEMORY_COMMAND_NAME):
            calls.append(command)
        return send(command, *arguments, **options)

    client.send_command = noted
    try:
        what()
    finally:
        client.send_command = send
    return len(calls)


def commit_snapshots(session: SparkSession, name: str, count: int, source: str | None) -> None:
    """So many snapshots without rows; each notes the snapshot of `source` in its place."""
    ids = [] if source is None else [s.snapshotId() for s in _oldest_first(session, source)]
    for number in range(count):
        watermarks = {str(source): ids[min(number, len(ids) - 1)]} if ids else {}
        commit_watermarks(session, name, watermarks)


def clone(session: SparkSession, name: str, schema: str, count: int) -> list[str]:
    """So many tables as `name`: with the snapshots and manifest lists that it has.

    They share its data files and manifests, which no upkeep of one may delete: all of them are in
    the newest snapshot.
    """
    operations = iceberg_table(session, name).operations()
    metadata = json.loads(
        java_class(session, "org.apache.iceberg.TableMetadataParser").toJson(operations.current())
    )
    place = Path(metadata["location"].removeprefix("file:"))
    lists = [Path(s["manifest-list"].removeprefix("file:")).name for s in metadata["snapshots"]]
    clones = [f"{place.name}_{number:04}" for number in range(count)]
    catalog = _catalog(session)
    identifiers = java_class(session, "org.apache.iceberg.catalog.TableIdentifier")
    for clone_name in clones:
        folder = place.with_name(clone_name)
        (folder / "metadata").mkdir(parents=True)
        for file in lists:
            os.link(place / "metadata" / file, folder / "metadata" / file)
        copied = {
            **metadata,
            "table-uuid": str(uuid.uuid4()),
            "location": f"file:{folder}",
            "metadata-log": [],
            "snapshots": [
                {
                    **snapshot,
                    "manifest-list": snapshot["manifest-list"].replace(str(place), str(folder)),
                }
                for snapshot in metadata["snapshots"]
            ],
        }
        file = folder / "metadata" / "00144-clone.metadata.json"
        file.write_text(json.dumps(copied), "utf-8")
        identifier = identifiers.parse(f"{schema}.{clone_name}")
        catalog.registerTable(identifier, f"file:{file}")
    return [f"{schema}.{clone_name}" for clone_name in clones]


def _catalog(session: SparkSession) -> Any:
    """The current catalog as Iceberg has it."""
    catalogs = session._jsparkSession.sessionState().catalogManager()
    return catalogs.catalog(session.catalog.currentCatalog()).icebergCatalog()


def _oldest_first(session: SparkSession, name: str) -> Iterator[Any]:
    return iter(iceberg_table(session, name).snapshots())
