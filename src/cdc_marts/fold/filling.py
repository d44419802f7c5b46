"""The filled rows of a run: the keys on which it fills rows, and the effects that it reads.

A run without such keys ends early, and does not read the effects.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from cdc_marts.fold.filled_rows import (
    filled_rows,
    no_filled_rows,
    partial_by_image,
    whole_rows,
)
from cdc_marts.fold.key_chains import keys_of_chains
from cdc_marts.fold.keys_to_fill import keys_to_fill, tables_with_partial_images
from cdc_marts.fold.log import Log, NewRows
from cdc_marts.fold.ranges import effects_on
from cdc_marts.identifying_columns import TABLE


def filled_rows_of_run(
    log: Log,
    new_rows: NewRows,
    *,
    exceptional_records: DataFrame,
    known_tables: DataFrame,
    split_records: DataFrame,
    earlier: DataFrame | None,
    longest_key_chain: int,
) -> DataFrame:
    """Return the rows that a run fills, with the columns of `filled_rows`.

    If a row that an earlier run filled is whole now, it is returned with its own image.

    `exceptional_records`, `known_tables`, `split_records`: the models `int_…` of their names.
    `earlier`: what earlier runs filled; None in the first run. `longest_key_chain`: as in
    `filled_rows`.
    """
    tables = tables_with_partial_images(known_tables, log.missing_columns)
    filled_before = _filled_before_revisions(new_rows.exceptions, earlier)
    if filled_before is not None:
        tables = tables.union(filled_before.select(*TABLE)).distinct()
    if tables.isEmpty():
        return no_filled_rows(tables.sparkSession)
    log = replace(log, effects=log.effects.where("not is_keyless"))
    keys, earlier_keys = keys_of_chains(
        keys_to_fill(tables, log, new_rows, earlier),
        log.key_changes,
        log.split_key_changes,
        longest_key_chain,
    )
    if keys.isEmpty():
        return no_filled_rows(tables.sparkSession)
    effects_on_keys = partial_by_image(
        effects_on(earlier_keys, log.effects, exceptional_records), log.missing_columns
    )
    filled = filled_rows(
        effects_on_keys,
        log,
        keys=keys,
        update_befores=split_records.where("record_type = 'update_before'"),
        longest_key_chain=longest_key_chain,
    )
    if filled_before is None:
        return filled
    return filled.unionByName(whole_rows(effects_on_keys, filled_before))


def _filled_before_revisions(
    new_exceptions: DataFrame, earlier: DataFrame | None
) -> DataFrame | None:
    """Return what earlier runs filled, if images among it may be whole now; otherwise None.

    This is possible only if an earlier event has got another place.
    """
    if earlier is None or new_exceptions.where("is_revision").isEmpty():
        return None
    return earlier
