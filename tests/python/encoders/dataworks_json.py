"""Changes as DataWorks messages in Kafka."""

from __future__ import annotations

from tests.python.encoders.changes import Change, Message, json_bytes
from tests.python.encoders.streamx import envelopes


def encode(
    change: Change,
    *,
    split_updates: bool = True,
    db_type: str = "MySQL",
    lists_image_only: bool = False,
    ddl_op: str | None = None,
    keys_as_text: bool = False,
) -> list[Message]:
    """All kinds of changes.

    `split_updates` false: an update is one UPDATE_AFTER with both rows.
    `lists_image_only`: the schema lists what the log has of the row, else the whole table.
    `ddl_op`: the operation of all schema changes.
    `keys_as_text`: whole numbers in keys are texts.
    """
    encoded = envelopes(
        change,
        split_updates=split_updates,
        update_op="UPDATE_AFTER",
        db_type=db_type,
        lists_image_only=lists_image_only,
        ddl_op=ddl_op,
        keys_as_text=keys_as_text,
    )
    return [Message(json_bytes(envelope)) for envelope in encoded]
