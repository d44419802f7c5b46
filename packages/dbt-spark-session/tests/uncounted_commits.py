"""Commits of programs that do not count the rows that they write."""

from __future__ import annotations

import json

from dbt.adapters.spark_session.api import iceberg_table, java_class
from pyspark.sql import SparkSession


def forget_counts(session: SparkSession, name: str) -> None:
    """Leave only the operation in the summary of a table's current snapshot."""
    parser = java_class(session, "org.apache.iceberg.TableMetadataParser")
    operations = iceberg_table(session, name).operations()
    seen = operations.current()
    metadata = json.loads(parser.toJson(seen))
    for snapshot in metadata["snapshots"]:
        if snapshot["snapshot-id"] == metadata["current-snapshot-id"]:
            snapshot["summary"] = {"operation": snapshot["summary"]["operation"]}
    operations.commit(seen, parser.fromJson(json.dumps(metadata)))
