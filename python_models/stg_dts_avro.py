from cdc_marts.formats import dts_avro
from cdc_marts.landing.arrivals import first_arrivals
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_dts_avro"), dbt)
    return dts_avro.parse(
        messages, key_settings=declared_keys(dbt.config.get("tables"), "dts_avro")
    )
