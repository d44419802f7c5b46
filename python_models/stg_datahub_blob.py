from cdc_marts.formats import datahub_blob
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_datahub_blob")),
        dbt,
        datahub_blob.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "datahub_blob"),
        key_settings=declared_keys(dbt.config.get("tables"), "datahub_blob"),
    )
