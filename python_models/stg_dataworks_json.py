from cdc_marts.formats import dataworks_json
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_dataworks_json"), dbt)
    return dataworks_json.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "dataworks_json")
    )
