"""Rules that Python models share with SQL models. Their SQL is written once, in macros."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.package_macros import package_macros
from cdc_marts.source_formats import formats_that

#: The macros, as functions that return SQL.
MACROS = package_macros("fold", "sql", formats_that=formats_that)


def is_of_format_that(trait: str) -> Column:
    """Return whether `source_format` is a format that has a trait."""
    return F.expr(MACROS.is_of_format_that(trait))


def is_row_of_full_load() -> Column:
    """Return whether a record may be a row of a full load."""
    return F.expr(MACROS.is_row_of_full_load())


def transaction_of_effect() -> Column:
    """Return the transaction of an effect.

    If messages name no transaction, changes of one time count as one transaction.
    """
    return F.expr(MACROS.transaction_of_effect())


def filled_row_key(row_key: str, old_row_key: str, takes_columns: str) -> Column:
    """Return the key of a keyless row of a split update, with columns of `update_before` alone.

    All columns of such a row are its key. `row_key`, `old_row_key`: the columns with the keys in
    the `update_after` and in the `update_before`. `takes_columns`: the column with
    `takes_columns_of_half`.
    """
    return F.expr(MACROS.filled_row_key(row_key, old_row_key, takes_columns))


def takes_columns_of_half() -> Column:
    """Return whether a row takes the columns that only its `update_before` has.

    It is keyless, and its format writes whole rows.
    """
    return F.expr(MACROS.takes_columns_of_half())


def lacks_columns_of(event: str, missing: str) -> Column:
    """Return the join condition that finds the columns that the image of an event lacks.

    It finds at most one row per event. `event`: alias with `VERSION`, `sequence`,
    `lists_all_columns`. `missing`: alias of `int_missing_columns`.
    """
    return F.expr(MACROS.lacks_columns_of(event, missing))


def sorted_row_key(row_key: str) -> Column:
    """Return a `row_key` with its columns sorted by name, as in a keyless row.

    Null if a VARIANT cannot hold the key, for example because it has a column twice.
    """
    return F.expr(MACROS.sorted_row_key(row_key))


def truncations_of_tables(truncations: DataFrame) -> DataFrame:
    """Return source_format, table_id, and the truncations: array of struct<sequence, event_at>.

    `truncations`: the model `int_truncations`.
    """
    return truncations.sparkSession.sql(
        MACROS.truncations_of_tables_sql("{truncations}"), truncations=truncations
    )


def last_truncations_of_tables(truncations: DataFrame) -> DataFrame:
    """Return source_format, table_id and sequence of the newest truncation of each table.

    The sequence is null if all statements were later found to refer to other tables. `truncations`:
    the model `int_truncations`.
    """
    return truncations.sparkSession.sql(
        MACROS.last_truncations_of_tables_sql("{truncations}"), truncations=truncations
    )


def count_truncations_before(event: str, truncations: str) -> Column:
    """Return the number of truncations of its table that come before an event.

    `event`: alias with `sequence`. `truncations`: the column of `truncations_of_tables`, which is
    null if there are none.
    """
    return F.expr(MACROS.count_truncations_before(event, truncations))
