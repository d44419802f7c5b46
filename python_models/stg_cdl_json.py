from cdc_marts.formats import cdl_json
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_cdl_json"), dbt)
    return cdl_json.parse(messages, key_settings=dbt.config.get("key_columns"))
