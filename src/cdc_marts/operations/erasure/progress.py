"""A property of the landing table that says that an erasure is not complete."""

from __future__ import annotations

from dbt.adapters.spark_session.api import iceberg_table, snapshots
from pyspark.sql import SparkSession

#: Property of a landing table during an erasure. At first, it is the id of the snapshot that the
#: erasure found. A commit that changed messages has a property of its own.
_UNFINISHED = "cdc_marts.unfinished-erasure"
_LANDING_HAS_CHANGED = "true"
#: The property of a commit that changed messages.
REDACTED = "cdc_marts.redacted"


def is_unfinished(session: SparkSession, landing: str) -> bool:
    """Return whether an erasure was interrupted after it had changed landed messages."""
    table = iceberg_table(session, landing)
    progress = table.properties().get(_UNFINISHED)
    if progress is None:
        return False
    if progress == _LANDING_HAS_CHANGED:
        return True
    for found in snapshots(session, table):
        if str(found.id) == progress:
            return False
        if REDACTED in found.summary:
            return True
    # The snapshots since the erasure began have expired.
    return True


def note_begin(session: SparkSession, landing: str) -> None:
    """Note that an erasure is about to change messages."""
    before = next(snapshots(session, iceberg_table(session, landing)), None)
    # A landing table without snapshots has no message to change.
    _note(session, landing, _LANDING_HAS_CHANGED if before is None else str(before.id))


def note_change(session: SparkSession, landing: str) -> None:
    """Note that messages were changed."""
    _note(session, landing, _LANDING_HAS_CHANGED)


def note_end(session: SparkSession, landing: str) -> None:
    """Note that the erasure is complete."""
    session.sql(f"alter table {landing} unset tblproperties if exists ('{_UNFINISHED}')")


def _note(session: SparkSession, landing: str, progress: str) -> None:
    session.sql(f"alter table {landing} set tblproperties ('{_UNFINISHED}' = '{progress}')")
