from cdc_marts.formats import shareplex_json
from cdc_marts.landing.arrivals import staging_rows


def model(dbt, session):
    messages, removed = dbt.ref("base_shareplex_json"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, shareplex_json, messages, removed, dbt.config.get("tables"))
