"""What a table last read of its inputs, and when, by the commits of its snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import all_snapshots, iceberg_table, watermarks_in

if TYPE_CHECKING:
    from dbt.adapters.spark_session.api import Snapshot
    from pyspark.sql import SparkSession

#: Property of a commit of maintenance that moves watermarks, and reads nothing: when the table last
#: read an input (epoch milliseconds). The commit of that read may have expired.
LAST_READ_AT = "cdc_marts.last-read-at"


def last_read_at(snapshots: Iterable[Snapshot]) -> int | None:
    """Return when a table last read an input (epoch milliseconds); None if it never did.

    `snapshots`: those of the table, from the newest back.
    """
    for snapshot in snapshots:
        # The first snapshot has empty watermarks if nothing had landed when the table was made.
        if any(watermarks_in(snapshot).values()):
            return int(snapshot.summary.get(LAST_READ_AT, snapshot.committed_at))
    return None


def newest_watermarks(session: SparkSession, name: str) -> dict[str, int]:
    """Return the watermarks of the last run that a table committed: input -> snapshot."""
    snapshots = all_snapshots(session, iceberg_table(session, name)).ancestors
    return next(filter(None, map(watermarks_in, snapshots)), {})
