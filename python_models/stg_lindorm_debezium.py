from cdc_marts.formats import lindorm_debezium
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_lindorm_debezium")),
        dbt,
        lindorm_debezium.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "lindorm_debezium"),
        key_settings=declared_keys(dbt.config.get("tables"), "lindorm_debezium"),
    )
