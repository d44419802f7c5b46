from cdc_marts.formats import datahub_tuple
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_datahub_tuple")),
        dbt,
        datahub_tuple.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "datahub_tuple"),
        key_settings=declared_keys(dbt.config.get("tables"), "datahub_tuple"),
        topics=datahub_tuple.declared_topics(dbt.config.get("datahub_topics")),
    )
