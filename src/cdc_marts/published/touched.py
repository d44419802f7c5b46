"""Which rows of a published mart a run must replace.

The inputs have the names that `macros/published/published_mart.sql` gives them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from dbt.adapters.spark_session.api import ModelRun
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.changed_keys import changed_keys, other_spellings
from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import is_one_of, near_deliveries
from cdc_marts.fold.rules import lacks_columns_of
from cdc_marts.identifying_columns import KEY, MESSAGE, TABLE, VERSION


def keys_of_rows(run: ModelRun, published: DataFrame) -> DataFrame:
    """Return the keys (`KEY`) whose rows may have changed, in a mart with one row per key.

    - the keys of `changed_keys`
    - a truncation or a repairing load ends rows, or turns out not to: all rows of the table
    - a table gets a key of all its columns, or loses it: the row under its other key
    - a column is lost, or is not lost any more: rows that were written before, and rows with an
      earlier value of it that was filled in
    """
    rows = _rows_of_tables_with_other_losses(run, published)
    is_from_before = "last_sequence < last and (is_open or last_sequence >= first)"
    return _once(KEY, *_keys(run, published), rows.where(is_from_before))


def keys_of_versions(run: ModelRun, published: DataFrame) -> DataFrame:
    """Return the keys whose versions may have changed, for the reasons of `keys_of_rows`."""
    versions = _rows_of_tables_with_other_losses(run, published)
    # A version may also stand for later events that wrote equal rows (`merge_equal_versions`), and
    # does not name the last one.
    return _once(KEY, *_keys(run, published), versions.where("sequence < last"))


def _keys(run: ModelRun, published: DataFrame) -> Iterator[DataFrame]:
    """Yield the keys of `keys_of_rows`, except those of rows that were written before a loss."""
    truncations = run.new_rows("truncations").select(*TABLE)
    keyless_tables = run.rows("keyless_rows").select(*TABLE).distinct()
    changed = list(changed_keys(run))
    in_keyless_tables = _once(KEY, *changed).join(keyless_tables, [*TABLE], "left_semi")
    is_of_them = F.col("table_id").isin(truncations.select("table_id"))
    yield from changed
    yield other_spellings(in_keyless_tables, published.join(keyless_tables, [*TABLE], "left_semi"))
    yield published.join(truncations, [*TABLE], "left_semi")
    yield run.rows("mart").where(is_of_them).join(truncations, [*TABLE], "left_semi")
    yield _rows_with_other_values(run)


def messages(run: ModelRun, _published: DataFrame) -> DataFrame:
    """Return the messages (`MESSAGE`) that are new, are read again, or have another place."""
    return _once(MESSAGE, run.new_rows("records"), run.new_rows("raised"), run.new_rows("reloaded"))


def messages_of_events(run: ModelRun, published: DataFrame) -> DataFrame:
    """Return `messages`, and the messages of earlier events that the new ones change.

    - a record turns out to be a redelivery, or not to be one
    - an update gets its other half
    - a table turns out to have had a column that an image lacks
    """
    read = messages(run, published)
    looked_at = _once(MESSAGE, read, run.new_rows("exceptional_records")).transform(checkpointed)
    return _once(
        MESSAGE, looked_at, _update_afters(run, looked_at), _events_that_lack_other_columns(run)
    )


def _once(columns: tuple[str, ...], *found: DataFrame) -> DataFrame:
    parts = (rows.select(*columns) for rows in found)
    return reduce(DataFrame.union, parts).distinct()


def _update_afters(run: ModelRun, touched: DataFrame) -> DataFrame:
    """Return the messages of updates whose `update_before` is in touched messages."""
    split = run.rows("split_records")
    pairing = ["source_format", "pairing_id"]
    before = (
        split.where("record_type = 'update_before'")
        .where(is_one_of(touched))
        .join(touched, [*MESSAGE], "left_semi")
        .select(*pairing, "topic", "op", "delivery_position")
        .transform(checkpointed)
    )
    after = split.where("record_type = 'change'").where(near_deliveries(before))
    return after.join(before, pairing, "left_semi")


def _events_that_lack_other_columns(run: ModelRun) -> DataFrame:
    """Return the messages of events whose images lack other columns than was known before."""
    lacking = _difference(run.rows("missing_columns"), run.rows_before("missing_columns"))
    versions = lacking.select(*VERSION, "from_sequence", "to_sequence").transform(checkpointed)
    if versions.isEmpty():
        return versions.sparkSession.range(0).select(
            *(F.lit(None).alias(column) for column in MESSAGE)
        )
    changes = run.rows("records").where("record_type = 'change'").alias("changes")
    versions = F.broadcast(versions).alias("versions")
    return changes.join(versions, lacks_columns_of("changes", "versions"), "left_semi")


def _rows_of_tables_with_other_losses(run: ModelRun, published: DataFrame) -> DataFrame:
    """Return the rows once for each column whose last loss has changed, with both losses.

    A row lacks a column if it was written before its table lost that column for the last time.

    The result has the columns of the mart, and the last loss as it is known now and as it was known
    before: `first` and `last`, in the order of the log. `is_open`: only one of the two is known.
    """
    last_losses = _last_losses(run.rows("lost_columns"), "now").join(
        _last_losses(run.rows_before("lost_columns"), "before"),
        [*TABLE, "column_name"],
        "full_outer",
    )
    losses = last_losses.where("not now <=> before").select(
        *TABLE,
        F.least("now", "before").alias("first"),
        F.greatest("now", "before").alias("last"),
        (F.col("now").isNull() | F.col("before").isNull()).alias("is_open"),
    )
    return published.join(F.broadcast(losses), [*TABLE])


def _last_losses(lost_columns: DataFrame, name: str) -> DataFrame:
    return lost_columns.groupBy(*TABLE, "column_name").agg(F.max("sequence").alias(name))


def _rows_with_other_values(run: ModelRun) -> DataFrame:
    """Return the rows with filled values that a loss of their column, or its undoing, may change.

    Such a value counts only if its table has not lost the column since.
    """
    loss = (*TABLE, "column_name", "sequence")
    losses = _difference(
        run.rows("lost_columns").select(*loss), run.rows_before("lost_columns").select(*loss)
    )
    value = F.col("filled_from")[F.col("column_name")]
    lost_at = F.broadcast(losses.withColumnRenamed("sequence", "lost_at"))
    return run.rows("filled_rows").join(lost_at, [*TABLE]).where(value < F.col("lost_at"))


def _difference(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.exceptAll(other).union(other.exceptAll(one))
