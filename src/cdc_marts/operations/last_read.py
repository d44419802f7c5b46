"""When a table last read its inputs, by the commits of its snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import watermarks_in

if TYPE_CHECKING:
    from dbt.adapters.spark_session.api import Snapshot

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
