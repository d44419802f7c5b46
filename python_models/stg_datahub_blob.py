from cdc_marts.formats import datahub_blob
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_datahub_blob"), dbt)
    return datahub_blob.parse(messages, key_settings=dbt.config.get("key_columns"))
