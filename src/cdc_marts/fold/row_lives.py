"""Lives: the effects on a key that belong to one row, and the key that this row had before."""

from __future__ import annotations

from pyspark.sql import DataFrame

from cdc_marts.fold.rules import MACROS, truncations_of_tables


def partial_key_changes(
    effects: DataFrame, others: DataFrame, split_key_changes: DataFrame
) -> DataFrame:
    """Return the key changes that wrote partial images: missing values are under the earlier key.

    The update itself names the earlier key. If a format reports a key change as a delete and an
    insert, the delete names it.

    `effects`: all effects on some keys; `others`: the effects at the positions of their key
    changes, on all keys. Both have the columns of `int_row_effects`.

    The result has source_format, table_id, row_key, event_id, origin_key, delete_id.
    """
    of_updates = _key_changes_of_updates(effects)
    return of_updates.union(_key_changes_of_pairs(effects, others, split_key_changes)).distinct()


def _key_changes_of_updates(effects: DataFrame) -> DataFrame:
    return effects.sparkSession.sql(
        """
        select
            upserts.source_format,
            upserts.table_id,
            upserts.row_key,
            upserts.event_id,
            deletes.row_key as origin_key,
            deletes.event_id as delete_id
        from {effects} as upserts
        inner join {effects} as deletes
            on upserts.source_format = deletes.source_format
            and upserts.table_id = deletes.table_id
            and upserts.event_id = deletes.event_id
            and upserts.row_key <> deletes.row_key
        where upserts.effect = 'upsert' and upserts.is_partial and deletes.effect = 'delete'
        """,
        effects=effects,
    )


def _key_changes_of_pairs(
    effects: DataFrame, others: DataFrame, split_key_changes: DataFrame
) -> DataFrame:
    """Return the key changes that are a delete and an insert.

    A pair counts unless another change of the table at their log position stands between the two:
    between the deliveries that show the pair, and if their transaction shows it, between the two in
    their partition.
    """
    return effects.sparkSession.sql(
        """
        select
            inserts.source_format,
            inserts.table_id,
            inserts.row_key,
            inserts.event_id,
            pairs.old_key as origin_key,
            pairs.delete_id
        from {effects} as inserts
        inner join {split_key_changes} as pairs
            on inserts.source_format = pairs.source_format
            and inserts.table_id = pairs.table_id
            and inserts.event_id = pairs.insert_id
        inner join {effects} as deletes
            on pairs.source_format = deletes.source_format
            and pairs.table_id = deletes.table_id
            and pairs.delete_id = deletes.event_id
        left anti join {others} as others
            on inserts.source_format = others.source_format
            and inserts.table_id = others.table_id
            and inserts.message_position = others.message_position
            and others.topic = coalesce(pairs.topic, inserts.topic)
            and others.sequence.partition = coalesce(pairs.partition, inserts.sequence.partition)
            and others.sequence.offset < coalesce(pairs.insert_offset, inserts.sequence.offset)
            and others.sequence.offset > coalesce(pairs.delete_offset, deletes.sequence.offset)
            and (
                pairs.topic is not null
                or (
                    inserts.topic = deletes.topic
                    and inserts.sequence.partition = deletes.sequence.partition
                )
            )
        where inserts.effect = 'upsert' and inserts.is_partial and deletes.effect = 'delete'
        """,
        effects=effects,
        others=others,
        split_key_changes=split_key_changes,
    )


def row_lives(
    effects: DataFrame, key_changes: DataFrame, superseded: DataFrame, truncations: DataFrame
) -> DataFrame:
    """Return the effects, each with the number of the life to which it belongs under its key.

    A life begins with an event that takes no value from earlier events on its key, such as an
    insert, and lasts until the next such event. A delete is the last effect of the life that it
    ends. A delete that removed an older row while a newer row stayed (`superseded_delete`) ended
    the life of the event that last wrote the older row (`last_write_id`). A delete that images put
    in front of the newer row ended its own life. The effects of a newer row that left while an
    older row stayed interrupt no life of the older row: they have lives of their own, with negative
    numbers.

    `effects`: all effects on some keys, with the columns of `int_row_effects`. `key_changes`: the
    result of `partial_key_changes`. `superseded`, `truncations`: the models
    `int_superseded_effects` and `int_truncations`.

    The result has the effects with `effect` (which may be `superseded_delete`), `last_write_id`,
    `order_on_key`, the `origin_key` and `delete_id` of a key change, `truncations_before` and
    `life`.
    """
    return _numbered(_with_order_on_key(effects, key_changes, superseded, truncations))


def _with_order_on_key(
    effects: DataFrame, key_changes: DataFrame, superseded: DataFrame, truncations: DataFrame
) -> DataFrame:
    """Return the effects as in `row_lives`, without `life`."""
    return effects.sparkSession.sql(
        f"""
        select
            effects.source_format,
            effects.table_id,
            effects.row_key,
            if(
                effects.effect = 'delete'
                and superseded.is_of_older_row
                and superseded.row_left,
                'superseded_delete',
                effects.effect
            ) as effect,
            coalesce(superseded.row_left and not superseded.is_of_older_row, false)
                as is_of_row_that_left,
            superseded.last_write_id,
            effects.topic,
            effects.op,
            effects.event_id,
            effects.pairing_id,
            effects.sequence,
            effects.is_partial,
            effects.lists_all_columns,
            key_changes.origin_key,
            key_changes.delete_id,
            {MACROS.order_on_key("effects", "superseded")} as order_on_key,
            {MACROS.count_truncations_before("effects", "of_tables.truncations")}
                as truncations_before
        from {{effects}} as effects
        left join {{truncations_of_tables}} as of_tables
            on effects.source_format = of_tables.source_format
            and effects.table_id = of_tables.table_id
        left join {{key_changes}} as key_changes
            on effects.is_partial
            and effects.source_format = key_changes.source_format
            and effects.table_id = key_changes.table_id
            and effects.row_key = key_changes.row_key
            and effects.event_id = key_changes.event_id
        left join {{superseded}} as superseded
            on effects.source_format = superseded.source_format
            and effects.table_id = superseded.table_id
            and effects.row_key = superseded.row_key
            and effects.event_id = superseded.event_id
            and effects.effect = superseded.effect
        """,
        effects=effects,
        key_changes=key_changes,
        superseded=superseded,
        truncations_of_tables=truncations_of_tables(truncations),
    )


def _numbered(effects: DataFrame) -> DataFrame:
    """Add `life`: the number of the life to which an effect belongs under its key."""
    return effects.sparkSession.sql(
        """
        select
            * except (is_of_row_that_left, effect_before, truncations_before_that),
            if(is_of_row_that_left, -1, 1) * sum(cast(
                effect = 'upsert'
                and (
                    not is_partial
                    or op = 'insert'
                    or origin_key is not null
                    or effect_before is null
                    or effect_before = 'delete'
                    or truncations_before <> truncations_before_that
                )
                as int
            )) over on_key as life
        from (
            select
                *,
                lag(effect) over on_key as effect_before,
                lag(truncations_before) over on_key as truncations_before_that
            from {effects}
            window on_key as (
                partition by source_format, table_id, row_key, is_of_row_that_left
                order by order_on_key
            )
        )
        window on_key as (
            partition by source_format, table_id, row_key, is_of_row_that_left
            order by order_on_key
        )
        """,
        effects=effects,
    )
