{#-
  An insert, a snapshot and an update have an after image.  A delete has a
  before image and no after image.  An insert and a snapshot have no before
  image.  Each event belongs to a row of a table.
-#}
{% test images_fit_op(model) %}

with

events as (select * from {{ model }}),

validation_errors as (

    select
        event_id,
        op,
        before,
        after
    from events
    where
        row_key is null
        or table_id is null
        or case op
            when 'delete' then before is null or after is not null
            when 'update' then after is null
            else after is null or before is not null
        end

)

select
    event_id,
    op,
    to_json(before) as before,
    to_json(after) as after
from validation_errors

{% endtest %}
