from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import datahub_tuple


def model(dbt, session):
    messages, removed = dbt.ref("base_datahub_tuple"), dbt.source("landing", "removed_messages")
    topics = datahub_tuple.declared_topics(dbt.config.get("datahub_topics"))
    tables = dbt.config.get("tables")
    return staging_rows(dbt, datahub_tuple, messages, removed, tables, topics=topics)
