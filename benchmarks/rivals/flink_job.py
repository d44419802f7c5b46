"""FORMAT FOLDER COLUMNS: Flink SQL reads messages into a keyed state, and prints the seconds."""

import os
import sys
import time

from pyflink.table import EnvironmentSettings, TableEnvironment

_TYPES = {
    "long": "BIGINT",
    "text": "STRING",
    "decimal": "STRING",
    "boolean": "STRING",
    "timestamp": "STRING",
}


def main(message_format: str, folder: str, columns: str) -> None:
    settings = EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    config = environment.get_config()
    config.set("parallelism.default", str(os.cpu_count()))
    # The state per key that tells a new row from a known one.
    config.set("table.exec.source.cdc-events-duplicate", "true")
    named = [column.split(":") for column in columns.split(",")]
    types = ", ".join(f"`{name}` {_TYPES[type_]}" for name, type_ in named)
    options = {"connector": "filesystem", "path": folder, "format": message_format}
    if message_format == "debezium-json":
        options["debezium-json.schema-include"] = "true"
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in options.items())
    environment.execute_sql(
        f"create table messages ({types}, primary key (id) not enforced) with ({listed})"
    )
    environment.execute_sql(f"create table state ({types}) with ('connector' = 'blackhole')")
    started = time.perf_counter()
    environment.execute_sql("insert into state select * from messages").wait()
    print(time.perf_counter() - started)


main(*sys.argv[1:])
