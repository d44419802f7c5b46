"""The message of commands about a source table that no message names."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from cdc_marts.printing import printable
from cdc_marts.relations import Relations


def no_such_table(
    source_format: str, table_id: str, known: Sequence[str], relations: Relations
) -> str:
    """Return the message that a format has no such table, with a similar name from `known`."""
    meant = difflib.get_close_matches(table_id, known, n=1, cutoff=0.4)
    hint = (
        f"Did you mean {printable(meant[0])}?"
        if meant
        else f"{relations.model('source_tables')} lists them."
    )
    return f"{source_format} has no source table {printable(table_id)}. {hint}"
