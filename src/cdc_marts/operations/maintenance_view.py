"""What maintenance did, as text: a line for a table."""

from __future__ import annotations

from collections.abc import Callable

from rich.filesize import decimal

from cdc_marts.operations.maintenance import Maintained
from cdc_marts.printing import counted


def line_of(done: Maintained) -> str:
    """Return the counts of a table before and after, without its name."""
    before, after = done.before, done.after
    orphans = f", {counted(done.orphan_files, 'orphan file')}" if done.orphan_files else ""
    rows = f", rows {_became(before.rows, after.rows)}" if done.has_lost_rows else ""
    return (
        f"files {_became(before.files, after.files)},"
        f" snapshots {_became(before.snapshots, after.snapshots)},"
        f" size {_became(before.size, after.size, decimal)}{rows}{orphans}"
    )


def _became(
    count_before: int, count_after: int, shown: Callable[[int], str] = "{:,}".format
) -> str:
    before, after = shown(count_before), shown(count_after)
    return before if before == after else f"{before} -> {after}"
