"""Kafka Connect's JSON: `{schema, payload}`, or the bare payload of a converter without schemas.

Lindorm and both formats of CDL come in it.  Source: Kafka Connect, JsonConverter;
Debezium, "unavailable.value.placeholder" and the connector for PostgreSQL.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.images import (
    column_names,
    columns_of,
    image_of,
    names_left_out,
    names_with,
    no_columns,
)
from cdc_marts.parsing.messages import COORDINATES, read_json, rejection
from cdc_marts.parsing.variants import may_hold_bytes, may_hold_text

#: What converters without KAFKA-3832 write for a tombstone where they write no schema.
_NULL_VALUE = (
    r"""^\s*\{(\s*"schema"\s*:\s*null\s*,)?\s*"payload"\s*:\s*null\s*"""
    r"""(,\s*"schema"\s*:\s*null\s*)?\}\s*$"""
)
_FIELD = "field: string, type: string, name: string, parameters: variant, items: variant"
_INTEGER_TYPES = ("int8", "int16", "int32", "int64")
_SCHEMA = f"struct<fields: array<struct<{_FIELD}, fields: array<struct<{_FIELD}>>>>>"


def read_payload(messages: DataFrame, payload: str) -> DataFrame:
    """Landed messages -> coordinates, `value`, `unreadable`, `connect_schema`, `payload`.

    `payload` is the DDL of the payload's fields; the message's own description
    of them comes along as `connect_schema`, null where it has none.  An envelope of null is a
    tombstone.
    """
    # A bare payload has at the top what an enveloped one has a level below.
    envelope = f"schema {_SCHEMA}, payload struct<{payload}>, {payload}"
    read = read_json(messages, envelope)
    fields = read.select("message.payload.*").columns
    bare = F.struct(*(F.col(f"message.{field}").alias(field) for field in fields))
    return read.select(
        *COORDINATES,
        "value",
        F.coalesce("unreadable", _null_value()).alias("unreadable"),
        F.col("message.schema").alias("connect_schema"),
        F.coalesce(F.col("message.payload"), bare).alias("payload"),
    )


def _null_value() -> Column:
    """An envelope around null as a rejection, by which staging knows a tombstone."""
    value = F.col("value")
    # The parse gives a null for a member that is null and for one that is not there.
    is_described = F.col("message.schema").isNotNull() & F.contains(value, F.lit(b'"payload"'))
    is_plain = (F.length(value) < 100) & value.cast("string").rlike(_NULL_VALUE)
    return rejection(
        (
            F.col("message.payload").isNull() & (is_described | is_plain),
            "tombstone",
            "the envelope has no payload",
        ),
    )


def fields_of(connect_schema: Column, *members: str) -> Column:
    """The fields of the first of these members that the schema describes, null if none.

    array<struct<field, type, name, …>>, in the order of the schema.
    """
    fields = F.coalesce(*(_fields_of(connect_schema, member) for member in members))
    return F.filter(fields, lambda field: field["field"].isNotNull())


def _fields_of(connect_schema: Column, member: str) -> Column:
    members = connect_schema["fields"]
    index = F.array_position(members["field"], member) - 1
    fields = F.get(members["fields"], index.cast("int"))
    return F.when(F.size(fields) > 0, fields)


def field_names(fields: Column) -> Column:
    """Names of the fields, in order; null without a schema."""
    return F.array_distinct(fields["field"])


def column_types(fields: Column) -> Column:
    """Field -> its semantic type (`name`), or its `type`; null without a schema."""
    types = F.transform(fields, lambda field: F.coalesce(field["name"], field["type"]))
    return F.map_from_arrays(fields["field"], types)


def whole_number_columns(fields: Column) -> Column:
    """Names of the fields that are integers, whatever they mean; null without a schema."""
    return F.filter(fields, lambda field: field["type"].isin(*_INTEGER_TYPES))["field"]


def column_parameters(fields: Column) -> Column:
    """Field -> JSON of its `parameters`, or of an array's `items`; only fields that have them."""
    entries = F.transform(
        fields,
        lambda field: F.struct(
            field["field"], F.to_json(F.coalesce(field["items"], field["parameters"]))
        ),
    )
    return F.map_from_entries(F.filter(entries, lambda entry: entry["col2"].isNotNull()))


# --- Placeholders, which stand in unavailable columns (TOAST) --------------------------------

_PLACEHOLDER = "__debezium_unavailable_value"
_BASE64 = base64.b64encode(_PLACEHOLDER.encode()).decode()
_HEX = _PLACEHOLDER.encode().hex()
_INTEGERS = list(_PLACEHOLDER.encode())
_UUID = str(uuid.UUID(bytes=hashlib.md5(_PLACEHOLDER.encode()).digest(), version=3))
_HSTORE = {_PLACEHOLDER: _PLACEHOLDER}


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


#: What stands in an unavailable column, as compact JSON: text, bytes (in three encodings), hstore,
#: and arrays of text, bytes, uuid and integers.
_PLACEHOLDERS = tuple(
    _json(value)
    for value in (
        *(_PLACEHOLDER, _BASE64, _HEX, _json(_HSTORE)),
        *([_PLACEHOLDER], [_BASE64], [_HEX], [_UUID], _INTEGERS),
        _HSTORE,
    )
)
#: An image without one of these in a text holds no placeholder, unless it is an array of bytes.
_TRACES = (_PLACEHOLDER, _BASE64.rstrip("="), _HEX, _UUID)


def may_hold_placeholders(*images: Column) -> Column:
    """A quick look at the bytes of the images, so that most of them need no second one."""
    return may_hold_text(_TRACES, *images) | may_hold_bytes(_PLACEHOLDER.encode(), *images)


def without_placeholders(image: Column, may_hold: Column) -> Column:
    """The image without its columns in which a placeholder stands.  Most stay as they are."""
    columns = columns_of(image)
    available = F.map_filter(columns, lambda _, value: ~_is_placeholder(value))
    return F.when(may_hold & columns.isNotNull(), image_of(available)).otherwise(image)


def placeholder_columns(image: Column, may_hold: Column) -> Column:
    """Names of the columns in which a placeholder stands."""
    held = F.map_filter(columns_of(image), lambda _, value: _is_placeholder(value))
    return F.when(may_hold, column_names(held)).otherwise(no_columns())


def _is_placeholder(value: Column) -> Column:
    return F.to_json(value).isin(*_PLACEHOLDERS)


def unavailable_columns(names: Column, placeholders: Column, columns: Column) -> Column:
    """The columns that a schema names, or that hold a placeholder, and that a row image lacks."""
    named = names_with(F.coalesce(names, no_columns()), placeholders)
    return names_left_out(named, column_names(columns))
