"""Row images: VARIANT objects, read as a map of columns where columns are needed."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.parsing.values import position

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
    return F.map_concat(columns, _first(other, names))


def filled_with_nulls(columns: Column, names: Column) -> Column:
    """The row with these columns, which it lacks, as NULL."""
    return F.map_concat(columns, _nulls(names))


def column_names(columns: Column) -> Column:
    """The names in an image; an empty array where there is no image."""
    return F.coalesce(F.map_keys(columns), no_columns())


def names_left_out(names: Column, in_image: Column) -> Column:
    """The names that an image lacks; `in_image` are its own, which VARIANT keeps sorted."""
    # Nearly all messages name the columns of their image, in any order.
    return F.when(F.sort_array(names) == in_image, no_columns()).otherwise(
        F.array_except(names, in_image)
    )


def no_columns() -> Column:
    return F.array().cast("array<string>")


def key_of(
    columns: Column,
    image: Column,
    key_columns: Column,
    whole_number_columns: Column,
    *,
    of_texts: bool = False,
) -> Column:
    """Row key: compact JSON of the key columns in the given order.

    `columns` are those of `image`, read once.  Null where the image is absent or
    lacks one of them.  Without key columns (a keyless table) the whole image,
    whose columns VARIANT keeps sorted.

    A text in `whole_number_columns` is written as the number that it is, so that a row has one
    key however its producer writes numbers; `of_texts`: all values are written as texts.
    """
    name = F.get(key_columns, 0)
    value = columns[name]
    keyed = _first(columns, key_columns)
    if of_texts:
        one, many = F.create_map(name, value.cast("string")), keyed.cast("map<string,string>")
        of_one, of_many = F.to_json(one), F.to_json(many)
    else:
        is_whole_number = F.array_contains(whole_number_columns, name)
        of_one = _json_object(name, value, is_whole_number)
        of_many = F.to_json(_with_numbers(keyed, whole_number_columns))
    has_all = F.size(F.array_except(key_columns, F.map_keys(columns))) == 0
    # The columns of the image are sorted; `columns` may have others behind them.
    of_all = F.when(F.size(whole_number_columns) == 0, F.to_json(image)).otherwise(
        F.to_json(_with_numbers(columns_of(image), whole_number_columns))
    )
    return (
        F.when(F.size(key_columns) == 0, of_all)
        .when(F.size(key_columns) == 1, F.when(value.isNotNull(), of_one))
        .otherwise(F.when(has_all, of_many))
    )


def _json_object(name: Column, value: Column, is_whole_number: Column) -> Column:
    """A VARIANT as the only member of an object, as JSON."""
    # Spark writes text of its own several times sooner than text in a VARIANT.
    text = value.cast("string")
    number = F.when(is_whole_number, position(text))
    of_text = F.when(number.isNotNull(), F.to_json(F.create_map(name, number))).otherwise(
        F.to_json(F.create_map(name, text))
    )
    variant_type = F.schema_of_variant(value)
    return (
        F.when(variant_type == "STRING", of_text)
        .when(variant_type == "BIGINT", F.to_json(F.create_map(name, value.cast("bigint"))))
        .otherwise(F.to_json(F.create_map(name, value)))
    )


def _with_numbers(keyed: Column, whole_number_columns: Column) -> Column:
    """The columns of a key, its whole numbers as numbers where all of them are some."""
    whole = _first(keyed, F.array_intersect(F.map_keys(keyed), whole_number_columns))
    texts = F.map_values(whole.cast("map<string,string>"))
    numbers = whole.cast("map<string,decimal(38,0)>").cast(COLUMNS)
    are_numbers = F.array_join(texts, ",").rlike(r"^-?[0-9]{1,38}(,-?[0-9]{1,38})*$")
    return F.when(are_numbers, F.map_concat(keyed, numbers)).otherwise(keyed)


def _first(columns: Column, names: Column) -> Column:
    """These columns alone, in this order, of a row that has all of them."""
    # Of equal names `map_concat` keeps the place of the first and the value of the last.
    ordered = F.map_concat(_nulls(names), columns)
    first = (F.slice(part(ordered), 1, F.size(names)) for part in (F.map_keys, F.map_values))
    return F.map_from_arrays(*first)


def _nulls(names: Column) -> Column:
    """A row of these columns, all NULL."""
    return F.map_from_arrays(names, F.array_repeat(F.lit(None).cast("variant"), F.size(names)))


def json_text(text: Column) -> Column:
    """A string as a JSON string literal, quotes included."""
    return F.to_json(text.cast("variant"))
