{% macro record_run(results) -%}
  {%- if execute and flags.WHICH in
      ['run', 'build', 'test', 'seed', 'snapshot', 'retry'] -%}
    {%- set landing_table = landing_relation('run_results') -%}
    {%- set run = {
        'run_id': invocation_id,
        'command': flags.WHICH,
        'selected': (invocation_args_dict.get('select') or []) | list,
        'is_full_refresh': flags.FULL_REFRESH is true,
        'target_name': target.name,
        'started_at': run_started_at,
    } -%}
    {%- set problem = adapter.attempt(
        'cdc_marts.run_history:record',
        landing_table.render(),
        run,
        results
    ) -%}
    {%- if problem is not none -%}
      {%- do exceptions.warn(
          'The results of this run are not in ' ~ landing_table
          ~ ', so cdc-marts status and report do not show this run: '
          ~ problem
      ) -%}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}
