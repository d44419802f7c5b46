{#-
  Query of the staging records of formats: a union and nothing else, so that its
  increments are those of its tables.  Formats of which nothing has landed are
  left out, as each costs every query its share of planning.

  source_formats: names; one of them is there in any case.  raised_positions: a
  relation with the positions of messages of formats ordered by landing, where
  they are higher than in staging.
-#}
{% macro union_of_staging(source_formats, raised_positions=none) -%}
  {%- set with_rows = [] -%}
  {%- for source_format in source_formats -%}
    {%- set staging = ref('stg_' ~ source_format) -%}
    {%- do with_rows.append(source_format) if has_rows(staging) -%}
  {%- endfor -%}
  {%- for source_format in with_rows or source_formats[:1] %}
    {%- set staging = ref('stg_' ~ source_format) %}
{% if raised_positions is none -%}
select * from {{ staging }}
{%- elif source_format in formats_that('ordered_by_landing') -%}
{{ raised_records_sql(staging, raised_positions) }}
{%- else -%}
select
    * except (sequence),
    sequence
from {{ staging }}
{%- endif %}
{{ "union all" if not loop.last }}
  {%- endfor %}
{%- endmacro %}


{#- Records whose sequence starts with their raised position, where they have one. -#}
{% macro raised_records_sql(records, raised_positions) -%}
select
    records.* except (sequence),
    if(
        raised.position is null,
        records.sequence,
        {{ raised_sequence('records.sequence', 'raised.position') }}
    ) as sequence
from {{ records }} as records
left join {{ raised_positions }} as raised
    on {{ matches(
        'records',
        'raised',
        ['source_format', 'topic', '`partition`', 'offset']
    ) }}
{%- endmacro %}


{#- A sequence with another position. -#}
{% macro raised_sequence(sequence, position) -%}
named_struct(
            'position', {{ position }},
            'transaction_index', {{ sequence }}.transaction_index,
            'partition', {{ sequence }}.`partition`,
            'offset', {{ sequence }}.offset,
            'row_index', {{ sequence }}.row_index
        )
{%- endmacro %}
