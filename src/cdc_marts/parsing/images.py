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
    of_one = F.when(value.isNotNull(), F.to_json(F.create_map(name, value)))
    values = F.transform(key_columns, lambda name: columns[name])
    of_many = F.when(
        ~F.exists(values, lambda value: value.isNull()),
        F.to_json(F.map_from_arrays(key_columns, values)),
    )
    return (
        F.when(F.size(key_columns) == 0, F.to_json(image))
        .when(F.size(key_columns) == 1, of_one)
        .otherwise(of_many)
    )


def json_text(text: Column) -> Column:
    """A string as a JSON string literal, quotes included."""
    return F.to_json(text.cast("variant"))
