"""Row images: VARIANT objects, read as a map of columns where columns are needed."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.parsing.variants import variant_hash

COLUMNS = "map<string,variant>"


def columns_of(image: Column) -> Column:
    """A VARIANT object -> map<column name, variant>; null where it is no object."""
    return image.try_cast(COLUMNS)


def are_objects(images: Column) -> Column:
    """True where each element of an array<variant> is an object."""
    # What is no object becomes a null.  A lambda would say it plainer, but Spark compiles none,
    # and would copy the rows around it.
    return ~F.contains(images.try_cast("array<struct<>>").cast("string"), F.lit("null"))


def image_of(columns: Column) -> Column:
    """map<column name, variant or string> -> VARIANT object."""
    return F.to_variant_object(columns)


def with_images(records: DataFrame, sent_before: Column, sent_after: Column) -> DataFrame:
    """Records with `before` and `after`, the images of their `op`, null where there is none.

    An image without columns counts as none.

    `sent_before` and `sent_after` are what the message sends as such.  `columns_before` and
    `columns_after` are their columns, of which only those of the images stay.
    `is_no_row_before` and `is_no_row_after` say whether something else than a row was sent.

    `before_to_compare` and `after_to_compare` are the images with sorted columns, in whatever order
    a message has them, so that equal images have equal hashes (`image_hashes`).  They are columns
    of their own, because in one expression with the hash, Spark would make an image twice, for
    each of its two arrays of bytes.
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
    """The hashes of the images of `with_images` as texts, null where there is no image.

    They distinguish changes that share a log position, and are the same for a redelivery.
    """
    return (
        variant_hash(F.col("before_to_compare")).cast("string"),
        variant_hash(F.col("after_to_compare")).cast("string"),
    )


def is_no_row(image: Column, columns: Column) -> Column:
    """True where an image is there but is not an object of columns."""
    return image.isNotNull() & ~F.is_variant_null(image) & columns.isNull()


def row_or_null(columns: Column) -> Column:
    """The columns of a row, null where there are none."""
    return F.when(F.size(columns) > 0, columns)


def overlay(columns: Column, changes: Column) -> Column:
    """The row with some columns replaced; a null among the changes is NULL."""
    return F.when(changes.isNull(), columns).otherwise(F.map_concat(columns, changes))


def with_columns_of(columns: Column, other: Column, names: Column) -> Column:
    """The row with these columns, which it lacks, of another row, which has them all."""
    return F.map_concat(columns, columns_named(other, names))


def filled_with_nulls(columns: Column, names: Column) -> Column:
    """The row with these columns, which it lacks, as NULL."""
    return F.map_concat(columns, _nulls(names))


def column_names(columns: Column) -> Column:
    """The names in an image; an empty array where there is no image."""
    return F.coalesce(F.map_keys(columns), no_columns())


def has_columns(columns: Column, names: Column) -> Column:
    """True where a row has all of these columns."""
    in_image = F.map_keys(columns)
    # Most keys are one column, which needs no sets.
    has_only_one = (F.size(names) == 1) & F.array_contains(in_image, F.get(names, 0))
    return has_only_one | (F.size(F.array_except(names, in_image)) == 0)


def names_with(names: Column, others: Column) -> Column:
    """The names, and behind them those of the others that are not among them; null adds none."""
    return F.when((F.size(others) > 0) & (names != others), F.array_union(names, others)).otherwise(
        names
    )


def names_left_out(names: Column, in_image: Column) -> Column:
    """The names that an image lacks; `in_image` are its own."""
    return F.when(are_the_same_names(names, in_image), no_columns()).otherwise(
        F.array_except(names, in_image)
    )


def are_the_same_names(names: Column, in_image: Column) -> Column:
    """True where an image has these columns, in their order or sorted, as VARIANT keeps them.

    So it is in nearly all messages; false where the image has them in another order.
    """
    return (names == in_image) | (F.sort_array(names) == in_image)


def no_columns() -> Column:
    return F.array().cast("array<string>")


def columns_named(columns: Column, names: Column) -> Column:
    """These columns alone, in this order, of a row that has all of them."""
    # Of equal names `map_concat` keeps the place of the first and the value of the last.
    ordered = F.map_concat(_nulls(names), columns)
    return F.map_from_entries(F.slice(F.map_entries(ordered), 1, F.size(names)))


def _nulls(names: Column) -> Column:
    """A row of these columns, all NULL."""
    return F.map_from_arrays(names, F.array_repeat(F.lit(None).cast("variant"), F.size(names)))


def json_text(text: Column) -> Column:
    """A string as a JSON string literal, quotes included."""
    return F.to_json(text.cast("variant"))
