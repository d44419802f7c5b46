from cdc_marts.formats import lindorm_debezium
from cdc_marts.landing.arrivals import staging_rows


def model(dbt, session):
    messages, removed = dbt.ref("base_lindorm_debezium"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, lindorm_debezium, messages, removed, dbt.config.get("tables"))
