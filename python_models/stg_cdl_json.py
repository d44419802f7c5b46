from cdc_marts.formats import cdl_json
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_cdl_json"), dbt)
    return cdl_json.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "cdl_json")
    )
