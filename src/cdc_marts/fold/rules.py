"""Rules of the fold that exist as SQL macros too. A test compares both."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.fold.columns import TABLE, VERSION
from cdc_marts.fold.traits import is_of_format_that

#: The index of an effect at its own sequence; those that stand before it have lower ones.
_AT_ITS_OWN_SEQUENCE = 2**31 - 1


def transaction_of_effect() -> Column:
    """Return the transaction of an effect.

    If messages name no transaction, changes of one time count as one transaction.
    """
    return F.coalesce("transaction_id", F.col("event_at").cast("string"))


def order_on_key() -> Column:
    """Return the order of an effect among the effects on its key: struct<sequence, index>.

    An effect has the order of its sequence. If images show that it stands before another effect, it
    has the sequence of that effect and a lower index. The order is computed from the effect's
    `sequence` and `stands_before` (as in `int_superseded_effects`, or null).
    """
    return F.struct(
        F.coalesce("stands_before.sequence", "sequence").alias("sequence"),
        F.coalesce("stands_before.index", F.lit(_AT_ITS_OWN_SEQUENCE)).alias("index"),
    )


def filled_row_key(row_key: str, old_row_key: str, takes_columns: str) -> Column:
    """Return the key of a keyless row of a split update, with columns of `update_before` alone.

    All columns of such a row are its key. `row_key`, `old_row_key`: the columns with the keys in
    the `update_after` and in the `update_before`. `takes_columns`: the column with
    `takes_columns_of_half`.
    """
    names_before, names_after = map(F.json_object_keys, (old_row_key, row_key))
    lacks_columns = F.size(F.array_except(names_before, names_after)) > 0
    row_before, row_after = (
        F.try_parse_json(key).cast("map<string,variant>") for key in (old_row_key, row_key)
    )
    filled = F.to_json(F.to_variant_object(F.map_concat(row_before, row_after)))
    return F.when(
        F.col(takes_columns) & lacks_columns, F.coalesce(filled, F.col(row_key))
    ).otherwise(F.col(row_key))


def takes_columns_of_half() -> Column:
    """Return whether a row takes the columns that only its `update_before` has.

    It is keyless, and its format writes whole rows.
    """
    return F.col("is_keyless") & ~is_of_format_that("has_sparse_rows")


def lacks_columns_of(event: str, missing: str) -> Column:
    """Return the join condition that finds the columns that the image of an event lacks.

    It finds at most one row per event. `event`: alias with `VERSION`, `sequence`,
    `lists_all_columns`. `missing`: alias of `int_missing_columns`.
    """
    sequence = F.col(f"{event}.sequence")
    is_of_version = (F.col(f"{event}.{name}") == F.col(f"{missing}.{name}") for name in VERSION)
    return (
        ~F.col(f"{event}.lists_all_columns")
        & reduce(Column.__and__, is_of_version)
        & (sequence > F.col(f"{missing}.from_sequence"))
        & F.coalesce(sequence <= F.col(f"{missing}.to_sequence"), F.lit(True))
    )


def sorted_row_key(row_key: str) -> Column:
    """Return a `row_key` with its columns sorted by name, as in a keyless row.

    Null if a VARIANT cannot hold the key, for example because it has a column twice.
    """
    return F.to_json(F.try_parse_json(row_key))


def truncations_of_tables(truncations: DataFrame) -> DataFrame:
    """Return source_format, table_id, and an array of the sequences of the table's truncations.

    `truncations`: the model `int_truncations`.
    """
    return (
        truncations.where("sequence is not null")
        .groupBy(*TABLE)
        .agg(F.collect_list("sequence").alias("truncations"))
    )


def last_truncations_of_tables(truncations: DataFrame) -> DataFrame:
    """Return source_format, table_id and sequence of the newest truncation of each table.

    The sequence is null if all statements were later found to refer to other tables. `truncations`:
    the model `int_truncations`.
    """
    return truncations.groupBy(*TABLE).agg(F.max("sequence").alias("sequence"))


def count_truncations_before() -> Column:
    """Return the number of truncations that come before an effect.

    It is computed from the effect's `sequence` and the `truncations` of its table, which are null
    if there are none.
    """
    before = F.filter("truncations", lambda truncation: ~(F.col("sequence") < truncation))
    # Without ANSI mode, the size of null is -1.
    return F.when(F.col("truncations").isNull(), 0).otherwise(F.size(before))
