"""Row images: VARIANT objects, read as a map of columns where columns are needed."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

COLUMNS = "map<string,variant>"


def columns_of(image: Column) -> Column:
    """A VARIANT object -> map<column name, variant>; null where it is no object."""
    return image.try_cast(COLUMNS)


def columns_as_text(image: Column) -> Column:
    """A VARIANT object -> map<column name, string>: its texts, and the JSON of other values."""
    return image.try_cast("map<string,string>")


def are_objects(images: Column) -> Column:
    """True where each element of an array<variant> is an object."""
    # What is no object becomes a null.  A lambda would say it plainer, but Spark compiles none,
    # and would copy the rows around it.
    return ~F.contains(images.try_cast("array<struct<>>").cast("string"), F.lit("null"))


def image_of(columns: Column) -> Column:
    """map<column name, variant or string> -> VARIANT object."""
    return F.to_variant_object(columns)


def row_or_null(columns: Column) -> Column:
    """The columns of a row, null where there are none."""
    return F.when(F.size(columns) > 0, columns)


def overlay(columns: Column, changes: Column) -> Column:
    """The row with some columns replaced; a null among the changes is NULL."""
    return F.when(changes.isNull(), columns).otherwise(F.map_concat(columns, changes))


def column_names(columns: Column) -> Column:
    """The names in an image; an empty array where there is no image."""
    return F.coalesce(F.map_keys(columns), no_columns())


def no_columns() -> Column:
    return F.array().cast("array<string>")


def key_of(columns: Column, image: Column, key_columns: Column) -> Column:
    """Row key: compact JSON of the key columns in the given order.

    `columns` are those of `image`, read once.  Null where the image is absent or
    lacks one of them.  Without key columns (a keyless table) the whole image,
    whose columns VARIANT keeps sorted.
    """
    name = F.get(key_columns, 0)
    value = columns[name]
    of_one = F.when(value.isNotNull(), _json_object(name, value))
    of_many = F.when(
        F.size(F.array_except(key_columns, F.map_keys(columns))) == 0,
        F.to_json(_key_first(columns, key_columns)),
    )
    return (
        F.when(F.size(key_columns) == 0, F.to_json(image))
        .when(F.size(key_columns) == 1, of_one)
        .otherwise(of_many)
    )


def _json_object(name: Column, value: Column) -> Column:
    """A VARIANT as the only member of an object, as JSON."""
    # Spark writes text of its own several times sooner than text in a VARIANT.
    of_type = {"STRING": "string", "BIGINT": "bigint"}
    written = F.to_json(F.create_map(name, value))
    for variant_type, type_ in of_type.items():
        is_of_type = F.schema_of_variant(value) == variant_type
        written = F.when(is_of_type, F.to_json(F.create_map(name, value.cast(type_)))).otherwise(
            written
        )
    return written


def _key_first(columns: Column, key_columns: Column) -> Column:
    """The key columns alone, in their order."""
    # Of equal names `map_concat` keeps the place of the first and the value of the last.
    no_values = F.map_from_arrays(
        key_columns, F.array_repeat(F.lit(None).cast("variant"), F.size(key_columns))
    )
    ordered = F.map_concat(no_values, columns)
    first = (F.slice(part(ordered), 1, F.size(key_columns)) for part in (F.map_keys, F.map_values))
    return F.map_from_arrays(*first)


def json_text(text: Column) -> Column:
    """A string as a JSON string literal, quotes included."""
    return F.to_json(text.cast("variant"))
