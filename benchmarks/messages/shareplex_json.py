"""SharePlex JSON: some updates come in one message, some in two halves."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from benchmarks.messages.message import Message, code_of, json, json_object, moment, texts
from benchmarks.workload import CHANGED_COLUMNS, Change

_CODES = {"insert": "ins", "update": "upd", "delete": "del"}
#: One of so many updates comes in two halves.
_WHOLE_UPDATES = 10


def encode(change: Change) -> list[Message]:
    """Encode a change.

    A whole update has its changed columns in `data` and the row before in `key`.
    """
    before, row = texts(change.before, change.types), texts(change.row, change.types)
    changes = {name: row[name] for name in CHANGED_COLUMNS}
    is_update = change.op == "update"
    is_split = is_update & (change.position % _WHOLE_UPDATES == 0)
    code = code_of(change.op, _CODES)
    return [
        Message(_message(change, F.lit("UPDATE BEFORE"), {"data": before}), is_published=is_split),
        Message(
            F.when(is_split, _message(change, F.lit("UPDATE AFTER"), {"data": row}))
            .when(is_update, _message(change, code, {"data": changes, "key": before}))
            .otherwise(_message(change, code, {"data": row}))
        ),
    ]


def _message(change: Change, op: Column, images: dict[str, dict[str, Column]]) -> Column:
    meta = {
        "time": moment(change.made_at, "yyyy-MM-dd'T'HH:mm:ss"),
        "userid": 84,
        "op": op,
        "scn": change.position.cast("string"),
        "rowid": F.concat(F.lit("AAAS9"), F.substring(F.md5(change.key.cast("string")), 1, 13)),
        "trans": F.concat(F.lit("7.0."), change.transaction),
        "seq": 1,
        "size": 1,
        "table": F.concat(F.lit("SHOP."), F.upper(change.table)),
        "idx": "1/1",
        "posttime": moment(change.published_at, "yyyy-MM-dd'T'HH:mm:ss"),
    }
    rows = {name: json_object(image) for name, image in images.items()}
    return json(json_object({"meta": json_object(meta), **rows}))
