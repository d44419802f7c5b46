from cdc_marts.formats import cdl_json
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_cdl_json")),
        dbt,
        cdl_json.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "cdl_json"),
        key_settings=declared_keys(dbt.config.get("tables"), "cdl_json"),
    )
