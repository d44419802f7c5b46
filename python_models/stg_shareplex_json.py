from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import shareplex_json


def model(dbt, session):
    messages, removed = dbt.ref("base_shareplex_json"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, shareplex_json, messages, removed, dbt.config.get("tables"))
