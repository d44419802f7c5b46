from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import canal_json
from cdc_marts.parsing.settings import times_by_topic


def model(dbt, session):
    messages, removed = dbt.ref("base_canal_json"), dbt.source("landing", "removed_messages")
    tables, swapped = dbt.config.get("tables"), times_by_topic(dbt.config.get("swapped_topics"))
    return staging_rows(dbt, canal_json, messages, removed, tables, swapped_topics=swapped)
