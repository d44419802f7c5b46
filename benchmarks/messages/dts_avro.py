"""DTS Avro, from a MySQL server."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from benchmarks.baselines.dts_avro import record_schema
from benchmarks.messages.message import Message, json_object
from benchmarks.workload import DATABASE, Change

_DATE_TIME = "struct<year:int,month:int,day:int,hour:int,minute:int,second:int,millis:int>"
#: The branches of a value's union, without its null.
_BRANCHES = {
    "Integer": "struct<precision:int,value:string>",
    "Character": "struct<charset:string,value:binary>",
    "Decimal": "struct<value:string,precision:int,scale:int>",
    "Float": "struct<value:double,precision:int,scale:int>",
    "Timestamp": "struct<timestamp:bigint,millis:int>",
    "DateTime": _DATE_TIME,
    "TimestampWithTimeZone": f"struct<value:{_DATE_TIME},timezone:string>",
    "BinaryGeometry": "struct<type:string,value:binary>",
    "TextGeometry": "struct<type:string,value:string>",
    "BinaryObject": "struct<type:string,value:binary>",
    "TextObject": "struct<type:string,value:string>",
    "EmptyObject": "string",
}
#: Column type -> MySQL's number of it.
_TYPE_NUMBERS = {"long": 8, "text": 253, "decimal": 246, "boolean": 1, "timestamp": 12}


def encode(change: Change) -> list[Message]:
    position = F.concat(change.position, F.lit("@1"))
    fields = F.array(
        *(
            json_object({"name": name, "dataTypeNumber": _TYPE_NUMBERS[type_]})
            for name, type_ in change.types.items()
        )
    )
    record = {
        "version": 0,
        "id": change.position,
        "sourceTimestamp": F.floor(change.made_at / 1000),
        "sourcePosition": position,
        "safeSourcePosition": position,
        "sourceTxid": change.transaction,
        "source": json_object({"sourceType": "MySQL", "version": "8.0.36"}),
        "operation": F.upper(change.op),
        "objectName": F.concat(F.lit(f"{DATABASE}."), change.table),
        "processTimestamps": F.array(change.made_at, change.published_at),
        "tags": F.create_map(F.lit("pk_uk_info"), F.lit('{"PRIMARY":["id"]}')),
        "fields": _list(fields),
        "beforeImages": F.when(change.has_before, _image(change.before, change)),
        "afterImages": F.when(change.has_after, _image(change.after, change)),
    }
    return [Message(to_avro(json_object(record), record_schema()))]


def _image(values: dict[str, Column], change: Change) -> Column:
    written = [_value(value, change.types[name]) for name, value in values.items()]
    return _list(F.array(*written))


def _list(items: Column) -> Column:
    """Return the list branch of a union of a text and a list."""
    return F.struct(F.lit(None).cast("string").alias("member0"), items.alias("member1"))


def _value(value: Column, type_: str) -> Column:
    match type_:
        case "long" | "boolean":
            digits = value.cast("bigint").cast("string")
            branch, content = "Integer", json_object({"precision": 19, "value": digits})
        case "text":
            data = value.cast("binary")
            branch, content = "Character", json_object({"charset": "utf8mb4", "value": data})
        case "decimal":
            digits = value.cast("string")
            parts = {"value": digits, "precision": 12, "scale": 2}
            branch, content = "Decimal", json_object(parts)
        case _:
            branch, content = "DateTime", _date_time(F.timestamp_millis(value))
    empty = F.when(value.isNull(), "NULL")
    branches = {branch: F.when(value.isNotNull(), content), "EmptyObject": empty}
    return F.struct(
        *(
            branches.get(name, F.lit(None)).cast(of_branch).alias(f"member{place}")
            for place, (name, of_branch) in enumerate(_BRANCHES.items())
        )
    )


def _date_time(at: Column) -> Column:
    parts = {
        "year": F.year(at),
        "month": F.month(at),
        "day": F.dayofmonth(at),
        "hour": F.hour(at),
        "minute": F.minute(at),
        "second": F.second(at),
    }
    return json_object({**parts, "millis": 0})
