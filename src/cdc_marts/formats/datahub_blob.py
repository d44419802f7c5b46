"""DataHub BLOB topics: the StreamX envelope as the bytes of a record.

Source: DataWorks, "Appendix: DataHub message formats", BLOB.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from cdc_marts.formats.streamx.envelope import parse_envelope
from cdc_marts.parsing.settings import KeySettings

SOURCE_FORMAT = "datahub_blob"


def parse(messages: DataFrame, key_settings: KeySettings | None = None) -> DataFrame:
    """Turn landed DataHub BLOB records into staging rows, one per message.

    `key_settings`: table_id -> key columns, for tables that publish no primary key.
    """
    # fastJSON writes these messages, and its `toJSONString` leaves out members that are null.
    return parse_envelope(messages, SOURCE_FORMAT, key_settings, leaves_out_nulls=True)
