from cdc_marts.formats import cdl_debezium_json
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_cdl_debezium_json"), dbt)
    return cdl_debezium_json.parse(messages, key_settings=dbt.config.get("key_columns"))
