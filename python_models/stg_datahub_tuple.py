from cdc_marts.formats import datahub_tuple
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_datahub_tuple"), dbt)
    return datahub_tuple.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "datahub_tuple")
    )
