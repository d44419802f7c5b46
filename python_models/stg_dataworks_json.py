from cdc_marts.formats import dataworks_json
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_dataworks_json"), dbt)
    return dataworks_json.parse(messages, key_settings=dbt.config.get("key_columns"))
