from cdc_marts.formats import lindorm_debezium
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_lindorm_debezium"), dbt)
    return lindorm_debezium.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "lindorm_debezium")
    )
