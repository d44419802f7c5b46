from cdc_marts.formats import shareplex_json
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_shareplex_json"), dbt)
    return shareplex_json.parse(messages, key_settings=dbt.config.get("key_columns"))
