{#-
  Every value fits the type of its column.  What does not is NULL in the mart;
  the source has it, so a warning says which it is.
-#}
{% test no_cast_errors(model) %}

{{ config(severity='warn') }}

with

typed_rows as (select * from {{ model }}),

cast_errors as (

    select
        _row_key,
        explode(_cast_errors) as cast_error
    from typed_rows

),

validation_errors as (

    select
        _row_key,
        cast_error.*
    from cast_errors

)

select * from validation_errors

{% endtest %}
