from cdc_marts.formats import dts_avro
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_dts_avro"), dbt)
    return dts_avro.parse(messages, key_settings=dbt.config.get("key_columns"))
