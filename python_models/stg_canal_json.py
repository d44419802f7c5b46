from cdc_marts.formats import canal_json
from cdc_marts.landing.arrivals import first_arrivals


def model(dbt, session):
    messages = first_arrivals(dbt.ref("base_canal_json"), dbt)
    return canal_json.parse(
        messages,
        key_settings=dbt.config.get("key_columns"),
        swapped_topics=dbt.config.get("swapped_topics"),
    )
