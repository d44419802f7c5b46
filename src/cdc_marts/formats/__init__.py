"""One parser a format.  This tuple is the only place that lists the formats."""

SOURCE_FORMATS = (
    "lindorm_debezium",
    "dataworks_json",
    "dts_avro",
    "shareplex_json",
    "canal_json",
    "cdl_json",
    "cdl_debezium_json",
    "datahub_tuple",
    "datahub_blob",
)
