from cdc_marts.formats import cdl_json
from cdc_marts.landing.arrivals import staging_rows


def model(dbt, session):
    messages, removed = dbt.ref("base_cdl_json"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, cdl_json, messages, removed, dbt.config.get("tables"))
