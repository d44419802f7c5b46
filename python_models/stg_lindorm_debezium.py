from cdc_marts.arrivals import staging_rows
from cdc_marts.formats import lindorm_debezium


def model(dbt, session):
    messages, removed = dbt.ref("base_lindorm_debezium"), dbt.source("landing", "removed_messages")
    return staging_rows(dbt, lindorm_debezium, messages, removed, dbt.config.get("tables"))
