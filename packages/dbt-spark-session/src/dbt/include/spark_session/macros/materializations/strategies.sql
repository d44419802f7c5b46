{#- dbt asks for the SQL of each strategy by its own name; dbt-spark has one macro for all. -#}

{% macro spark_session__get_incremental_append_sql(arg_dict) %}
  {%- do return(spark_incremental_sql('append', arg_dict)) -%}
{% endmacro %}


{% macro spark_session__get_incremental_merge_sql(arg_dict) %}
  {%- do return(spark_incremental_sql('merge', arg_dict)) -%}
{% endmacro %}


{% macro spark_session__get_incremental_insert_overwrite_sql(arg_dict) %}
  {%- do return(spark_incremental_sql('insert_overwrite', arg_dict)) -%}
{% endmacro %}


{% macro spark_session__get_incremental_microbatch_sql(arg_dict) %}
  {%- do return(spark_incremental_sql('microbatch', arg_dict)) -%}
{% endmacro %}


{% macro spark_incremental_sql(strategy, arg_dict) %}
  {%- do return(dbt_spark_get_incremental_sql(
      strategy,
      arg_dict['temp_relation'],
      arg_dict['target_relation'],
      arg_dict['target_relation'],
      arg_dict['unique_key'],
      arg_dict['incremental_predicates']
  )) -%}
{% endmacro %}
