"""Filled rows: an unavailable column of a partial image gets the value that it had before."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.checkpoints import broadcast_if_few, checkpointed
from cdc_marts.fold.log import Log
from cdc_marts.fold.ranges import at_message_positions_of, is_one_of
from cdc_marts.fold.row_lives import partial_key_changes, row_lives
from cdc_marts.fold.rules import lacks_columns_of
from cdc_marts.identifying_columns import KEY, TABLE
from cdc_marts.parsing.records import SEQUENCE

_COLUMNS = (
    *KEY,
    "topic",
    "op",
    "event_id",
    "pairing_id",
    "lists_all_columns",
    "message_position",
    "sequence",
    "effect",
    "is_partial",
)
_LIFE = (*KEY, "life")
#: The columns of the result, with their types.
_FILLED = {
    "source_format": "string",
    "event_id": "string",
    "table_id": "string",
    "row_key": "string",
    "sequence": SEQUENCE,
    "row": "variant",
    "filled_from": f"map<string, {SEQUENCE}>",
    "before_values": "variant",
    "before_values_from": f"map<string, {SEQUENCE}>",
}


def filled_rows(
    effects_on_keys: DataFrame,
    log: Log,
    *,
    keys: DataFrame,
    update_befores: DataFrame,
    longest_key_chain: int,
) -> DataFrame:
    """Return the filled rows on some keys.

    An unavailable column gets its value from the latest earlier event of the row that has one, also
    if the row had another key then. If no earlier event has a value, the before image of the event
    itself gives it. No value is taken from before a delete or a truncation.

    `effects_on_keys`: all effects on these keys, and on the keys that their rows had before, with
    the columns of `int_row_effects`; `is_partial` is also true if an image lacks columns of its
    table. `keys`: the keys whose rows are filled. For other keys, effects on the earlier keys of
    their rows may be missing. `update_befores`: the `update_before` records of split updates.
    `longest_key_chain`: the number of key changes of the row over which a value is looked for.

    The result has source_format, event_id, table_id, row_key, sequence and row, and three more
    columns. filled_from: each column whose value came from an earlier event -> the sequence of this
    event. before_values: other values of such columns, from later before images, or null; they
    count if the table has lost the column in between. before_values_from: each column of
    before_values that came from an earlier event -> the sequence of this event.
    """
    # Without checkpoints, Spark would plan these DataFrames once for every use.
    on_keys = checkpointed(effects_on_keys.select(*_COLUMNS))
    if on_keys.where("is_partial").isEmpty():
        return no_filled_rows(on_keys.sparkSession)
    others = _beside(on_keys, log.effects, log.split_key_changes)
    key_changes = checkpointed(partial_key_changes(on_keys, others, log.split_key_changes))
    lives = checkpointed(row_lives(on_keys, key_changes, log.superseded, log.truncations))
    steps = checkpointed(_steps(lives, _sources_of_values(lives, keys, longest_key_chain)))
    images = checkpointed(_with_images(steps, log.records, update_befores))
    return _filled(_compared_values(_last_values(_column_steps(images))))


def no_filled_rows(session: SparkSession) -> DataFrame:
    """Return the result of `filled_rows` if no image is partial."""
    columns = ", ".join(f"cast(null as {type_}) as {name}" for name, type_ in _FILLED.items())
    return session.sql(f"select {columns} where false")


def whole_rows(effects: DataFrame, filled: DataFrame) -> DataFrame:
    """Return the events that earlier runs filled and that are whole now, each with its own image.

    An image lacks a column only from where its table got the column. If the event that shows this
    gets a later place, earlier images are no longer partial. Their rows are not removed: a row that
    is written again lets marts notice that its key has changed.

    `effects`: as `effects_on_keys` of `filled_rows`, with the images. `filled`: what earlier runs
    filled.

    The result has the columns of `filled_rows`.
    """
    images = effects.where("effect = 'upsert' and not is_partial").withColumnRenamed("after", "row")
    no_column = F.map_from_entries(
        F.array().cast(f"array<struct<name: string, sequence: {SEQUENCE}>>")
    )
    return (
        images.join(filled, ["source_format", "event_id"], "left_semi")
        .withColumn("filled_from", no_column)
        .withColumn("before_values", F.lit(None).cast("variant"))
        .withColumn("before_values_from", no_column)
        .select(*_FILLED)
    )


def partial_by_image(effects: DataFrame, missing_columns: DataFrame) -> DataFrame:
    """Return the effects; `is_partial` is also true if an image lacks columns that its table had.

    `missing_columns`: the model `int_missing_columns`.
    """
    lacks_columns = F.col("missing.schema_id").isNotNull()
    return (
        effects.alias("effects")
        .join(missing_columns.alias("missing"), lacks_columns_of("effects", "missing"), "left")
        .select("effects.*", lacks_columns.alias("lacks_columns"))
        .withColumn("is_partial", F.expr("is_partial or (effect = 'upsert' and lacks_columns)"))
        .drop("lacks_columns")
    )


def _beside(
    effects_on_keys: DataFrame,
    effects: DataFrame,
    split_key_changes: DataFrame,
) -> DataFrame:
    """Return the effects at the positions of partial inserts that belong to split key changes."""
    inserts = effects_on_keys.where("is_partial and op = 'insert'").join(
        split_key_changes.withColumnRenamed("insert_id", "event_id"),
        [*TABLE, "event_id"],
        "left_semi",
    )
    is_beside = at_message_positions_of(inserts)
    return effects_on_keys.where("false") if is_beside is None else effects.where(is_beside)


def _sources_of_values(lives: DataFrame, keys: DataFrame, longest_key_chain: int) -> DataFrame:
    """Return the lives with partial events, and the lives of their rows under earlier keys.

    The result has source_format, table_id, row_key, life, origin_key, origin_life, and distance:
    the number of key changes between the two lives.
    """
    origins = checkpointed(_origins(lives))
    itself = (
        _on_keys(lives, keys)
        .where("is_partial")
        .select(
            *_LIFE,
            F.col("row_key").alias("origin_key"),
            F.col("life").alias("origin_life"),
            F.lit(0).alias("distance"),
        )
        .distinct()
    )
    sources, newest = [itself], _on_keys(origins, keys)
    # A recursive query of Spark fails beyond a number of rows, which whole histories may have.
    for distance in range(1, longest_key_chain + 1):
        if newest.isEmpty():
            break
        sources.append(newest.withColumn("distance", F.lit(distance)))
        newest = checkpointed(_one_key_change_before(newest, origins))
    return reduce(DataFrame.unionByName, sources)


def _on_keys(rows: DataFrame, keys: DataFrame) -> DataFrame:
    return rows.join(broadcast_if_few(keys), [*KEY], "left_semi")


def _origins(lives: DataFrame) -> DataFrame:
    """Return the lives of rows that came from another key, with their lives under this key.

    The result has source_format, table_id, row_key, life, origin_key, origin_life; the last one is
    null if no event under the earlier key is known to have written the row.
    """
    return lives.sparkSession.sql(
        """
        select
            changed.source_format,
            changed.table_id,
            changed.row_key,
            changed.life,
            deleted.row_key as origin_key,
            if(
                deleted.effect = 'superseded_delete', last_written.life, deleted.life
            ) as origin_life
        from {lives} as changed
        inner join {lives} as deleted
            on changed.source_format = deleted.source_format
            and changed.table_id = deleted.table_id
            and changed.origin_key = deleted.row_key
            and changed.delete_id = deleted.event_id
        left join {lives} as last_written
            on last_written.effect = 'upsert'
            and deleted.source_format = last_written.source_format
            and deleted.table_id = last_written.table_id
            and deleted.row_key = last_written.row_key
            and deleted.last_write_id = last_written.event_id
            and deleted.truncations_before = last_written.truncations_before
        where
            changed.origin_key is not null
            and deleted.effect <> 'upsert'
            and changed.truncations_before = deleted.truncations_before
        """,
        lives=lives,
    )


def _one_key_change_before(sources: DataFrame, origins: DataFrame) -> DataFrame:
    """Return the lives from which the rows came to the given sources.

    Rows that began there have none.
    """
    before = origins.select(
        *TABLE,
        F.col("row_key").alias("origin_key"),
        F.col("life").alias("origin_life"),
        F.col("origin_key").alias("earlier_key"),
        F.col("origin_life").alias("earlier_life"),
    )
    return sources.join(before, [*TABLE, "origin_key", "origin_life"]).select(
        *_LIFE,
        F.col("earlier_key").alias("origin_key"),
        F.col("earlier_life").alias("origin_life"),
    )


def _steps(lives: DataFrame, sources: DataFrame) -> DataFrame:
    """Return the upserts of each life, and of the earlier lives of its row.

    All upserts of an earlier life come before those of the life that followed it: the two halves of
    a split key change may be in two partitions, where their order under one key means nothing.
    """
    return lives.sparkSession.sql(
        """
        select
            sources.source_format,
            sources.table_id,
            sources.row_key,
            sources.life,
            sources.distance,
            struct(-sources.distance as key_changes, effects.order_on_key) as step_order,
            effects.* except (source_format, table_id, row_key, life, order_on_key)
        from {sources} as sources
        inner join {lives} as effects
            on sources.source_format = effects.source_format
            and sources.table_id = effects.table_id
            and sources.origin_key = effects.row_key
            and sources.origin_life = effects.life
        where effects.effect = 'upsert'
        """,
        sources=sources,
        lives=lives,
    )


def _with_images(steps: DataFrame, records: DataFrame, update_befores: DataFrame) -> DataFrame:
    """Return the steps with their images as maps. Only partial steps have the before image."""
    pairing = ["source_format", "pairing_id"]
    split = steps.where("is_partial and pairing_id is not null").select(*pairing)
    split_befores = (
        update_befores.join(split, pairing, "left_semi")
        .groupBy(*pairing)
        .agg(F.any_value("before").alias("split_before"))
    )
    messages = steps.select("topic", "sequence.partition", "sequence.offset")
    images = records.where("record_type = 'change'").where(is_one_of(messages))
    images = images.select(
        "source_format", "event_id", "sequence", "before", "after", "unavailable_names"
    )
    before = F.when(F.col("is_partial"), F.coalesce("before", "split_before"))
    return (
        images.join(broadcast_if_few(steps), ["source_format", "event_id", "sequence"])
        .join(split_befores, pairing, "left")
        .withColumn("columns_after", F.col("after").cast("map<string,variant>"))
        .withColumn("columns_before", before.cast("map<string,variant>"))
        .withColumn("unavailable_columns", F.from_json("unavailable_names", "array<string>"))
        .drop("after", "before", "split_before", "pairing_id", "unavailable_names")
    )


def _column_steps(steps: DataFrame) -> DataFrame:
    """Return one row per step and column of the row, with its value if the image has it."""
    return steps.sparkSession.sql(
        """
        with columns_of_lives as (
            select
                source_format,
                table_id,
                row_key,
                life,
                array_distinct(flatten(array_union(
                    collect_set(map_keys(columns_after)), collect_set(map_keys(columns_before))
                ))) as column_names
            from {steps}
            group by source_format, table_id, row_key, life
        ),

        steps as (
            select
                steps.*,
                case
                    when not steps.is_partial then cast(array() as array<string>)
                    when steps.lists_all_columns then steps.unavailable_columns
                    else columns_of_lives.column_names
                end as names
            from {steps} as steps
            inner join columns_of_lives
                on steps.source_format = columns_of_lives.source_format
                and steps.table_id = columns_of_lives.table_id
                and steps.row_key = columns_of_lives.row_key
                and steps.life = columns_of_lives.life
        )

        select
            steps.* except (columns_after, unavailable_columns, columns_before, names),
            after.name,
            after.value,
            if(
                map_contains_key(steps.columns_before, after.name),
                named_struct('value', steps.columns_before[after.name]),
                null
            ) as value_before
        from steps
            lateral view explode(map_concat(
                map_from_arrays(
                    steps.names,
                    transform(steps.names, name -> cast(null as struct<value: variant>))
                ),
                transform_values(
                    steps.columns_after, (name, value) -> named_struct('value', value)
                )
            )) after as name, value
        """,
        steps=steps,
    )


def _last_values(column_steps: DataFrame) -> DataFrame:
    """Return the steps with the last after image and the last before image that have a value.

    Both are struct<value, step_order, sequence> of the step, or null.
    """
    return column_steps.sparkSession.sql(
        """
        select
            source_format,
            event_id,
            table_id,
            row_key,
            sequence,
            name,
            distance,
            is_partial,
            step_order,
            last_value(
                if(value is null, null, struct(value.value, step_order, sequence)), true
            ) over up_to_event as after_value,
            last_value(
                if(
                    value_before is null,
                    null,
                    struct(value_before.value, step_order, sequence)
                ),
                true
            ) over up_to_event as before_value
        from {column_steps}
        window up_to_event as (
            partition by source_format, table_id, row_key, life, name
            order by step_order
            rows between unbounded preceding and current row
        )
        """,
        column_steps=column_steps,
    )


def _compared_values(last_values: DataFrame) -> DataFrame:
    """Return the steps with the value that fills the row, and another one from a later image."""
    return last_values.sparkSession.sql(
        """
        select
            * except (after_value, before_value),
            -- If a before image repeats a value, the value is as new as this image.
            if(
                after_value is null
                or (
                    before_value.step_order > after_value.step_order
                    and to_json(before_value.value) = to_json(after_value.value)
                ),
                before_value,
                after_value
            ) as filled,
            if(
                before_value.step_order > after_value.step_order
                and to_json(before_value.value) <> to_json(after_value.value),
                before_value,
                null
            ) as other
        from {last_values}
        """,
        last_values=last_values,
    )


def _filled(compared_values: DataFrame) -> DataFrame:
    """Return the result of `filled_rows` from the values of its columns."""
    return compared_values.sparkSession.sql(
        """
        select
            source_format,
            event_id,
            table_id,
            row_key,
            sequence,
            to_variant_object(map_from_entries(
                collect_list(struct(name, filled.value))
            )) as row,
            map_from_entries(collect_list(if(
                filled.step_order < step_order, struct(name, filled.sequence), null
            ))) as filled_from,
            if(
                count(other) > 0,
                to_variant_object(map_from_entries(collect_list(if(
                    other is null, null, struct(name, other.value)
                )))),
                null
            ) as before_values,
            map_from_entries(collect_list(if(
                other.step_order < step_order, struct(name, other.sequence), null
            ))) as before_values_from
        from {compared_values}
        where is_partial and distance = 0 and filled is not null
        group by source_format, event_id, table_id, row_key, sequence
        """,
        compared_values=compared_values,
    )
