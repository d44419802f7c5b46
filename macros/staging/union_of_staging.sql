{#-
  Query of the staging records of formats: a union and nothing else, so that its
  increments are those of its tables.  Formats of which nothing has landed are
  left out.

  source_formats: names; one of them is there in any case.  moved_formats: those
  with messages in `places`, a relation in the shape of `int_message_places`.
-#}
{% macro union_of_staging(source_formats, moved_formats=[], places=none) -%}
  {%- for source_format in formats_with_rows(source_formats) %}
    {%- set staging = ref('stg_' ~ source_format) %}
{% if source_format in moved_formats -%}
{{ placed_records_sql(staging, places) }}
{%- elif moved_formats -%}
{#- The columns in the order of the moved ones. -#}
select
    * except (event_id, sequence),
    event_id,
    sequence
from {{ staging }}
{%- else -%}
select * from {{ staging }}
{%- endif %}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}


{#-
  Records in the places of their messages.  A row that comes again in the load
  that repairs a table is another event than the first one.
-#}
{% macro placed_records_sql(records, places) -%}
select
    records.* except (event_id, sequence),
    if(
        places.transaction_index is null or instr(records.event_id, ':') > 0,
        records.event_id,
        md5(concat(records.event_id, ' ', places.transaction_index))
    ) as event_id,
    if(
        places.offset is null,
        records.sequence,
        {{ moved_sequence('records.sequence', 'places') }}
    ) as sequence
from {{ records }} as records
left join {{ places }} as places
    on {{ matches(
        'records',
        'places',
        ['source_format', 'topic', '`partition`', 'offset']
    ) }}
{%- endmacro %}


{#- A sequence in the place of its message. -#}
{% macro moved_sequence(sequence, place) -%}
named_struct(
            'position', {{ place }}.position,
            'transaction_index',
            coalesce({{ place }}.transaction_index, {{ sequence }}.transaction_index),
            'partition', {{ sequence }}.`partition`,
            'offset', {{ sequence }}.offset,
            'row_index', {{ sequence }}.row_index
        )
{%- endmacro %}
