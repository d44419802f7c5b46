"""The keys whose rows in the state a run may have changed, for marts that show these rows.

The inputs have the names that `macros/typed/typed_mart.sql` and
`macros/published/published_mart.sql` give them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.spark_session.api import ModelRun
from pyspark.sql import DataFrame

from cdc_marts.fold.rules import sorted_row_key
from cdc_marts.identifying_columns import KEY


def changed_keys(run: ModelRun) -> Iterator[DataFrame]:
    """Yield the keys (`KEY`) whose rows may have changed, a DataFrame for each cause.

    A key may appear several times. The causes are:

    - a record of the key is new, or what an earlier record does to the key has changed
    - an effect on another key decides which row remains on a colliding key
    - a filled row takes another value, maybe from an earlier key of the row

    Truncations and lost columns are not among the causes. They change many rows of a table, and
    each kind of mart handles them in its own way.
    """
    yield run.new_rows("touched_keys").select(*KEY)
    yield run.new_rows("colliding_keys").select(*KEY)
    yield run.changed_rows("filled_rows").select(*KEY)


def other_spellings(keys: DataFrame, earlier: DataFrame) -> DataFrame:
    """Return other `row_key`s that name the same columns and values as one of `keys`.

    If a table gets a key of all its columns, or loses such a key, the `row_key` of a row changes,
    because a keyless row has its columns sorted by name. So the sorted keys are among the result,
    and the keys of `earlier` that have the columns in another order.

    `keys`, `earlier`: `row_key`; if they contain several tables, also the columns that identify a
    table.
    """
    spelled = [name for name in keys.columns if name != "row_key"]
    sorted_keys = keys.select(*spelled, sorted_row_key("row_key").alias("sorted_key"))
    held = (
        earlier.select(*keys.columns, sorted_row_key("row_key").alias("sorted_key"))
        .join(sorted_keys, [*spelled, "sorted_key"], "left_semi")
        .select(*keys.columns)
    )
    # A VARIANT can't hold some keys, and no keyless row has one of these.
    keyless = sorted_keys.where("sorted_key is not null")
    return held.unionByName(keyless.withColumnRenamed("sorted_key", "row_key"))
