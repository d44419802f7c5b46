from cdc_marts.formats import shareplex_json
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_shareplex_json"), dbt)
    return shareplex_json.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "shareplex_json")
    )
