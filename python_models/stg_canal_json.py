from cdc_marts.formats import canal_json
from cdc_marts.landing.arrivals import parse_arrivals
from cdc_marts.landing.removed import removed_of
from cdc_marts.parsing.settings import declared_keys, times_by_topic


def model(dbt, session):
    return parse_arrivals(
        dbt.new_rows(dbt.ref("base_canal_json")),
        dbt,
        canal_json.parse,
        removed=removed_of(dbt.source("landing", "removed_messages"), "canal_json"),
        key_settings=declared_keys(dbt.config.get("tables"), "canal_json"),
        swapped_topics=times_by_topic(dbt.config.get("swapped_topics")),
    )
