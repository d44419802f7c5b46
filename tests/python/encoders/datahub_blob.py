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
) -> list[Message]:
    """All kinds of changes.

    `split_updates` false: an update is one record with both rows, of the operation `update_op`.
    """
    told = envelopes(change, split_updates=split_updates, update_op=update_op, db_type=db_type)
    return [Message(json_bytes(_without_empty(envelope))) for envelope in told]


def _without_empty(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope as a BLOB carries it: a member that is not there is left out.

    A NULL among a row's columns stays.
    """
    return {
        name: _without_empty(member)
        if isinstance(member, dict) and name != "dataColumn"
        else member
        for name, member in envelope.items()
        if member is not None
    }
