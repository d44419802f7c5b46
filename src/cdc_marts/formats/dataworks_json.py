"""DataWorks messages in Kafka: the StreamX envelope as the value of a record.

Source: DataWorks, "Appendix: message formats".
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from cdc_marts.formats.streamx.envelope import parse_envelope
from cdc_marts.parsing.settings import KeySettings

SOURCE_FORMAT = "dataworks_json"


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed DataWorks JSON into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables that publish no primary key.
    """
    return parse_envelope(messages, SOURCE_FORMAT, key_settings)
