"""FORMAT FOLDER COLUMNS JARS: Flink SQL reads messages into a keyed state; prints the seconds.

With the jars of Paimon, the state is also written: a table of the latest rows and its changelog.
"""

import os
import sys
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

#: The cores that this process may use, which Spark's Java counts too.
_CORES = len(os.sched_getaffinity(0))
_TYPES = {
    "long": "BIGINT",
    "text": "STRING",
    "decimal": "STRING",
    "boolean": "STRING",
    "timestamp": "STRING",
}


def main(message_format: str, folder: str, columns: str, jars: str) -> None:
    settings = EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    config = environment.get_config()
    config.set("parallelism.default", str(_CORES))
    # A failed job must end: by default, a job with checkpoints starts again for ever.
    config.set("restart-strategy.type", "disable")
    # The state per key that distinguishes a new row from a known one.
    config.set("table.exec.source.cdc-events-duplicate", "true")
    if jars:
        config.set("pipeline.jars", ";".join(Path(jar).as_uri() for jar in jars.split(",")))
        # Paimon commits at checkpoints. By default, these are in memory, and at most 5 MB large.
        config.set("execution.checkpointing.interval", "10 s")
        config.set("execution.checkpointing.storage", "filesystem")
        config.set("execution.checkpointing.dir", (Path(folder).parent / "checkpoints").as_uri())
    named = [column.split(":") for column in columns.split(",")]
    types = ", ".join(f"`{name}` {_TYPES[type_]}" for name, type_ in named)
    options = {"connector": "filesystem", "path": folder, "format": message_format}
    if message_format == "debezium-json":
        options["debezium-json.schema-include"] = "true"
    environment.execute_sql(
        f"create table messages ({types}, primary key (id) not enforced) with ({_listed(options)})"
    )
    state = (
        _state_in_paimon(environment, folder, types) if jars else _state_nowhere(environment, types)
    )
    started = time.perf_counter()
    environment.execute_sql(f"insert into {state} select * from messages").wait()
    print(time.perf_counter() - started)


def _state_nowhere(environment: TableEnvironment, types: str) -> str:
    environment.execute_sql(f"create table state ({types}) with ('connector' = 'blackhole')")
    return "state"


def _state_in_paimon(environment: TableEnvironment, folder: str, types: str) -> str:
    warehouse = {"type": "paimon", "warehouse": (Path(folder).parent / "paimon").as_uri()}
    environment.execute_sql(f"create catalog paimon with ({_listed(warehouse)})")
    state = "paimon.`default`.state"
    environment.execute_sql(f"drop table if exists {state}")
    options = {"bucket": str(_CORES), "changelog-producer": "input"}
    environment.execute_sql(
        f"create table {state} ({types}, primary key (id) not enforced) with ({_listed(options)})"
    )
    return state


def _listed(options: dict[str, str]) -> str:
    return ", ".join(f"'{name}' = '{value}'" for name, value in options.items())


main(*sys.argv[1:])
