-- The effects that count, each with the place that its event has now.
{{ valid_effects_sql(ref('int_row_effects')) }}
