from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import dts_avro


def model(dbt, session):
    messages, removed = dbt.ref("base_dts_avro"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, dts_avro, messages, removed, dbt.config.get("tables"))
