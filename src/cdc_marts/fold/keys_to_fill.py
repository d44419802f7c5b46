"""The keys on which a run fills partial images.

In the first run, these are all keys with partial images; later, those whose filled rows may have
changed.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.filled_rows import partial_by_image
from cdc_marts.fold.key_changes import keys_changed_beside
from cdc_marts.fold.log import Log, NewRows
from cdc_marts.identifying_columns import KEY, TABLE


def tables_with_partial_images(known_tables: DataFrame, missing_columns: DataFrame) -> DataFrame:
    """Return the tables (`TABLE`) with images that lack columns of their table.

    `known_tables`, `missing_columns`: the models `int_known_tables` and `int_missing_columns`.
    """
    by_message = known_tables.where("has_partial_images").select(*TABLE)
    return by_message.union(missing_columns.select(*TABLE)).distinct()


def keys_with_partial_images(
    effects: DataFrame, tables: DataFrame, missing_columns: DataFrame
) -> DataFrame:
    """Return the keys (`KEY`) in some tables that have partial images, each once.

    `effects`: with the columns of `int_row_effects`. `tables`: the tables with partial images.
    `missing_columns`: the model `int_missing_columns`.
    """
    of_tables = effects.join(tables, [*TABLE], "left_semi")
    partial = partial_by_image(of_tables, missing_columns).where("is_partial")
    return partial.select(*KEY).distinct()


def keys_to_fill(
    tables: DataFrame, log: Log, new_rows: NewRows, earlier: DataFrame | None
) -> DataFrame:
    """Return the keys (`KEY`) whose rows a run fills, each once.

    In the first run, they are the keys in some tables that have partial images; in later runs,
    those whose filled rows may have changed.

    `tables`: the tables with partial images. `earlier`: what earlier runs filled; None in the first
    run.
    """
    if earlier is None:
        return keys_with_partial_images(log.effects, tables, log.missing_columns)
    found = (
        new_rows.touched_keys.where("not is_keyless"),
        new_rows.colliding_keys,
        keys_changed_beside(new_rows.effects, new_rows.exceptions, log.key_changes),
        rows_behind(new_rows.truncations, earlier),
    )
    keys = reduce(DataFrame.union, (rows.select(*KEY) for rows in found))
    keys = keys.join(tables, [*TABLE], "left_semi").distinct()
    revised_tables = checkpointed(tables_with_revised_drops(new_rows.resolutions))
    if revised_tables.isEmpty():
        return keys
    partial = keys_with_partial_images(log.effects, revised_tables, log.missing_columns)
    return keys.union(partial).distinct()


def tables_with_revised_drops(new_resolutions: DataFrame) -> DataFrame:
    """Return the tables (`TABLE`) for which an earlier run had other statements that drop columns.

    A statement may turn out to mean another table when the first row of that table lands. Later
    images, which lacked nothing in earlier runs, may then be partial.

    `new_resolutions`: new rows of the model `int_resolved_changes`.
    """
    revised = new_resolutions.where("version > 1 and change <> 'truncation'")
    return revised.select(*TABLE).distinct()


def rows_behind(truncations: DataFrame, filled_rows: DataFrame) -> DataFrame:
    """Return the filled rows that may have values from before one of these truncations.

    They stand at the position of the truncation in the log or behind it. If an earlier run had the
    truncation at another place (`is_revision`), they are all filled rows of its table.
    `truncations`: rows of the model `int_truncations`.
    """
    return filled_rows.sparkSession.sql(
        """
        select filled.*
        from {filled_rows} as filled
        left semi join {truncations} as truncations
            on filled.source_format = truncations.source_format
            and filled.table_id = truncations.table_id
            and (
                truncations.is_revision
                or coalesce(filled.sequence.position >= truncations.sequence.position, true)
            )
        """,
        filled_rows=filled_rows,
        truncations=truncations,
    )
