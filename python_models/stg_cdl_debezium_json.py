from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import cdl_debezium_json


def model(dbt, session):
    messages, removed = dbt.ref("base_cdl_debezium_json"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, cdl_debezium_json, messages, removed, dbt.config.get("tables"))
