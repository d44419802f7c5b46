from cdc_marts.formats import shareplex_json
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_shareplex_json")),
        dbt,
        shareplex_json.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "shareplex_json"),
        key_settings=declared_keys(dbt.config.get("tables"), "shareplex_json"),
    )
