from cdc_marts.formats import datahub_tuple
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_datahub_tuple")),
        dbt,
        datahub_tuple.parse,
        key_settings=declared_keys(dbt.config.get("tables"), "datahub_tuple"),
        topics=datahub_tuple.declared_topics(dbt.config.get("datahub_topics")),
    )
