from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import datahub_blob


def model(dbt, session):
    messages, removed = dbt.ref("base_datahub_blob"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, datahub_blob, messages, removed, dbt.config.get("tables"))
