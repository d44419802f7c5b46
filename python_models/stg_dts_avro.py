from cdc_marts.formats import dts_avro
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_dts_avro")),
        dbt,
        dts_avro.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "dts_avro"),
        key_settings=declared_keys(dbt.config.get("tables"), "dts_avro"),
    )
