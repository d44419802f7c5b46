from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import dataworks_json


def model(dbt, session):
    messages, removed = dbt.ref("base_dataworks_json"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, dataworks_json, messages, removed, dbt.config.get("tables"))
