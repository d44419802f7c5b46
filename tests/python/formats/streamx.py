"""StreamX messages for the tests of the formats that carry them."""

from __future__ import annotations

from typing import Any

TIMES = {
    "eventTime": 1620458077000,
    "systemTime": 1620458077779,
    "checkpointTime": 1620458076000,
}
COLUMNS = {"id": "LONG", "name": "STRING"}
SOURCE = {"dbType": "MySQL", "dbVersion": "8.0", "dbName": "shop", "tableName": "orders"}


def row_message(
    op: str | None,
    before: Any = None,
    after: Any = None,
    sequence_id: Any = "1620457642589000001",
    primary_key: list[str] | None = ("id",),
    columns: dict[str, str] = COLUMNS,
    source: dict[str, Any] | None = SOURCE,
    times: dict[str, Any] | None = TIMES,
    **payload: Any,
) -> dict[str, Any]:
    """A message as Kafka carries it: what is not there is null."""
    return {
        "schema": {
            "dataColumn": [{"name": name, "type": type_} for name, type_ in columns.items()],
            "primaryKey": None if primary_key is None else list(primary_key),
            "source": source,
        },
        "payload": {
            "before": None if before is None else {"dataColumn": before},
            "after": None if after is None else {"dataColumn": after},
            "sequenceId": sequence_id,
            "timestamp": times,
            "op": op,
            "ddl": None,
            **payload,
        },
        "version": "0.0.1",
    }


def statement_message(op: str, text: str | None = None, **members: Any) -> dict[str, Any]:
    """A message that is no row change."""
    ddl = None if text is None else {"text": text, "ddlMeta": "rO0ABXNyACk="}
    return row_message(op, columns={}, primary_key=None, ddl=ddl, **members)


def without_nulls(message: Any) -> Any:
    """The message as a BLOB carries it: what is not there is left out."""
    if isinstance(message, list):
        return [without_nulls(member) for member in message]
    if isinstance(message, dict):
        return {
            name: without_nulls(member) for name, member in message.items() if member is not None
        }
    return message
