"""This module handles row images: VARIANT objects, or maps of columns where columns are needed."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.variants import variant_hash

COLUMNS = "map<string,variant>"


def columns_of(image: Column) -> Column:
    """Turn a VARIANT object into a map<column name, variant>; null if it is not an object."""
    return image.try_cast(COLUMNS)


def are_objects(images: Column) -> Column:
    """Return whether each element of an array<variant> is an object."""
    # A value that is no object becomes null. A lambda would be plainer, but Spark does not compile
    # lambdas, and would copy the rows around it.
    return ~F.contains(images.try_cast("array<struct<>>").cast("string"), F.lit("null"))


def image_of(columns: Column) -> Column:
    """Turn a map<column name, variant or string> into a VARIANT object."""
    return F.to_variant_object(columns)


def with_images(records: DataFrame, sent_before: Column, sent_after: Column) -> DataFrame:
    """Add `before` and `after` to records: the images that their `op` needs, or null.

    An image without columns counts as no image.

    `sent_before` and `sent_after` are what the message sends as images. `columns_before` and
    `columns_after` are their columns; only the columns of the images stay. `is_no_row_before` and
    `is_no_row_after` say whether the message sent something that is not a row.

    `before_to_compare` and `after_to_compare` are the images with sorted columns. A message may
    have the columns in any order, and equal images need equal hashes (`image_hashes`). They are
    columns of their own, because in one expression with the hash, Spark would make an image twice,
    once for each of its two arrays of bytes.
    """
    columns_before, columns_after = F.col("columns_before"), F.col("columns_after")
    has_before = F.col("op").isin("update", "delete") & (F.size(columns_before) > 0)
    has_after = (F.col("op") != "delete") & (F.size(columns_after) > 0)
    return records.withColumns(
        {
            "is_no_row_before": is_no_row(sent_before, columns_before),
            "is_no_row_after": is_no_row(sent_after, columns_after),
            "before": F.when(has_before, sent_before),
            "after": F.when(has_after, sent_after),
            "columns_before": F.when(has_before, columns_before),
            "columns_after": F.when(has_after, columns_after),
            "before_to_compare": F.when(has_before, image_of(columns_before)),
            "after_to_compare": F.when(has_after, image_of(columns_after)),
        }
    )


def image_hashes() -> tuple[Column, Column]:
    """Return the hashes of both images of `with_images` as texts, or null if there is no image.

    They distinguish changes that share a log position, and are the same for a redelivery.
    """
    return (
        variant_hash(F.col("before_to_compare")).cast("string"),
        variant_hash(F.col("after_to_compare")).cast("string"),
    )


def is_no_row(image: Column, columns: Column) -> Column:
    """Return whether there is an image that is not an object of columns."""
    return image.isNotNull() & ~F.is_variant_null(image) & columns.isNull()


def row_or_null(columns: Column) -> Column:
    """Return the columns of a row, or null if there are none."""
    return F.when(F.size(columns) > 0, columns)


def overlay(columns: Column, changes: Column) -> Column:
    """Replace some columns of a row; a null among the changes is NULL."""
    return F.when(changes.isNull(), columns).otherwise(F.map_concat(columns, changes))


def with_columns_of(columns: Column, other: Column, names: Column) -> Column:
    """Add the columns `names` of another row, which has all of them, to a row that lacks them."""
    return F.map_concat(columns, columns_named(other, names))


def filled_with_nulls(columns: Column, names: Column) -> Column:
    """Add the columns `names` to a row that lacks them, as NULL."""
    return F.map_concat(columns, _nulls(names))


def column_names(columns: Column) -> Column:
    """Return the names in an image, or an empty array if there is no image."""
    return F.coalesce(F.map_keys(columns), no_columns())


def has_columns(columns: Column, names: Column) -> Column:
    """Return whether a row has all of these columns."""
    in_image = F.map_keys(columns)
    # Most keys are one column, which needs no sets.
    has_only_one = (F.size(names) == 1) & F.array_contains(in_image, F.get(names, 0))
    return has_only_one | (F.size(F.array_except(names, in_image)) == 0)


def names_with(names: Column, others: Column) -> Column:
    """Append the other names that are missing; null adds none."""
    return F.when((F.size(others) > 0) & (names != others), F.array_union(names, others)).otherwise(
        names
    )


def names_left_out(names: Column, in_image: Column) -> Column:
    """Return the names that an image lacks; `in_image` are its own names."""
    return F.when(are_the_same_names(names, in_image), no_columns()).otherwise(
        F.array_except(names, in_image)
    )


def are_the_same_names(names: Column, in_image: Column) -> Column:
    """Return whether an image has exactly these columns, in this order or in sorted order.

    Nearly all images have, because a VARIANT keeps its columns sorted. The result is false if the
    image has these columns in another order.
    """
    return (names == in_image) | (F.sort_array(names) == in_image)


def no_columns() -> Column:
    return F.array().cast("array<string>")


def columns_named(columns: Column, names: Column) -> Column:
    """Return only these columns, in this order, of a row that has all of them."""
    # For equal names, `map_concat` keeps the place of the first and the value of the last.
    ordered = F.map_concat(_nulls(names), columns)
    return F.map_from_entries(F.slice(F.map_entries(ordered), 1, F.size(names)))


def _nulls(names: Column) -> Column:
    """Return a row that has these columns, all NULL."""
    return F.map_from_arrays(names, F.array_repeat(F.lit(None).cast("variant"), F.size(names)))


def json_text(text: Column) -> Column:
    """Turn a string into a JSON string literal, with its quotes."""
    return F.to_json(text.cast("variant"))
