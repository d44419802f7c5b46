{#-
  Condition on effects: written where deliveries that repeat `records`, or their
  other halves, can be.  Both have the log position, or at least the time, of
  what they belong to, so that files of other positions are not read.
-#}
{% macro written_near(records) -%}
  {%- if not is_being_written() -%}
    {%- do return('true') -%}
  {%- endif -%}
  {%- set question -%}
    select
        min(sequence.position),
        max(sequence.position),
        count_if(sequence.position is null) > 0,
        cast(min(event_at) as string),
        cast(max(event_at) as string)
    from {{ records }}
    where
        record_type in ('change', 'update_before')
        and {{ may_be_redelivered() }}
        and (pairing_id is not null or instr(event_id, ':') = 0)
  {%- endset -%}
  {%- set answer = run_query(question).rows[0].values() -%}
  {%- set first, last, has_unplaced, earliest, latest = answer -%}
  {%- set conditions = [] -%}
  {%- if first is not none -%}
    {%- do conditions.append('sequence.position between ' ~ first ~ ' and ' ~ last) -%}
  {%- endif -%}
  {%- if has_unplaced -%}
    {%- set times = ["event_at is null"] -%}
    {%- if earliest is not none -%}
      {%- do times.append(
          "event_at between timestamp'%s' and timestamp'%s'"
          | format(earliest, latest)
      ) -%}
    {%- endif -%}
    {%- do conditions.append(
        '(sequence.position is null and (%s))' | format(times | join(' or '))
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' or ') or 'false') -%}
{%- endmacro %}
