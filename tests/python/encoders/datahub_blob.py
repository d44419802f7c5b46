"""Changes as records of a DataHub BLOB topic."""

from __future__ import annotations

from typing import Any

from tests.python.encoders.changes import Change, Message, json_bytes
from tests.python.encoders.streamx import envelopes


def encode(
    change: Change,
    *,
    split_updates: bool = True,
    update_op: str = "UPDATE",
    db_type: str = "PostgreSQL",
    ddl_op: str | None = None,
    keys_as_text: bool = False,
    half_op: str | None = None,
) -> list[Message]:
    """All kinds of changes.

    `split_updates` false: an update is one record with both rows, of the operation `update_op`.
    What the log does not have of a row is not in the schema either: a column that is listed and
    not there is NULL.
    `ddl_op`: the operation of all schema changes.
    `keys_as_text`: whole numbers in keys are texts.
    `half_op`: the operation of both halves, where they do not have one each.
    """
    encoded = envelopes(
        change,
        split_updates=split_updates,
        update_op=update_op,
        db_type=db_type,
        lists_image_only=True,
        ddl_op=ddl_op,
        keys_as_text=keys_as_text,
        half_op=half_op,
    )
    return [Message(json_bytes(_without_nulls(envelope))) for envelope in encoded]


def _without_nulls(members: dict[str, Any]) -> dict[str, Any]:
    """As fastJSON writes it, which leaves out null members, also a row's."""
    return {
        name: _without_nulls(member) if isinstance(member, dict) else member
        for name, member in members.items()
        if member is not None
    }
