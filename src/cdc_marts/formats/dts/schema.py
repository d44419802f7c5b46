"""This module has the Avro schema of DTS messages, `com.alibaba.dts.formats.avro.Record`.

Source: DTS, "Data formats of a message queue", DTS Avro, and the schema definition that this page
links.
"""

from __future__ import annotations

import json
from typing import Any

#: Bytes that are appended to every message before it is read, to recognize the end of the record.
#: As a number, they have too many digits. So a record that is cut off can't continue into them.
TRAILER = b"\xfe" + b"\xff" * 10

_NAMESPACE = "com.alibaba.dts.formats.avro"

_SOURCE_TYPES = (
    "MySQL Oracle SQLServer PostgreSQL MongoDB Redis DB2 PPAS DRDS HBASE HDFS FILE OTHER"
)
_OPERATIONS = (
    "INSERT UPDATE DELETE DDL BEGIN COMMIT ROLLBACK ABORT HEARTBEAT CHECKPOINT COMMAND FILL"
    " FINISH CONTROL RDB NOOP INIT"
)


def _record(name: str, /, **fields: Any) -> dict[str, Any]:
    members = [{"name": field, "type": type_} for field, type_ in fields.items()]
    return {"type": "record", "name": name, "namespace": _NAMESPACE, "fields": members}


def _enum(name: str, symbols: str) -> dict[str, Any]:
    return {
        "type": "enum",
        "name": name,
        "namespace": _NAMESPACE,
        "symbols": symbols.split(),
    }


def _array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


_OPTIONAL_INT = ["null", "int"]

_DATE_TIME = _record(
    "DateTime",
    year=_OPTIONAL_INT,
    month=_OPTIONAL_INT,
    day=_OPTIONAL_INT,
    hour=_OPTIONAL_INT,
    minute=_OPTIONAL_INT,
    second=_OPTIONAL_INT,
    millis=_OPTIONAL_INT,
)

#: A column's value. The order of the branches is part of the format.
_VALUE = [
    "null",
    _record("Integer", precision="int", value="string"),
    _record("Character", charset="string", value="bytes"),
    _record("Decimal", value="string", precision="int", scale="int"),
    _record("Float", value="double", precision="int", scale="int"),
    _record("Timestamp", timestamp="long", millis="int"),
    _DATE_TIME,
    _record("TimestampWithTimeZone", value=f"{_NAMESPACE}.DateTime", timezone="string"),
    _record("BinaryGeometry", type="string", value="bytes"),
    _record("TextGeometry", type="string", value="string"),
    _record("BinaryObject", type="string", value="bytes"),
    _record("TextObject", type="string", value="string"),
    _enum("EmptyObject", "NULL NONE"),
]
#: An Avro schema defines a type only once. After that, it refers to the type by its name.
_VALUE_BY_NAME = [
    f"{_NAMESPACE}.{branch['name']}" if isinstance(branch, dict) else branch for branch in _VALUE
]

#: The record up to its images, and `tail` after them. Newer producers write `bornTimestamp` there,
#: and older ones nothing. `tail` contains this, and the trailer.
RECORD_SCHEMA = json.dumps(
    _record(
        "Record",
        version="int",
        id="long",
        sourceTimestamp="long",
        sourcePosition="string",
        safeSourcePosition="string",
        sourceTxid="string",
        source=_record("Source", sourceType=_enum("SourceType", _SOURCE_TYPES), version="string"),
        operation=_enum("Operation", _OPERATIONS),
        objectName=["null", "string"],
        processTimestamps=["null", _array("long")],
        tags={"type": "map", "values": "string"},
        fields=[
            "null",
            "string",
            _array(_record("Field", name="string", dataTypeNumber="int")),
        ],
        beforeImages=["null", "string", _array(_VALUE)],
        afterImages=["null", "string", _array(_VALUE_BY_NAME)],
        tail={
            "type": "fixed",
            "name": "Tail",
            "namespace": _NAMESPACE,
            "size": len(TRAILER),
        },
    )
)
