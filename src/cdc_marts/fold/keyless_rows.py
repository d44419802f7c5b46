"""Keyless rows: the rows of tables without a key, counted per image."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.fold.rules import MACROS, last_truncations_of_tables
from cdc_marts.identifying_columns import KEY, TABLE

#: Column of an effect -> the column of the counted row that has its value from the newest effect.
NEWEST = {
    "database_name": "database_name",
    "schema_name": "schema_name",
    "table_name": "table_name",
    "op": "last_op",
    "event_id": "last_event_id",
    "schema_id": "schema_id",
    "event_at": "last_event_at",
}


def keyless_rows(
    new_effects: DataFrame,
    *,
    effects: DataFrame,
    new_revised_keys: DataFrame,
    new_truncations: DataFrame,
    truncations: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the rows whose number changes. An insert adds one row, a delete subtracts one.

    The sum does not depend on the order or the batches of the effects. Effects before a truncation
    of their table do not count. If a truncation lands, or earlier effects of a table have changed,
    all rows of the table are counted again.

    `new_effects`: the effects that no run has counted; `effects`: all effects, with the new ones.
    Both have the columns of `int_row_effects`. `new_revised_keys`: new rows of the model
    `int_revised_keys`. `new_truncations`, `truncations`: new and all rows of `int_truncations`.
    `earlier`: what earlier runs returned; None in the first run.

    The result has the columns of `earlier`. A row that no effect mentions any longer has a
    row_count of 0 and no last_sequence.
    """
    new_effects = new_effects.where("is_keyless")
    if earlier is None:
        return _counted(_contributions(_after_truncations(new_effects, truncations)))
    revised_keys = new_revised_keys.where("is_keyless")
    changed = new_truncations.select(*TABLE).union(revised_keys.select(*TABLE))
    recounted = checkpointed(changed.distinct())
    if recounted.isEmpty():
        to_count, earlier_of_recounted = new_effects, earlier.where("false")
    else:
        tables = broadcast_if_few(recounted)
        to_count = new_effects.join(tables, [*TABLE], "left_anti").unionByName(
            effects.where("is_keyless").join(tables, [*TABLE], "left_semi")
        )
        earlier_of_recounted = earlier.join(tables, [*TABLE], "left_semi")
        earlier = earlier.join(tables, [*TABLE], "left_anti")
    # The effects are used several times: with a checkpoint, Spark plans them once.
    counted = checkpointed(_after_truncations(to_count, truncations))
    if counted.isEmpty() and earlier_of_recounted.isEmpty():
        return earlier.where("false")
    touched = broadcast_if_few(checkpointed(counted.select(*KEY).distinct()))
    return _counted(
        _contributions(counted)
        .unionByName(_earlier_contributions(earlier.join(touched, [*KEY], "left_semi")))
        .unionByName(_no_contributions(earlier_of_recounted.join(touched, [*KEY], "left_anti")))
    )


def _after_truncations(effects: DataFrame, truncations: DataFrame) -> DataFrame:
    return effects.sparkSession.sql(
        f"""
        select effects.*
        from {{effects}} as effects
        left anti join {{last_truncations}} as last_truncations
            on effects.source_format = last_truncations.source_format
            and effects.table_id = last_truncations.table_id
            and {MACROS.is_truncated_by("effects", "last_truncations")}
        """,
        effects=effects.select(*KEY, "sequence", "effect", *NEWEST),
        last_truncations=last_truncations_of_tables(truncations),
    )


def _contributions(effects: DataFrame) -> DataFrame:
    """Return what each effect adds to the number of its rows, and the effect as the newest one."""
    return effects.selectExpr(
        *KEY,
        "if(effect = 'upsert', 1L, -1L) as row_count",
        f"struct(sequence, effect, {', '.join(NEWEST)}) as newest",
        "event_at as first_event_at",
    )


def _earlier_contributions(earlier: DataFrame) -> DataFrame:
    """Return the rows counted so far. They stand in front of an effect with the same sequence."""
    members = ", ".join(f"{column} as {name}" for name, column in NEWEST.items())
    return earlier.selectExpr(
        *KEY,
        "row_count",
        f"struct(last_sequence as sequence, '' as effect, {members}) as newest",
        "first_event_at",
    )


def _no_contributions(earlier: DataFrame) -> DataFrame:
    """Return a count of 0 for rows that no effect mentions any longer."""
    return _earlier_contributions(earlier).selectExpr(
        *KEY,
        "0L as row_count",
        "if(false, newest, null) as newest",
        "cast(null as timestamp) as first_event_at",
    )


def _counted(contributions: DataFrame) -> DataFrame:
    counted_rows = contributions.groupBy(*KEY).agg(
        F.expr("max_by(newest, struct(newest.sequence, newest.effect))").alias("newest"),
        F.sum("row_count").alias("row_count"),
        F.min("first_event_at").alias("first_event_at"),
    )
    return counted_rows.select(
        *KEY,
        *(F.col(f"newest.{name}").alias(column) for name, column in NEWEST.items()),
        F.col("newest.sequence").alias("last_sequence"),
        "row_count",
        "first_event_at",
    )
