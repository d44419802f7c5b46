"""FORMAT FOLDER: DuckDB reads messages into a table of latest rows; prints the seconds."""

import sys
import time
from pathlib import Path

import duckdb

#: Format -> (structure of a message, the query of its changes).
_FORMATS = {
    "canal_json": (
        '{"database":"VARCHAR","table":"VARCHAR","type":"VARCHAR","ts":"BIGINT","data":["JSON"]}',
        """select m.database || '.' || m.table as table_id, m.ts as position, m.type = 'DELETE' as
        is_gone, unnest(m.data) as row from messages""",
    ),
    "cdl_json": (
        '{"payload":{"SEG_OWNER":"VARCHAR","TABLE_NAME":"VARCHAR","OPERATION":"VARCHAR",'
        '"data":"JSON","before":"JSON","transaction":{"properties":[{"value":"BIGINT"}]}}}',
        """select m.payload.SEG_OWNER || '.' || m.payload.TABLE_NAME as table_id,
        m.payload.transaction.properties[1].value as position,
        m.payload.OPERATION = 'DELETE' as is_gone,
        if(is_gone, m.payload.before, m.payload.data) as row from messages""",
    ),
    "cdl_debezium_json": (
        '{"payload":{"op":"VARCHAR","before":"JSON","after":"JSON",'
        '"source":{"db":"VARCHAR","schema":"VARCHAR","table":"VARCHAR","lsn":"BIGINT"}}}',
        """select concat_ws('.', m.payload.source.db, m.payload.source.schema,
        m.payload.source.table) as table_id, m.payload.source.lsn as position,
        m.payload.op = 'd' as is_gone,
        if(is_gone, m.payload.before, m.payload.after) as row from messages""",
    ),
}


def main(source_format: str, folder: str, *_: str) -> None:
    structure, changes = _FORMATS[source_format]
    connection = duckdb.connect(str(Path(folder).parent / "state.duckdb"))
    started = time.perf_counter()
    connection.execute(
        f"""
        create or replace table latest_state as
        with
        messages as (
            select from_json(line, '{structure}') as m
            from read_csv('{folder}/part-*', columns = {{line: 'VARCHAR'}}, delim = '\x01',
                quote = '', escape = '', header = false)
        ),
        changes as ({changes})
        select table_id, row ->> '$.id' as id, arg_max(row, position) as row
        from changes group by all having not arg_max(is_gone, position)
        """
    )
    print(time.perf_counter() - started)


main(*sys.argv[1:])
