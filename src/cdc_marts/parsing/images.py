"""Row images: VARIANT objects, read as a map of columns where columns are needed."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

COLUMNS = "map<string,variant>"


def columns_of(image: Column) -> Column:
    """A VARIANT object -> map<column name, variant>; null where it is no object."""
    return image.try_cast(COLUMNS)


def image_of(columns: Column) -> Column:
    """map<column name, variant or string> -> VARIANT object."""
    return F.to_variant_object(columns)


def overlay(columns: Column, changes: Column) -> Column:
    """The row with some columns replaced; a null among the changes is NULL."""
    return F.when(changes.isNull(), columns).otherwise(F.map_concat(columns, changes))


def column_names(columns: Column) -> Column:
    """The names in an image; an empty array where there is no image."""
    return F.coalesce(F.map_keys(columns), no_columns())


def no_columns() -> Column:
    return F.array().cast("array<string>")


def key_of(image: Column, key_columns: Column) -> Column:
    """Row key: compact JSON of the key columns in the given order.

    Null where the image is absent or lacks one of them.  Without key columns
    (a keyless table) the whole image, whose columns VARIANT keeps sorted.
    """
    columns = columns_of(image)
    members = F.transform(
        key_columns,
        lambda name: F.concat(json_text(name), F.lit(":"), F.to_json(columns[name])),
    )
    of_key = F.when(
        ~F.exists(members, lambda member: member.isNull()),
        F.concat(F.lit("{"), F.array_join(members, ","), F.lit("}")),
    )
    return F.when(F.size(key_columns) == 0, F.to_json(image)).otherwise(of_key)


def json_text(text: Column) -> Column:
    """A string as a JSON string literal, quotes included."""
    return F.to_json(text.cast("variant"))
