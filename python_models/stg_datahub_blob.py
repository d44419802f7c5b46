from cdc_marts.formats import datahub_blob
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_datahub_blob"), dbt)
    return datahub_blob.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "datahub_blob")
    )
