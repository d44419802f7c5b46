"""This module reads Kafka Connect's JSON: `{schema, payload}`, or only the payload.

A converter without schemas writes only the payload. Messages of Lindorm and of both formats of CDL
are such JSON. Source: Kafka Connect, JsonConverter; Debezium, "unavailable.value.placeholder" and
the connector for PostgreSQL.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable

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
from cdc_marts.parsing.messages import LANDED_COLUMNS, Check, read_json, rejection
from cdc_marts.parsing.variants import may_hold_bytes, may_hold_text

#: A tombstone of a converter without KAFKA-3832, if it writes no schema.
_NULL_VALUE = (
    r"""^\s*\{(\s*"schema"\s*:\s*null\s*,)?\s*"payload"\s*:\s*null\s*"""
    r"""(,\s*"schema"\s*:\s*null\s*)?\}\s*$"""
)
_FIELD = "field: string, type: string, name: string, parameters: variant, items: variant"
_INTEGER_TYPES = ("int8", "int16", "int32", "int64")
_SCHEMA = f"struct<fields: array<struct<{_FIELD}, fields: array<struct<{_FIELD}>>>>>"


def read_payload(messages: DataFrame, payload: str) -> DataFrame:
    """Read landed messages: coordinates, `value`, `unreadable`, `connect_schema` and `payload`.

    The parameter `payload` is the DDL of the payload's fields. The column `connect_schema` has the
    description of these fields that the message itself contains, or null. If the message is null in
    an envelope, it is a tombstone.
    """
    # The fields of a bare payload are at the top; in an envelope, they are one level below.
    envelope = f"schema {_SCHEMA}, payload struct<{payload}>, {payload}"
    read = read_json(messages, envelope)
    fields = read.select("message.payload.*").columns
    bare = F.struct(*(F.col(f"message.{field}").alias(field) for field in fields))
    return read.select(
        *LANDED_COLUMNS,
        "value",
        F.coalesce("unreadable", _null_value()).alias("unreadable"),
        F.col("message.schema").alias("connect_schema"),
        F.coalesce(F.col("message.payload"), bare).alias("payload"),
    )


def _null_value() -> Column:
    """Reject an envelope around null with the code by which staging recognizes a tombstone."""
    value = F.col("value")
    # The parse returns null for a null member and for a missing one.
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
    """Return the fields of the first of these members that the schema describes, or null.

    They are an array<struct<field, type, name, …>>, in the order of the schema.
    """
    fields = F.coalesce(*(_fields_of(connect_schema, member) for member in members))
    return F.filter(fields, lambda field: field["field"].isNotNull())


def _fields_of(connect_schema: Column, member: str) -> Column:
    members = connect_schema["fields"]
    index = F.array_position(members["field"], member) - 1
    fields = F.get(members["fields"], index.cast("int"))
    return F.when(F.size(fields) > 0, fields)


def field_names(fields: Column) -> Column:
    """Return the names of the fields in their order, or null if there is no schema."""
    return F.array_distinct(fields["field"])


def columns_of_types(fields: Column) -> tuple[Column, ...]:
    """Return what the fields say of the types of a row, each column with its name in staging.

    They are `column_types`, `column_parameters` and `whole_number_columns`. Each is null if there
    is no schema.
    """
    return (
        _column_types(fields).alias("column_types"),
        _column_parameters(fields).alias("column_parameters"),
        _whole_number_columns(fields).alias("whole_number_columns"),
    )


def _column_types(fields: Column) -> Column:
    """Return a map from each field to its type.

    The type is the semantic type of the field (`name`), or its `type` if it has none.
    """
    types = F.transform(fields, lambda field: F.coalesce(field["name"], field["type"]))
    return F.map_from_arrays(fields["field"], types)


def _whole_number_columns(fields: Column) -> Column:
    """Return the names of all fields that are integers."""
    return F.filter(fields, lambda field: field["type"].isin(*_INTEGER_TYPES))["field"]


def _column_parameters(fields: Column) -> Column:
    """Return a map from fields to their `parameters`, or to an array's `items`, as JSON.

    Fields without either are not in the map.
    """
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


#: The values of unavailable columns, as compact JSON: text, bytes (in three encodings), hstore,
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
    """Return whether an image may contain a placeholder, judging by its bytes.

    This is quick, and rules out most images. The others are then looked at column by column.
    """
    return may_hold_text(_TRACES, *images) | may_hold_bytes(_PLACEHOLDER.encode(), *images)


def without_placeholders(image: Column, may_hold: Column) -> Column:
    """Return the image without the columns that contain a placeholder; most have none."""
    columns = columns_of(image)
    available = F.map_filter(columns, lambda _, value: ~_is_placeholder(value))
    return F.when(may_hold & columns.isNotNull(), image_of(available)).otherwise(image)


def placeholder_columns(image: Column, may_hold: Column) -> Column:
    """Return the names of the columns that contain a placeholder."""
    held = F.map_filter(columns_of(image), lambda _, value: _is_placeholder(value))
    return F.when(may_hold, column_names(held)).otherwise(no_columns())


def _is_placeholder(value: Column) -> Column:
    return F.to_json(value).isin(*_PLACEHOLDERS)


def unavailable_columns(names: Column, placeholders: Column, columns: Column) -> Column:
    """Return the columns that the table has and the row image does not contain.

    The table has the columns that the schema names, and those that contain a placeholder.
    """
    named = names_with(F.coalesce(names, no_columns()), placeholders)
    return names_left_out(named, column_names(columns))


# --- Checks ----------------------------------------------------------------------------------


def checks_of_images(
    after: str, *, is_row: Column, is_empty: Callable[[str], Column]
) -> tuple[Check, ...]:
    """Return the checks that a row change has the images that its op needs.

    `after`: the name of the member with the after image. `is_row`: whether a message is a row
    change. `is_empty`: a function from `before` or `after` to whether this image has no columns.
    """
    is_delete = F.col("op") == "delete"
    return (
        (
            is_row & F.col("is_no_row_before"),
            "missing_image",
            "`before` is not an object of columns",
        ),
        (
            is_row & F.col("is_no_row_after"),
            "missing_image",
            f"`{after}` is not an object of columns",
        ),
        (
            is_row & is_delete & is_empty("before"),
            "missing_image",
            "a delete needs the row in `before`",
        ),
        (
            is_row & ~is_delete & is_empty("after"),
            "missing_image",
            f"an insert, update or snapshot row needs the row in `{after}`",
        ),
    )
