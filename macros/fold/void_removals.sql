{#-
  CTEs that find removals which took an older row from under a key that a newer
  one had come to: they don't end the newer row.  The rows under each contested
  key are counted along its effects; two can be there only within a transaction,
  none after an end of the table.

  Ends in `contested_keys`, `contested_effects` and `void_removals`
  (source_format, table_id, row_key, event_id).

  effects: all effects.  contested_keys: the query of `contested_keys_sql`.
  A CTE `table_ends` of `ends_of_tables_sql` must stand before.
-#}
{% macro void_removals(effects, contested_keys) -%}
contested_keys as (

    select distinct
        source_format,
        table_id,
        row_key
    from ({{ contested_keys }})

),

contested_effects as (

    select effects.*
    from {{ effects }} as effects
    left semi join contested_keys
        on {{ matches('effects', 'contested_keys') }}
    where effects.effect in ('upsert', 'removal')

),

placed_contested_effects as (

    select
        contested_effects.*,
        {{ count_ends_before('contested_effects', 'table_ends.ends') }}
            as ends_before
    from contested_effects
    left join table_ends
        on {{ matches(
            'contested_effects', 'table_ends', ['source_format', 'table_id']
        ) }}

),

contested_histories as (

    select
        source_format,
        table_id,
        row_key,
        array_sort(collect_list(step)) as steps
    from (
        select
            source_format,
            table_id,
            row_key,
            struct(
                sequence,
                event_id,
                effect = 'removal' as is_removal,
                {{ transaction_of_effect() }} as transaction_id,
                ends_before,
                bool_or({{ arrives() }}) as arrives,
                bool_or({{ departs() }}) as departs
            ) as step
        from placed_contested_effects
        group by
            source_format,
            table_id,
            row_key,
            sequence,
            event_id,
            effect,
            {{ transaction_of_effect() }},
            ends_before
    )
    group by source_format, table_id, row_key

),

-- row_count: rows under the key.  Of what another transaction left there is one.
counted_histories as (

    select
        source_format,
        table_id,
        row_key,
        aggregate(
            steps,
            cast(
                named_struct(
                    'row_count', 0, 'transaction_id', null, 'ends_before', 0, 'void_ids', array()
                )
                as struct<
                    row_count: int, transaction_id: string, ends_before: int, void_ids: array<string>
                >
            ),
            (held, step) -> named_struct(
                'row_count', case
                    when step.is_removal and not step.departs then 0
                    when step.is_removal
                        then greatest(0, {{ rows_under_key('held', 'step') }} - 1)
                    when step.arrives
                        then {{ rows_under_key('held', 'step') }} + 1
                    else greatest(1, {{ rows_under_key('held', 'step') }})
                end,
                'transaction_id', step.transaction_id,
                'ends_before', step.ends_before,
                'void_ids', if(
                    step.departs and {{ rows_under_key('held', 'step') }} > 1,
                    array_append(held.void_ids, step.event_id),
                    held.void_ids
                )
            ),
            held -> held.void_ids
        ) as void_ids
    from contested_histories

),

void_removals as (

    select
        source_format,
        table_id,
        row_key,
        explode(void_ids) as event_id
    from counted_histories

)
{%- endmacro %}


{% macro rows_under_key(held, step) -%}
case
                        when {{ held }}.ends_before <> {{ step }}.ends_before then 0
                        when {{ held }}.transaction_id <=> {{ step }}.transaction_id then {{ held }}.row_count
                        else least(1, {{ held }}.row_count)
                    end
{%- endmacro %}
