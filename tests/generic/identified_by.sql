{#-
  The columns identify a row: none of them is null, and no two rows share them.

  `columns`: the grain of the model.
-#}
{% test identified_by(model, columns) %}

with

model_rows as (select * from {{ model }}),

validation_errors as (

    select
        {% for column in columns -%}
        {{ column }},
        {% endfor -%}
        count(*) as row_count
    from model_rows
    group by {{ columns | join(', ') }}
    having
        count(*) > 1
        {% for column in columns -%}
        or {{ column }} is null
        {% endfor %}

)

select * from validation_errors

{% endtest %}
