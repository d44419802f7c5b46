"""Messages that can't be read: for each format every reject code that it can give."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.python.encoders import dts_avro
from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    INSERT,
    Place,
    RowChange,
    Table,
    json_bytes,
)

TOPIC = "broken"


@dataclass(frozen=True)
class Broken:
    """A message, why it can't be read, and the reject code that says so."""

    reject_code: str
    what: str
    value: bytes


#: A change of a good message that takes a member away.
_GONE = object()

_TABLE = Table("orders", {"id": "long", "status": "text"}, ("id",))
_GOOD = RowChange(
    INSERT, _TABLE, Place(1_709_283_600_000_000_001, 1_709_283_600_000, "57227594"),
    after={"id": 1, "status": "new"},
)  # fmt: skip
#: Variants that keep the good message short.
_BARE = {"with_schema": False}
_VARIANTS = {"lindorm_debezium": _BARE, "cdl_json": _BARE, "cdl_debezium_json": _BARE}

#: Format -> (reject code, what is wrong, member -> its other value) of the good message.
_EDITS: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {
    "lindorm_debezium": [
        ("missing_field", "no operation", {"op": _GONE}),
        ("missing_field", "no table", {"source.table": _GONE}),
        ("missing_field", "no time of the change, which orders it", {"source.ts_ms": _GONE}),
        ("unknown_op", "an operation that is none", {"op": "x"}),
        ("missing_image", "an insert without its row", {"after": None}),
        ("missing_image", "a delete without its row", {"op": "d", "after": None}),
        ("bad_sequence", "an unknown time of the change, which orders it", {"source.ts_ms": -1}),
        ("bad_timestamp", "a text for a time", {"ts_ms": "yesterday"}),
    ],
    "dataworks_json": [
        ("missing_field", "no operation", {"payload.op": None}),
        ("missing_field", "no table", {"schema.source.tableName": None}),
        ("missing_field", "no sequence id", {"payload.sequenceId": None}),
        ("missing_field", "a row without its key", {"payload.after.dataColumn": {"status": "new"}}),
        ("unknown_op", "an operation in lower case", {"payload.op": "insert"}),
        ("missing_image", "an insert without its row", {"payload.after": None}),
        ("missing_image", "a delete without its row", {"payload.op": "DELETE"}),
        ("bad_sequence", "a placeholder for a sequence id", {"payload.sequenceId": "XXX"}),
        ("bad_timestamp", "a text for a time", {"payload.timestamp.eventTime": "yesterday"}),
    ],
    "shareplex_json": [
        ("missing_field", "no operation", {"meta.op": _GONE}),
        ("missing_field", "no table", {"meta.table": _GONE}),
        ("missing_field", "no system change number", {"meta.scn": _GONE}),
        ("unknown_op", "an operation that is none", {"meta.op": "merge"}),
        ("missing_image", "an insert without its row", {"data": _GONE}),
        ("missing_image", "an update without the row before", {"meta.op": "upd"}),
        ("bad_sequence", "no digits for a system change number", {"meta.scn": "0x7D4"}),
        ("bad_timestamp", "a text for a time", {"meta.time": "yesterday"}),
    ],
    "canal_json": [
        ("missing_field", "no type", {"type": _GONE}),
        ("missing_field", "no table", {"table": ""}),
        ("missing_field", "a row without its key", {"data": [{"status": "new"}]}),
        ("unknown_op", "a type that is none", {"type": "UPSERT"}),
        ("missing_image", "an insert without rows", {"data": None}),
        ("missing_image", "a row that is no object", {"data": ["new"]}),
        (
            "missing_image",
            "more rows before than after",
            {"type": "UPDATE", "old": [{"status": "a"}, {"status": "b"}]},
        ),
        ("bad_timestamp", "a text for a time", {"es": "yesterday"}),
        ("bad_timestamp", "a time beyond the year 9999", {"ts": 10**18}),
    ],
    "cdl_json": [
        ("missing_field", "no operation", {"OPERATION": _GONE}),
        ("missing_field", "no table", {"TABLE_NAME": None}),
        ("missing_field", "no log position", {"transaction.properties": []}),
        ("missing_field", "no version", {"message_version": _GONE}),
        ("unknown_op", "an operation of the other format", {"OPERATION": "c"}),
        ("missing_image", "an insert without its row", {"data": None}),
        ("missing_image", "a delete without its row", {"OPERATION": "DELETE"}),
        (
            "bad_sequence",
            "no digits for a log position",
            {"transaction.properties": [{"name": "lsn", "value": "26/2C4D6F90"}]},
        ),
        ("bad_timestamp", "a text for a time", {"TIMESTAMP": "yesterday"}),
        ("wrong_format", "the other version", {"message_version": "2.0"}),
    ],
    "cdl_debezium_json": [
        ("missing_field", "no operation", {"op": _GONE}),
        ("missing_field", "no table", {"source.table": None}),
        ("missing_field", "no log position", {"source.lsn": None}),
        ("missing_field", "no version", {"message_version": _GONE}),
        ("missing_field", "a row without its key", {"after": {"status": "new"}}),
        ("unknown_op", "an operation of the other format", {"op": "INSERT"}),
        ("missing_image", "an insert without its row", {"after": None}),
        ("missing_image", "a delete without its row", {"op": "d"}),
        ("bad_sequence", "no digits for a log position", {"source.lsn": "26/2C4D6F90"}),
        ("bad_timestamp", "a text for a time", {"source.ts_ms": "yesterday"}),
        ("wrong_format", "the other version", {"message_version": "1.0"}),
    ],
    "datahub_tuple": [
        ("missing_field", "no operation", {"_operation_type_": _GONE}),
        ("missing_field", "no table", {"_source_table_": ""}),
        ("missing_field", "no sequence id", {"_sequence_id_": None}),
        ("unknown_op", "an operation that is none", {"_operation_type_": "M"}),
        ("missing_image", "flags that don't fit the operation", {"_operation_type_": "D"}),
        ("missing_image", "flags for both rows", {"_before_image_": "Y"}),
        ("missing_image", "metadata only", {"id": _GONE, "status": _GONE}),
        ("bad_sequence", "no digits for a sequence id", {"_sequence_id_": "0x7D4"}),
        ("bad_timestamp", "a text for a time", {"_excute_time_": "yesterday"}),
        (
            "wrong_format",
            "no metadata",
            dict.fromkeys(
                (
                    *("_sequence_id_", "_operation_type_", "_excute_time_"),
                    *("_source_table_", "_before_image_", "_after_image_"),
                ),
                _GONE,
            ),
        ),
    ],
}
_EDITS["datahub_blob"] = _EDITS["dataworks_json"]


def broken(source_format: str) -> list[Broken]:
    if source_format == "dts_avro":
        return _broken_avro()
    (message,) = ENCODE[source_format](_GOOD, **_VARIANTS.get(source_format, {}))
    good = json.loads(message.value or b"")
    return [
        *_broken_json(message.value or b""),
        *(
            Broken(code, what, json_bytes(_edited(good, members)))
            for code, what, members in _EDITS[source_format]
        ),
    ]


def _broken_json(good: bytes) -> list[Broken]:
    status = b'"status":"new"'
    gbk = '"status":"新"'.encode("gbk")
    return [
        Broken("not_utf8", "a text in GBK", good.replace(status, gbk)),
        Broken("malformed_json", "cut off", good[: len(good) // 2]),
        Broken("malformed_json", "two messages in one", good + good),
        Broken("malformed_json", "text after the message", good + b" EOF"),
        Broken("malformed_json", "an array at the top", b"[" + good + b"]"),
        Broken("malformed_json", "no object", b"null"),
        Broken("malformed_json", "a column twice", good.replace(status, status + b"," + status)),
        Broken("malformed_json", "a comma too many", good.replace(status, status + b",")),
    ]


def _broken_avro() -> list[Broken]:
    table, row = "shop.orders", {"id": 1, "status": "new"}
    insert = dts_avro.row("INSERT", table, after=row, key=["id"])
    good = dts_avro.encode(insert)
    gbk = dts_avro.row(
        "INSERT", table, after={"id": 1, "status": dts_avro.character("新", encoding="gbk")}
    )

    def record(code: str, what: str, **members: Any) -> Broken:
        return Broken(code, what, dts_avro.encode({**insert, **members}))

    return [
        Broken("malformed_avro", "cut off", good[:-4]),
        Broken("malformed_avro", "two records in one", good + good),
        Broken("malformed_avro", "another format", b'{"type":"INSERT","database":"shop"}'),
        record(
            "malformed_avro",
            "fewer values than columns",
            fields=[("id", 8), ("a", 253), ("b", 253)],
        ),
        Broken("not_utf8", "a text in GBK that is marked as UTF-8", dts_avro.encode(gbk)),
        record("missing_field", "no table", objectName="shop"),
        record("missing_field", "no columns", fields=None),
        record("missing_field", "a row without its key", tags={"pk_uk_info": '{"PRIMARY":["no"]}'}),
        record("missing_image", "an insert without its row", afterImages=None),
        record("missing_image", "a delete without its row", operation="DELETE"),
        record("bad_timestamp", "milliseconds for seconds", sourceTimestamp=1_709_283_600_000),
    ]


def _edited(good: dict[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """The good message with other members; a path's steps are joined by dots."""
    message = copy.deepcopy(good)
    for path, value in members.items():
        *steps, name = path.split(".")
        parent = message
        for step in steps:
            parent = parent[step]
        if value is _GONE:
            del parent[name]
        else:
            parent[name] = value
    return message
