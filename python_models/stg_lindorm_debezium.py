from cdc_marts.formats import lindorm_debezium
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_lindorm_debezium"), dbt)
    return lindorm_debezium.parse(messages, key_settings=dbt.config.get("key_columns"))
