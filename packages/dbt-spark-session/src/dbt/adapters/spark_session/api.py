"""The parts of the adapter that other programs may use. Its other modules may change at any time.

- The session of a target: `SparkSessionCredentials.session`, `close_session`, `activate` for its
  use on another thread, `RunLock` on a shared catalog, `take_home` and `release_home` of an
  embedded one.
- Its errors: `SessionError` if it could not be opened, the `SPARK_ERRORS` that it raises,
  `message_of` an error, and a text `without_secrets` of its target. Whether a setting
  `is_secret`.
- Its Java: `java_class` of the running Java, `jar_paths` of Maven coordinates, which are
  downloaded once, and `IVY_CACHE`, the folder of the downloads.
- Tables of its catalog: `tables_of`, `view_query`. For Iceberg tables `iceberg_table`, `has_rows`,
  `snapshots` (each a `Snapshot`), and `all_snapshots` at once, as `TableSnapshots`.
- `rewrite_rows`, which changes rows in place, and `forget_past`, which deletes the content of
  older snapshots; whether Iceberg `can_list_files` of a table.
- What incremental models have read: `watermarks_in` a snapshot, `unread_rows` of a table; whether
  a snapshot `changes_rows`, and `commit_watermarks` of a model that has read a snapshot without
  changes. The `rows_after` a snapshot, and the `rows_up_to` it, for a reader that is no model.
- `IncrementalRead`, what a run of a model reads and commits.
- `HashSet`, a condition that leaves out most rows of a table except those with some keys.
- `ModelRun`, which the macro `dataframe` gives to a function; `create_view` of a DataFrame.
"""

from dbt.adapters.spark_session.catalog import (
    Snapshot,
    TableSnapshots,
    activate,
    all_snapshots,
    has_rows,
    iceberg_table,
    snapshots,
    tables_of,
    view_query,
)
from dbt.adapters.spark_session.connections import SparkSessionCredentials
from dbt.adapters.spark_session.dataframes import ModelRun, create_view
from dbt.adapters.spark_session.errors import SPARK_ERRORS, SessionError, message_of
from dbt.adapters.spark_session.hash_set import HashSet
from dbt.adapters.spark_session.incremental_read import IncrementalRead
from dbt.adapters.spark_session.increments import (
    changes_rows,
    commit_watermarks,
    rows_after,
    rows_up_to,
    unread_rows,
    watermarks_in,
)
from dbt.adapters.spark_session.jvm import java_class
from dbt.adapters.spark_session.packages import jar_paths
from dbt.adapters.spark_session.rewrites import can_list_files, forget_past, rewrite_rows
from dbt.adapters.spark_session.run_lock import RunLock
from dbt.adapters.spark_session.secrets import is_secret, without_secrets
from dbt.adapters.spark_session.session import IVY_CACHE, close_session, release_home, take_home

__all__ = [
    "IVY_CACHE",
    "SPARK_ERRORS",
    "HashSet",
    "IncrementalRead",
    "ModelRun",
    "RunLock",
    "SessionError",
    "Snapshot",
    "SparkSessionCredentials",
    "TableSnapshots",
    "activate",
    "all_snapshots",
    "can_list_files",
    "changes_rows",
    "close_session",
    "commit_watermarks",
    "create_view",
    "forget_past",
    "has_rows",
    "iceberg_table",
    "is_secret",
    "jar_paths",
    "java_class",
    "message_of",
    "release_home",
    "rewrite_rows",
    "rows_after",
    "rows_up_to",
    "snapshots",
    "tables_of",
    "take_home",
    "unread_rows",
    "view_query",
    "watermarks_in",
    "without_secrets",
]
