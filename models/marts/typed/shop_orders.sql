{{ cdc_marts.typed_mart() }}
