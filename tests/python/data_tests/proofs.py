"""Small data for every data test of the project: good rows, and bad ones beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Rows:
    """The rows of a model, as SQL tuples.

    `columns`: of the tuples.  `bad` stands beside `good`; a comment above a bad
    row says what is wrong, one fault each.  `selected`: what the model makes of
    the columns.
    """

    columns: str
    good: str
    bad: str = ""
    selected: str = "*"

    def sql(self, with_faults: bool) -> str:
        tuples = [self.good, self.bad] if with_faults and self.bad else [self.good]
        return f"select {self.selected} from values {','.join(tuples)} as rows ({self.columns})"


@dataclass(frozen=True)
class Proof:
    """What a data test must let pass (`good`) and find (`bad`).

    `arguments`: of the test; rows stand for a reference to a model that has them.
    `outcome`: of the test when it finds something.
    """

    model: Rows
    arguments: Mapping[str, Rows | list[str] | dict[str, Any]] = field(default_factory=dict)
    outcome: str = "fail"

    @property
    def faults(self) -> int:
        read = [rows for rows in self.arguments.values() if isinstance(rows, Rows)]
        return sum(rows.bad.count("--") for rows in (self.model, *read))


#: What the tests read by name: codes of two formats, as in the project's seed.
MODELS = {
    "source_ops": """
        select * from values
            ('canal_json', 'INSERT'),
            ('canal_json', 'INIT'),
            ('shareplex_json', 'upd')
            as source_ops (source_format, source_op)
    """,
}

#: A sequence of which only the position matters.
SEQUENCE = """
    struct(
        cast(position as decimal(38, 0)) as position,
        0L as transaction_index,
        0 as `partition`,
        0L as offset,
        0 as row_index
    )
"""

#: The format of a table: of the two, only the before images of CDL may mislead.
FORMAT = "if(table_id like 'cdl %', 'cdl_json', 'dts_avro')"

#: A log with one table for each thing that the fold must get right.
LOG = Rows(
    columns="table_id, row_key, position, op, image, previous_row_key, unavailable_columns",
    good="""
        ('orders', '1', 1, 'insert', '{"id":1,"note":"old"}', null, array()),
        ('orders', '1', 3, 'update', '{"id":1,"note":"new"}', null, array()),
        ('orders', '1', 2, 'update', '{"id":1,"note":"late"}', null, array()),
        ('orders', '2', 4, 'insert', '{"id":2}', null, array()),
        ('orders', '2', 5, 'delete', '{"id":2}', null, array()),
        ('orders', '3', 6, 'insert', '{"id":3}', null, array()),
        ('orders', '4', 7, 'update', '{"id":4}', '3', array()),
        ('documents', '1', 1, 'insert', '{"id":1,"text":"long"}', null, array()),
        ('documents', '1', 2, 'update', '{"id":1}', null, array('text')),
        ('visits', '{"page":"home"}', 1, 'insert', '{"page":"home"}', null, array()),
        ('visits', '{"page":"home"}', 2, 'insert', '{"page":"home"}', null, array()),
        ('visits', '{"page":"home"}', 3, 'insert', '{"page":"home"}', null, array()),
        ('visits', '{"page":"home"}', 4, 'delete', '{"page":"home"}', null, array()),
        ('visits', '{"page":"home"}', 5, 'update', '{"page":"home"}', null, array()),
        ('emptied', '1', 1, 'insert', '{"id":1}', null, array()),
        ('emptied', '2', 3, 'insert', '{"id":2}', null, array()),
        ('narrowed', '1', 1, 'insert', '{"id":1,"lost":true}', null, array())
    """,
    bad="""
        -- the state lacks this row
        ('orders', '10', 10, 'insert', '{"id":10}', null, array()),
        ('orders', '11', 11, 'insert', '{"id":11,"note":"old"}', null, array()),
        ('orders', '11', 12, 'update', '{"id":11,"note":"new"}', null, array()),
        ('orders', '12', 13, 'insert', '{"id":12}', null, array()),
        ('orders', '12', 14, 'update', '{"id":12}', null, array()),
        ('visits', '{"page":"cart"}', 15, 'insert', '{"page":"cart"}', null, array()),
        ('visits', '{"page":"cart"}', 16, 'insert', '{"page":"cart"}', null, array()),
        ('narrowed', '17', 17, 'insert', '{"id":17,"lost":true}', null, array())
    """,
    selected=f"""
        'shareplex_json' as source_format,
        'shop' as topic,
        table_id,
        row_key,
        previous_row_key,
        concat(table_id, position) as event_id,
        op,
        if(table_id = 'visits', array(), array('id')) as key_columns,
        unavailable_columns,
        0L as schema_id,
        if(op = 'insert', null, parse_json(image)) as before,
        if(op = 'delete', null, parse_json(image)) as after,
        cast(null as timestamp) as event_at,
        {SEQUENCE} as sequence
    """,
)

TRUNCATIONS = Rows(
    columns="table_id, position",
    good="('emptied', 2)",
    selected=f"""
        'shareplex_json' as source_format,
        'shop' as topic,
        table_id,
        cast(null as timestamp) as event_at,
        {SEQUENCE} as sequence
    """,
)

LOST_COLUMNS = Rows(
    columns="table_id, column_name, position",
    good="('narrowed', 'lost', 20)",
    selected=f"""
        'shareplex_json' as source_format, table_id, column_name, {SEQUENCE} as sequence
    """,
)

#: Two rows swapped their keys: a maximum does not show what became of them.
COLLIDING_KEYS = Rows(
    columns="table_id, row_key",
    good="('orders', 'colliding')",
    selected="'shareplex_json' as source_format, table_id, row_key",
)

STATE = Rows(
    columns="table_id, row_key, image, row_count, last_position",
    good="""
        ('orders', '1', '{"id":1,"note":"new"}', 1, 3),
        ('orders', '4', '{"id":4}', 1, 7),
        ('documents', '1', '{"id":1,"text":"long"}', 1, 2),
        ('visits', '{"page":"home"}', '{"page":"home"}', 2, 5),
        ('emptied', '2', '{"id":2}', 1, 3),
        ('orders', 'colliding', '{"id":5}', 1, 8),
        ('narrowed', '1', '{"id":1}', 1, 1)
    """,
    bad="""
        -- was deleted
        ('orders', '2', '{"id":2}', 1, 4),
        -- has another key now
        ('orders', '3', '{"id":3}', 1, 6),
        -- ended with its table
        ('emptied', '1', '{"id":1}', 1, 1),
        -- holds an old image
        ('orders', '11', '{"id":11,"note":"old"}', 1, 12),
        -- names an old event
        ('orders', '12', '{"id":12}', 1, 13),
        -- is one row where there are two
        ('visits', '{"page":"cart"}', '{"page":"cart"}', 1, 16),
        -- holds a column that the table lost
        ('narrowed', '17', '{"id":17,"lost":true}', 1, 17)
    """,
    selected="""
        'shareplex_json' as source_format,
        table_id,
        row_key,
        parse_json(image) as `row`,
        row_count,
        concat(table_id, last_position) as last_event_id
    """,
)

#: data test -> its proof
PROOFS = {
    "accepted_ops": Proof(
        Rows(
            columns="event_id, source_format, op, source_op",
            good="""
                (1, 'canal_json', 'insert', 'INSERT'),
                (2, 'canal_json', 'snapshot', 'INIT'),
                (3, 'shareplex_json', 'update', 'UPD')
            """,
            bad="""
                -- no such op
                (4, 'canal_json', 'upsert', 'INSERT'),
                -- no op
                (5, 'canal_json', null, 'INSERT'),
                -- a code of another format
                (6, 'canal_json', 'update', 'upd'),
                -- no code
                (7, 'canal_json', 'insert', null)
            """,
        )
    ),
    "canal_images_stand_right": Proof(
        Rows(
            columns="topic, position, op, before, after, published_at",
            good="""
                ('right', 1, 'insert', null, '{"id":"1","note":"a"}', '2026-01-01'),
                ('right', 2, 'update', '{"id":"1","note":"a"}', '{"id":"1","note":"b"}',
                    '2026-01-01'),
                ('right', 3, 'update', '{"id":"1","note":"b"}', '{"id":"1","note":"c"}',
                    '2026-01-01'),
                ('right', 4, 'update', '{"id":"1","note":"c"}', '{"id":"1","note":"b"}',
                    '2026-01-01'),
                ('unchanged', 1, 'insert', null, '{"id":"1"}', '2026-01-01'),
                ('unchanged', 2, 'update', '{"id":"1"}', '{"id":"1"}', '2026-01-01'),
                ('first seen', 1, 'update', '{"id":"1","note":"a"}', '{"id":"1","note":"b"}',
                    '2026-01-01'),
                ('after a delete', 1, 'delete', '{"id":"1"}', null, '2026-01-01'),
                ('after a delete', 2, 'update', '{"id":"1","note":"a"}', '{"id":"1"}',
                    '2026-01-01'),
                ('a column more', 1, 'insert', null, '{"id":"1","note":null}', '2026-01-01'),
                ('a column more', 2, 'update', '{"id":"1","note":null,"more":"1"}',
                    '{"id":"1","note":"b","more":"1"}', '2026-01-01'),
                ('a lost event', 1, 'insert', null, '{"id":"1","note":"a"}', '2026-01-01'),
                ('a lost event', 2, 'update', '{"id":"1","note":"b"}', '{"id":"1","note":"c"}',
                    '2026-01-01')
            """,
            bad="""
                -- of the row's images the wrong one stands before
                ('swapped', 1, 'insert', null, '{"id":"1","note":"a"}', '2026-01-01'),
                ('swapped', 2, 'update', '{"id":"1","note":"b"}', '{"id":"1","note":"a"}',
                    '2026-01-01'),
                ('swapped', 3, 'update', '{"id":"1","note":"c"}', '{"id":"1","note":"b"}',
                    '2026-01-01'),
                -- on one of two days
                ('switched', 1, 'insert', null, '{"id":"1","note":"a"}', '2026-01-01'),
                ('switched', 2, 'update', '{"id":"1","note":"b"}', '{"id":"1","note":"a"}',
                    '2026-01-01'),
                ('switched', 3, 'update', '{"id":"1","note":"a"}', '{"id":"1","note":"x"}',
                    '2026-01-02'),
                ('switched', 4, 'update', '{"id":"1","note":"x"}', '{"id":"1","note":"y"}',
                    '2026-01-02'),
                -- half of the row is there
                ('narrow', 1, 'insert', null, '{"id":"1","note":"a","more":"1"}', '2026-01-01'),
                ('narrow', 2, 'update', '{"id":"1","note":"b","more":"1"}',
                    '{"id":"1","note":"a"}', '2026-01-01')
            """,
            selected=f"""
                'canal_json' as source_format,
                topic,
                'shop.orders' as table_id,
                '{{"id":"1"}}' as row_key,
                cast(null as string) as previous_row_key,
                array('id') as key_columns,
                op,
                parse_json(before) as before,
                parse_json(after) as after,
                cast(published_at as timestamp) as published_at,
                {SEQUENCE} as sequence
            """,
        )
    ),
    "databases_are_of_one_kind": Proof(
        Rows(
            columns="source_format, database_name, table_id, source_type",
            good="""
                ('canal_json', 'shop', 'shop.orders', 'mysql'),
                ('canal_json', 'shop', 'shop.customers', 'mysql'),
                ('canal_json', 'erp', 'erp.orders', 'oracle'),
                -- its image has the key only
                ('canal_json', 'erp', 'erp.orders', 'mysql'),
                ('canal_json', null, 'orders', 'mysql'),
                ('canal_json', null, 'customers', 'postgresql'),
                ('dataworks_json', 'erp', 'erp.customers', 'mysql')
            """,
            bad="""
                -- another table of the database has a type that only Oracle has
                ('canal_json', 'erp', 'erp.customers', 'mysql')
            """,
        ),
        outcome="warn",
    ),
    "declared_tables_are_spelt_right": Proof(
        Rows(
            columns="source_format, table_id",
            good="""
                ('canal_json', 'shop.orders'),
                -- as another table, which has messages too
                ('canal_json', 'shop.order'),
                ('canal_json', 'shop.elsewhere'),
                -- nearly as a declared table of another format
                ('dts_avro', 'shop.Customers')
            """,
            bad="""
                -- its declaration has capitals
                ('canal_json', 'shop.customers'),
                -- its declaration lacks a letter
                ('canal_json', 'shop.items')
            """,
        ),
        arguments={
            "tables": {
                "orders": {"source_format": "canal_json", "table_id": "shop.orders"},
                "customers": {"source_format": "canal_json", "table_id": "SHOP.Customers"},
                "items": {"source_format": "canal_json", "table_id": "shop.item"},
                "to_come": {"source_format": "canal_json", "table_id": "shop.payments"},
            }
        },
        outcome="warn",
    ),
    "messages_can_be_read": Proof(
        Rows(
            columns="topic, reject_code, landed_at",
            good="""
                ('looked at', 'not_utf8', '2026-01-01 00:00:00'),
                ('looked at', 'missing_field', '2026-01-02 00:00:00')
            """,
            bad="""
                -- nobody has looked at the topic
                ('new', 'not_utf8', '2026-01-02 00:00:00'),
                ('new', 'not_utf8', '2026-01-02 00:00:00'),
                -- the topic has one more than was known
                ('had one', 'unknown_op', '2026-01-01 00:00:00'),
                ('had one', 'unknown_op', '2026-01-02 00:00:00')
            """,
            selected="'canal_json' as source_format, topic, reject_code,"
            " cast(landed_at as timestamp) as landed_at",
        ),
        {
            "runs": Rows(
                columns="command, target_name, started_at",
                good="('run', 'local', timestamp'2026-01-01 12:00:00')",
            ),
            "accepted": {"looked at": 2, "had one": 1},
        },
        outcome="warn",
    ),
    "key_columns_have_values": Proof(
        Rows(
            columns="table_id, key_columns, row_key",
            good="""
                ('orders', array('id'), '{"id":1}'),
                ('notes', array('text'), '{"text":"a:null,"}'),
                ('visits', array(), '{"page":null}')
            """,
            bad="""
                -- the only column of the key
                ('users', array('email'), '{"email":null}'),
                ('users', array('email'), '{"email":"a"}'),
                -- one of several
                ('lines', array('id', 'number'), '{"id":1,"number":null}')
            """,
            selected="'dts_avro' as source_format, *",
        ),
        outcome="warn",
    ),
    "datahub_topics_name_their_databases": Proof(
        Rows(
            columns="table_id, topic, position, op, row_key, before, after, previous_row_key",
            good="""
                ('alone', 'a', 1, 'insert', '1', null, '{"id":1}', null),
                ('alone', 'a', 2, 'update', '2', '{"id":1}', '{"id":2}', '1'),
                -- one topic goes on where the other one ended
                ('replaced', 'a', 1, 'insert', '1', null, '{"id":1,"note":"a"}', null),
                ('replaced', 'a', 2, 'insert', '2', null, '{"id":2}', null),
                ('replaced', 'a', 3, 'insert', '3', null, '{"id":3}', null),
                ('replaced', 'a', 4, 'delete', '3', '{"id":3}', null, null),
                ('replaced', 'b', 5, 'update', '1', '{"id":1,"note":"a"}', '{"id":1,"note":"b"}',
                    null),
                ('replaced', 'b', 6, 'insert', '3', null, '{"id":3,"note":"new"}', null),
                ('replaced', 'b', 7, 'insert', '4', null, '{"id":4}', null),
                -- and begins with a full load
                ('loaded again', 'a', -1, 'snapshot', '1', null, '{"id":1,"note":"a"}', null),
                ('loaded again', 'a', -1, 'snapshot', '2', null, '{"id":2}', null),
                ('loaded again', 'a', 1, 'update', '1', '{"id":1,"note":"a"}',
                    '{"id":1,"note":"b"}', null),
                ('loaded again', 'a', 2, 'update', '3', '{"id":2}', '{"id":3}', '2'),
                ('loaded again', 'b', -1, 'snapshot', '1', null, '{"id":1,"note":"b"}', null),
                ('loaded again', 'b', -1, 'snapshot', '3', null, '{"id":3}', null),
                ('loaded again', 'b', -1, 'snapshot', '4', null, '{"id":4}', null),
                -- and may repeat what the other one had last
                ('handed over', 'a', 1, 'insert', '1', null, '{"id":1}', null),
                ('handed over', 'a', 2, 'insert', '2', null, '{"id":2}', null),
                ('handed over', 'b', 2, 'insert', '2', null, '{"id":2}', null),
                ('handed over', 'b', 3, 'insert', '3', null, '{"id":3}', null),
                -- both have all
                ('copied', 'a', 1, 'insert', '1', null, '{"id":1}', null),
                ('copied', 'a', 3, 'insert', '2', null, '{"id":2}', null),
                ('copied', 'b', 2, 'insert', '1', null, '{"id":1}', null),
                ('copied', 'b', 4, 'insert', '2', null, '{"id":2}', null)
            """,
            bad="""
                -- two databases have a row of one key
                ('orders', 'p.db1_orders', 1, 'insert', '1', null, '{"id":1,"note":"a"}', null),
                ('orders', 'p.db2_orders', 2, 'insert', '1', null, '{"id":1,"note":"b"}', null),
                -- each has loaded other rows
                ('items', 'p.db1_items', -1, 'snapshot', '1', null, '{"id":1}', null),
                ('items', 'p.db2_items', -1, 'snapshot', '2', null, '{"id":2}', null),
                -- each writes other rows at the same time
                ('lines', 'p.db1_lines', 1, 'insert', '1', null, '{"id":1}', null),
                ('lines', 'p.db2_lines', 2, 'insert', '2', null, '{"id":2}', null),
                ('lines', 'p.db1_lines', 3, 'insert', '3', null, '{"id":3}', null),
                ('lines', 'p.db2_lines', 4, 'insert', '4', null, '{"id":4}', null)
            """,
            selected=f"""
                'datahub_tuple' as source_format,
                cast(null as string) as database_name,
                table_id,
                topic,
                op,
                row_key,
                parse_json(before) as before,
                parse_json(after) as after,
                previous_row_key,
                {SEQUENCE} as sequence
            """,
        )
    ),
    "history_equals_state": Proof(
        Rows(
            columns="row_key, image, row_count, is_current",
            good="""
                ('1', '{"id":1,"note":"old"}', 1, false),
                ('1', '{"id":1,"note":"new"}', 1, true),
                ('visit', '{"page":"home"}', 2, true)
            """,
            bad="""
                -- is no row of the state
                ('2', '{"id":2}', 1, true),
                -- is open twice, once as it was
                ('1', '{"id":1,"note":"old"}', 1, true),
                -- is counted otherwise
                ('4', '{"id":4}', 2, true)
            """,
            selected="""
                'canal_json' as source_format, 'shop' as table_id, row_key,
                parse_json(image) as `row`, row_count, is_current
            """,
        ),
        arguments={
            "state": Rows(
                columns="row_key, image, row_count",
                good="""
                    ('1', '{"id":1,"note":"new"}', 1),
                    ('visit', '{"page":"home"}', 2)
                """,
                bad="""
                    -- has no open version
                    ('3', '{"id":3}', 1),
                    ('4', '{"id":4}', 1)
                """,
                selected="""
                    'canal_json' as source_format, 'shop' as table_id, row_key,
                    parse_json(image) as `row`, row_count
                """,
            )
        },
    ),
    "identified_by": Proof(
        Rows(
            columns="table_id, row_key",
            good="('orders', '1'), ('orders', '2'), ('carts', '1')",
            bad="""
                -- the same again
                ('orders', '1'),
                -- half of it
                ('orders', null),
                -- the other half
                (null, '1')
            """,
        ),
        arguments={"columns": ["table_id", "row_key"]},
    ),
    "images_fit_op": Proof(
        Rows(
            columns="event_id, table_id, op, row_key, before, after",
            good="""
                (1, 't', 'insert', '1', null, parse_json('{}')),
                (2, 't', 'snapshot', '1', null, parse_json('{}')),
                (3, 't', 'update', '1', parse_json('{}'), parse_json('{}')),
                (4, 't', 'update', '1', null, parse_json('{}')),
                (5, 't', 'delete', '1', parse_json('{}'), null)
            """,
            bad="""
                -- no row after
                (6, 't', 'insert', '1', null, null),
                -- was there before
                (7, 't', 'insert', '1', parse_json('{}'), parse_json('{}')),
                -- no row
                (8, 't', 'snapshot', '1', null, null),
                -- was there before
                (9, 't', 'snapshot', '1', parse_json('{}'), parse_json('{}')),
                -- no row after
                (10, 't', 'update', '1', parse_json('{}'), null),
                -- no row before
                (11, 't', 'delete', '1', null, null),
                -- still there
                (12, 't', 'delete', '1', parse_json('{}'), parse_json('{}')),
                -- no key
                (13, 't', 'insert', null, null, parse_json('{}')),
                -- no table
                (14, null, 'insert', '1', null, parse_json('{}'))
            """,
        )
    ),
    "keyless_updates_name_their_row": Proof(
        Rows(
            columns="table_id, position, op, key_columns, before",
            good="""
                ('orders', 1, 'update', array('id'), cast(null as string)),
                ('visits', 1, 'update', array(), '{}'),
                ('visits', 1, 'insert', array(), null),
                -- the table was loaded again since
                ('loaded again', 1, 'update', array(), null)
            """,
            bad="""
                -- any of its rows may be gone
                ('carts', 1, 'update', array(), null),
                -- behind a truncation
                ('emptied', 3, 'update', array(), null)
            """,
            selected=f"""
                'cdl_json' as source_format, table_id, op, key_columns,
                parse_json(before) as before, cast(null as timestamp) as event_at,
                {SEQUENCE} as sequence
            """,
        ),
        {
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 2), ('emptied', 2)",
                selected=f"'cdl_json' as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "keyed_deletes_find_their_row": Proof(
        Rows(
            columns="source_format, table_id, row_key, position, effect",
            good="""
                -- of a row that landed, or with values that are no defaults
                ('cdl_debezium_json', 'landed', '{"id":0}', 1, 'upsert'),
                ('cdl_debezium_json', 'landed', '{"id":0}', 2, 'delete'),
                ('cdl_debezium_json', 'older', '{"id":10,"name":"0 km"}', 1, 'delete'),
                -- a key in another format, and no key
                ('canal_json', 'of MySQL', '{"id":0}', 1, 'delete'),
                ('cdl_debezium_json', 'visits', '{"id":0}', 1, 'delete'),
                -- the table was loaded again since
                ('cdl_debezium_json', 'loaded again', '{"id":0}', 1, 'delete')
            """,
            bad="""
                -- two rows that have other keys
                ('cdl_debezium_json', 'indexed', '{"id":0}', 1, 'delete'),
                ('cdl_debezium_json', 'indexed', '{"id":0}', 2, 'delete'),
                -- a decimal
                ('cdl_debezium_json', 'prices', '{"price":"0.00"}', 1, 'delete'),
                -- a text beside a column of the index
                ('cdl_debezium_json', 'parts', '{"shop":5,"number":""}', 1, 'delete')
            """,
            selected=f"""
                source_format, table_id, row_key, effect, table_id = 'visits' as is_keyless,
                cast(null as timestamp) as event_at, {SEQUENCE} as sequence
            """,
        ),
        {
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 2)",
                selected=f"'cdl_debezium_json' as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "keyless_deletes_find_their_row": Proof(
        Rows(
            columns="table_id, row_key, position, effect, is_keyless",
            good="""
                ('visits', 'a', 1, 'upsert', true),
                ('visits', 'a', 2, 'upsert', true),
                ('visits', 'a', 3, 'delete', true),
                ('visits', 'a', 4, 'delete', true),
                -- late, and with a key
                ('visits', 'b', 6, 'delete', true),
                ('visits', 'b', 5, 'upsert', true),
                ('orders', '1', 1, 'delete', false),
                -- the table was loaded again since
                ('loaded again', 'a', 1, 'delete', true),
                ('loaded again', 'a', 3, 'upsert', true)
            """,
            bad="""
                -- an insert follows, which makes up for it
                ('carts', 'a', 1, 'delete', true),
                ('carts', 'a', 2, 'upsert', true),
                ('logs', 'a', 1, 'upsert', true),
                ('logs', 'a', 2, 'delete', true),
                -- more deletes than inserts
                ('logs', 'a', 3, 'delete', true),
                -- a column was dropped between the insert and the delete
                ('tags', '{"a":1,"c":2}', 1, 'upsert', true),
                ('tags', '{"a":1}', 2, 'delete', true),
                ('emptied', 'a', 1, 'upsert', true),
                -- of a row that was written behind a truncation and never landed
                ('emptied', 'a', 3, 'delete', true),
                ('emptied', 'a', 4, 'upsert', true)
            """,
            selected=f"""
                'canal_json' as source_format, table_id, row_key, effect, is_keyless,
                cast(null as timestamp) as event_at, {SEQUENCE} as sequence
            """,
        ),
        {
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 2), ('emptied', 2)",
                selected=f"'canal_json' as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "ledger_balances": Proof(
        Rows(
            columns="""
                topic, landed, change, update_before, ddl, `transaction`, heartbeat, tombstone,
                rejected, row_changes
            """,
            good="""
                ('all kinds', 28, 1, 2, 3, 4, 5, 6, 7, 1),
                ('nothing', 0, 0, 0, 0, 0, 0, 0, 0, 0)
            """,
            bad="""
                -- a lost message
                ('lost', 29, 1, 2, 3, 4, 5, 6, 7, 1),
                -- a message that is of two kinds
                ('twice', 27, 1, 2, 3, 4, 5, 6, 7, 1),
                -- more redelivered changes than changes
                ('redelivered from nowhere', 28, 1, 2, 3, 4, 5, 6, 7, -1)
            """,
        )
    ),
    "no_cast_errors": Proof(
        Rows(
            columns="_row_key, _cast_errors",
            good="""
                ('1', cast(array() as array<struct<`column`: string, text: string, type: string>>))
            """,
            bad="""
                ('2', array(
                    -- a value that does not fit
                    named_struct('column', 'amount', 'text', 'twelve', 'type', 'int'),
                    -- another one of the row
                    named_struct('column', 'at', 'text', '0000-00-00', 'type', 'date')
                ))
            """,
        ),
        outcome="warn",
    ),
    "redeliveries_are_certain": Proof(
        Rows(
            columns="source_format, table_id, row_key, position, offset, event_id, op",
            good="""
                -- sent again from the start
                ('cdl_json', 'orders', '1', 5, 1, 'a', 'insert'),
                ('cdl_json', 'orders', '1', 5, 2, 'b', 'update'),
                ('cdl_json', 'orders', '1', 5, 3, 'a', 'insert'),
                ('cdl_json', 'orders', '1', 5, 4, 'b', 'update'),
                -- sent again by itself, and another event
                ('cdl_json', 'orders', '2', 6, 5, 'c', 'delete'),
                ('cdl_json', 'orders', '2', 6, 6, 'c', 'delete'),
                ('cdl_json', 'orders', '2', 6, 7, 'd', 'update'),
                -- at another position
                ('cdl_json', 'orders', '3', 7, 8, 'e', 'insert'),
                ('cdl_json', 'orders', '3', 8, 9, 'f', 'update'),
                ('cdl_json', 'orders', '3', 7, 10, 'e', 'insert'),
                -- of a format whose messages have numbers of their own
                ('shareplex_json', 'orders', '1', 5, 1, 'a', 'insert'),
                ('shareplex_json', 'orders', '1', 5, 2, 'b', 'update'),
                ('shareplex_json', 'orders', '1', 5, 3, 'a', 'insert'),
                ('cdl_json', 'visits', '1', 9, 11, 'g', 'insert'),
                -- a truncation that was sent again at once, and two of other positions
                ('cdl_debezium_json', 'items', null, 5, 1, 'a', 'truncate'),
                ('cdl_debezium_json', 'items', null, 5, 2, 'a', 'truncate'),
                ('cdl_debezium_json', 'items', '1', 6, 3, 'b', 'insert'),
                ('cdl_debezium_json', 'items', null, 7, 4, 'c', 'truncate'),
                -- a full load that was sent again
                ('dataworks_json', 'orders', '1', -1, 1, 'h', 'snapshot'),
                ('dataworks_json', 'orders', '1', -1, 2, 'h', 'snapshot')
            """,
            bad="""
                -- three full loads, of which the last has the row as the first
                ('datahub_blob', 'orders', '1', -1, 1, 'h', 'snapshot'),
                ('datahub_blob', 'orders', '1', -1, 2, 'i', 'snapshot'),
                ('datahub_blob', 'orders', '1', -1, 3, 'h', 'snapshot'),
                -- there and back, and there again
                ('lindorm_debezium', 'orders', '1', 5, 1, 'a', 'insert'),
                ('lindorm_debezium', 'orders', '1', 5, 2, 'b', 'update'),
                ('lindorm_debezium', 'orders', '1', 5, 3, 'c', 'update'),
                ('lindorm_debezium', 'orders', '1', 5, 4, 'b', 'update'),
                -- equal rows
                ('cdl_json', 'visits', '1', 9, 12, 'g', 'insert'),
                -- a row between two truncations
                ('cdl_debezium_json', 'items', '1', 7, 5, 'd', 'insert'),
                ('cdl_debezium_json', 'items', null, 7, 6, 'c', 'truncate')
            """,
            selected="""
                source_format, table_id, row_key, event_id, op, 'topic' as topic,
                0 as `partition`, offset, 0 as row_index,
                if(op = 'truncate', 'ddl', 'change') as record_type,
                op = 'truncate' as is_truncation,
                if(table_id = 'visits', array(), array('id')) as key_columns,
                cast(null as timestamp) as event_at,
                named_struct('position', position) as sequence
            """,
        ),
        arguments={
            "exceptions": Rows(
                columns="source_format, offset, event_id",
                good="""
                    ('cdl_json', 3, 'a'),
                    ('cdl_json', 4, 'b'),
                    ('cdl_json', 6, 'c'),
                    ('cdl_json', 10, 'e'),
                    ('shareplex_json', 3, 'a'),
                    ('dataworks_json', 2, 'h'),
                    ('datahub_blob', 3, 'h'),
                    ('lindorm_debezium', 4, 'b'),
                    ('cdl_json', 12, 'g')
                """,
                selected="""
                    source_format, 'topic' as topic, 0 as `partition`, offset, 0 as row_index,
                    event_id, 'redelivery' as exception
                """,
            )
        },
        outcome="warn",
    ),
    "full_loads_are_in_order": Proof(
        Rows(
            columns="source_format, table_id, row_key, topic, position, op, name",
            good="""
                -- equal rows
                ('dataworks_json', 'orders', '1', 'first', -1, 'snapshot', 'a'),
                ('dataworks_json', 'orders', '1', 'second', -1, 'snapshot', 'a'),
                -- rows of two topics
                ('dataworks_json', 'orders', '2', 'first', -1, 'snapshot', 'a'),
                ('dataworks_json', 'orders', '3', 'second', -1, 'snapshot', 'b'),
                -- again in one topic
                ('dataworks_json', 'orders', '3', 'second', -1, 'snapshot', 'c'),
                -- at other positions, and of a format in which the landing is the order
                ('cdl_json', 'orders', '1', 'first', 1, 'snapshot', 'a'),
                ('cdl_json', 'orders', '1', 'second', 2, 'snapshot', 'b'),
                -- in one topic, without a position and with one
                ('cdl_json', 'orders', '2', 'first', null, 'snapshot', 'a'),
                ('cdl_json', 'orders', '2', 'first', 2, 'snapshot', 'b'),
                ('dts_avro', 'orders', '1', 'first', 1, 'snapshot', 'a'),
                ('dts_avro', 'orders', '1', 'second', 1, 'snapshot', 'b'),
                ('dataworks_json', 'orders', '4', 'first', 5, 'insert', 'a'),
                ('dataworks_json', 'orders', '4', 'second', 5, 'update', 'b')
            """,
            bad="""
                -- as two topics have it
                ('dataworks_json', 'items', '1', 'first', -1, 'snapshot', 'a'),
                ('dataworks_json', 'items', '1', 'second', -1, 'snapshot', 'b'),
                -- likewise, without positions
                ('cdl_json', 'items', '1', 'first', null, 'snapshot', 'a'),
                ('cdl_json', 'items', '1', 'second', null, 'snapshot', 'b'),
                -- in one topic with a position, in the other without one
                ('cdl_json', 'carts', '1', 'first', 1, 'snapshot', 'a'),
                ('cdl_json', 'carts', '1', 'second', null, 'snapshot', 'b')
            """,
            selected=f"""
                source_format, table_id, row_key, topic, op, array('id') as key_columns,
                parse_json(to_json(named_struct('id', row_key, 'name', name))) as after,
                cast(null as timestamp) as event_at, {SEQUENCE} as sequence
            """,
        ),
        outcome="warn",
    ),
    "full_loads_outlive_truncations": Proof(
        Rows(
            columns="""
                source_format, table_id, topic, offset, landing_commit, position, record, event_id
            """,
            good="""
                -- loaded before
                ('dataworks_json', 'orders', 'shop', 1, 1, -1, 'snapshot', 'a'),
                ('dataworks_json', 'orders', 'shop', 2, 1, 5, 'TRUNCATE', null),
                -- delivered again in another topic, or an insert
                ('dataworks_json', 'orders', 'load', 3, 2, -1, 'snapshot', 'a'),
                ('dataworks_json', 'orders', 'shop', 4, 2, 4, 'insert', 'b'),
                -- landed with the statement, in another topic
                ('dataworks_json', 'orders', 'load', 9, 1, -1, 'snapshot', 'c'),
                -- repaired since
                ('dataworks_json', 'repaired', 'shop', 5, 1, 5, 'DROP', null),
                ('dataworks_json', 'repaired', 'shop', 6, 1, -1, 'snapshot', 'd'),
                -- with a log position, and in the order of landing
                ('cdl_debezium_json', 'orders', 'shop', 1, 1, 5, 'TRUNCATE', null),
                ('cdl_debezium_json', 'orders', 'shop', 2, 1, 4, 'snapshot', 'e'),
                ('dts_avro', 'orders', 'shop', 1, 1, 5, 'TRUNCATE', null),
                ('dts_avro', 'orders', 'shop', 2, 1, -1, 'snapshot', 'f')
            """,
            bad="""
                ('dataworks_json', 'carts', 'shop', 11, 1, 5, 'DROP', null),
                -- the new table of the name
                ('dataworks_json', 'carts', 'shop', 12, 1, -1, 'snapshot', 'g'),
                ('dataworks_json', 'visits', 'shop', 13, 1, 5, 'TRUNCATE', null),
                -- landed later, in another topic
                ('dataworks_json', 'visits', 'load', 1, 2, -1, 'snapshot', 'h'),
                -- the same row as before the statement: it looks like a redelivery
                ('dataworks_json', 'visits', 'shop', 14, 1, -1, 'snapshot', 'j'),
                ('cdl_debezium_json', 'carts', 'shop', 3, 1, 5, 'TRUNCATE', null),
                -- without a log position
                ('cdl_debezium_json', 'carts', 'shop', 4, 1, null, 'snapshot', 'i'),
                ('cdl_debezium_json', 'visits', 'shop', 5, 1, 5, 'TRUNCATE', null),
                -- likewise, behind a row of an earlier load, whose position it takes
                ('cdl_debezium_json', 'visits', 'shop', 6, 1, 4, 'snapshot', 'raised')
            """,
            selected=f"""
                source_format, table_id, topic, 0 as `partition`, cast(offset as bigint) as offset,
                0 as row_index, landing_commit, event_id,
                if(event_id is null, 'ddl', 'change') as record_type,
                if(event_id is null, null, record) as op,
                cast(if(event_id = 'raised', null, position) as decimal(38, 0))
                    as message_position,
                cast(null as timestamp) as landed_at, {SEQUENCE} as sequence
            """,
        ),
        {
            "exceptions": Rows(
                columns="topic, offset, event_id",
                good="('load', 3, 'a'), ('shop', 14, 'j')",
                selected="""
                    'dataworks_json' as source_format, topic, 0 as `partition`,
                    cast(offset as bigint) as offset, 0 as row_index, event_id,
                    'redelivery' as exception
                """,
            ),
            "truncations": Rows(
                columns="source_format, table_id, number, position, source_op",
                good="""
                    ('dataworks_json', 'orders', 2, 5, 'TRUNCATE'),
                    ('dataworks_json', 'repaired', 5, 5, 'DROP'),
                    ('dataworks_json', 'repaired', -1, 6, 'RESYNC'),
                    ('cdl_debezium_json', 'orders', 1, 5, 'TRUNCATE'),
                    ('dts_avro', 'orders', 1, 5, 'TRUNCATE'),
                    ('dataworks_json', 'carts', 11, 5, 'DROP'),
                    ('dataworks_json', 'visits', 13, 5, 'TRUNCATE'),
                    ('cdl_debezium_json', 'carts', 3, 5, 'TRUNCATE'),
                    ('cdl_debezium_json', 'visits', 5, 5, 'TRUNCATE')
                """,
                selected=f"""
                    source_format, table_id, 'shop' as topic, source_op,
                    {SEQUENCE.replace("0L as offset", "cast(number as bigint) as offset")}
                        as sequence
                """,
            ),
        },
        outcome="warn",
    ),
    "equal_rows_keep_their_keys": Proof(
        Rows(
            columns="table_id, position, transaction_id, op, row_key, name",
            good="""
                -- two rows swap their keys
                ('swapped', null, null, 'snapshot', '1', 'a'),
                ('swapped', null, null, 'snapshot', '2', 'a'),
                ('swapped', 5, 't', 'update', '2', 'a'),
                ('swapped', 6, 't', 'update', '1', 'b'),
                -- three rows that differ
                ('differ', null, null, 'snapshot', '1', 'a'),
                ('differ', 5, 't', 'update', '1', 'c'),
                ('differ', 6, 't', 'update', '2', 'a'),
                ('differ', 7, 't', 'update', '3', 'b'),
                -- none of them was loaded
                ('streamed', 1, 's', 'insert', '1', 'a'),
                ('streamed', 5, 't', 'update', '1', 'a'),
                ('streamed', 6, 't', 'update', '2', 'a'),
                -- in two transactions
                ('apart', null, null, 'snapshot', '1', 'a'),
                ('apart', 5, 't', 'update', '1', 'a'),
                ('apart', 6, 'u', 'update', '2', 'a'),
                -- before the table was loaded again
                ('loaded again', null, null, 'snapshot', '1', 'a'),
                ('loaded again', 5, 't', 'update', '1', 'a'),
                ('loaded again', 6, 't', 'update', '2', 'a'),
                ('loaded again', 8, null, 'snapshot', '1', 'a')
            """,
            bad="""
                ('rotated', null, null, 'snapshot', '1', 'a'),
                ('rotated', 5, 't', 'update', '1', 'a'),
                -- three equal rows, two keys that two of them had
                ('rotated', 6, 't', 'update', '2', 'a'),
                ('timed', null, null, 'snapshot', '2', 'a'),
                ('timed', 5, null, 'insert', '1', 'a'),
                -- likewise at one time, without a transaction
                ('timed', 6, null, 'insert', '2', 'a')
            """,
            selected=f"""
                'cdl_json' as source_format, table_id, row_key, op, transaction_id,
                array('id') as key_columns,
                parse_json(to_json(named_struct('id', row_key, 'name', name))) as after,
                timestamp '2026-01-01' as event_at, {SEQUENCE} as sequence
            """,
        ),
        arguments={
            "colliding_keys": Rows(
                columns="table_id, row_key",
                good="""
                    ('swapped', '1'), ('swapped', '2'),
                    ('differ', '1'), ('differ', '2'), ('differ', '3'),
                    ('streamed', '1'), ('streamed', '2'),
                    ('apart', '1'), ('apart', '2'),
                    ('loaded again', '1'), ('loaded again', '2'),
                    ('rotated', '1'), ('rotated', '2'), ('timed', '1'), ('timed', '2')
                """,
                selected="'cdl_json' as source_format, table_id, row_key",
            ),
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 7)",
                selected=f"'cdl_json' as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "deletes_take_the_inserted_row": Proof(
        Rows(
            columns="table_id, row_key, position, transaction_id, op, value",
            good="""
                -- one row that comes and goes, changed meanwhile
                ('same', '1', 1, 't', 'insert', 'a'),
                ('same', '1', 2, 't', 'delete', 'a'),
                ('changed', '1', 1, 't', 'insert', 'a'),
                ('changed', '1', 2, 't', 'update', 'b'),
                ('changed', '1', 3, 't', 'delete', 'b'),
                -- the old row leaves first
                ('replaced', '1', 1, 't', 'delete', 'a'),
                ('replaced', '1', 2, 't', 'insert', 'b'),
                -- in two transactions, under two keys
                ('apart', '1', 1, 's', 'insert', 'a'),
                ('apart', '1', 2, 't', 'delete', 'b'),
                ('apart', '2', 3, 's', 'delete', 'b'),
                -- with a value or an image that the delete does not carry
                ('unknown', '1', 1, 't', 'insert', 'a'),
                ('unknown', '1', 2, 't', 'delete', null),
                ('no image', '1', 1, 't', 'insert', 'a'),
                ('no image', '1', 2, 't', 'delete', 'none'),
                ('nulled', '1', 1, 't', 'insert', 'a'),
                ('nulled', '1', 2, 't', 'delete', 'null'),
                -- with a default in its place; an older row left before, or is not known
                ('cdl default', '1', 1, 't', 'insert', 'b'),
                ('cdl default', '1', 2, 't', 'delete', 'a'),
                ('cdl replaced', '1', 1, 's', 'insert', 'c'),
                ('cdl replaced', '1', 2, 't', 'delete', 'a'),
                ('cdl replaced', '1', 3, 't', 'insert', 'b'),
                ('cdl replaced', '1', 4, 't', 'delete', 'a'),
                ('cdl emptied', '1', 1, 's', 'insert', 'c'),
                ('cdl emptied', '1', 4, 't', 'insert', 'b'),
                ('cdl emptied', '1', 5, 't', 'delete', 'a'),
                -- played back, and ended by a later truncation
                ('played back', '1', 1, 't', 'insert', 'b'),
                ('played back', '1', 2, 't', 'delete', 'a'),
                ('emptied', '1', 1, 't', 'insert', 'b'),
                ('emptied', '1', 2, 't', 'delete', 'a'),
                ('visits', '{"v":"b"}', 1, 't', 'insert', 'b'),
                ('visits', '{"v":"b"}', 2, 't', 'delete', 'a')
            """,
            bad="""
                ('deferred', '1', 1, 't', 'insert', 'b'),
                -- the older row leaves
                ('deferred', '1', 2, 't', 'delete', 'a'),
                ('written', '1', 1, 't', 'insert', 'b'),
                ('written', '1', 2, 't', 'update', 'c'),
                -- after another change of the new one
                ('written', '1', 3, 't', 'delete', 'a'),
                ('timed', '1', 1, null, 'insert', 'b'),
                -- at one time, without a transaction
                ('timed', '1', 2, null, 'delete', 'a'),
                ('emptied', '2', 4, 't', 'insert', 'b'),
                -- behind the truncation
                ('emptied', '2', 5, 't', 'delete', 'a'),
                ('cdl deferred', '1', 1, 's', 'insert', 'a'),
                ('cdl deferred', '1', 2, 't', 'insert', 'b'),
                -- the older row is known
                ('cdl deferred', '1', 3, 't', 'delete', 'a')
            """,
            selected=f"""
                {FORMAT} as source_format, table_id, row_key, op, transaction_id,
                concat(table_id, position) as event_id,
                if(op = 'delete', 'delete', 'upsert') as effect,
                table_id = 'visits' as is_keyless,
                case
                    when value is null then parse_json('{{"id":1}}')
                    when value = 'null' then parse_json('{{"id":1,"v":null}}')
                    when op = 'delete' and value <> 'none' then to_variant_object(map('v', value))
                end as before,
                if(op = 'delete', null, to_variant_object(map('v', value))) as after,
                timestamp '2026-01-01' as event_at, {SEQUENCE} as sequence
            """,
        ),
        {
            "superseded": Rows(
                columns="table_id, row_key, event_id, effect",
                good="('played back', '1', 'played back2', 'delete')",
                selected="'dts_avro' as source_format, table_id, row_key, event_id, effect",
            ),
            "truncations": Rows(
                columns="table_id, position",
                good="('emptied', 3), ('cdl emptied', 3)",
                selected=f"{FORMAT} as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "dropped_columns_are_gone": Proof(
        Rows(
            columns="table_id, position, source_op",
            good="""
                -- an insert follows; no row was there; another statement
                ('followed', 2, 'DROP COLUMN'),
                ('empty', 2, 'drop column'),
                ('unseen', 2, 'DROP COLUMN'),
                ('other', 2, 'TRUNCATE')
            """,
            bad="""
                -- updates follow alone
                ('updated', 2, 'DROP COLUMN'),
                -- the insert came before
                ('dropped_last', 4, 'drop column')
            """,
            selected=f"""
                'shareplex_json' as source_format, table_id, source_op,
                cast(null as timestamp) as event_at, {SEQUENCE} as sequence
            """,
        ),
        arguments={
            "events": Rows(
                columns="table_id, position, op",
                good="""
                    ('followed', 1, 'insert'), ('followed', 3, 'insert'),
                    ('empty', 3, 'update'),
                    ('other', 1, 'insert'),
                    ('updated', 1, 'insert'), ('updated', 3, 'update'),
                    ('dropped_last', 1, 'insert'), ('dropped_last', 3, 'insert')
                """,
                selected=f"""
                    'shareplex_json' as source_format, table_id, op, {SEQUENCE} as sequence
                """,
            ),
            "versions": Rows(
                columns="source_format, table_id, column_names, position, whole_position",
                good="""
                    -- an event has listed the column since an insert lacked it
                    ('canal_json', 'partial', array('id', 'note'), 9, 1),
                    ('canal_json', 'partial', array('id'), 6, 6),
                    -- only updates lack it
                    ('canal_json', 'updated', array('id', 'note'), 1, 1),
                    ('canal_json', 'updated', array('id'), 6, null),
                    -- it is known to be lost
                    ('canal_json', 'narrowed', array('id', 'note'), 1, 1),
                    ('canal_json', 'narrowed', array('id'), 6, 6),
                    -- an insert leaves out NULL columns
                    ('shareplex_json', 'sparse', array('ID', 'NOTE'), 1, 1),
                    ('shareplex_json', 'sparse', array('ID'), 6, 6),
                    -- repaired since
                    ('canal_json', 'repaired', array('id', 'note'), 3, 1),
                    ('canal_json', 'repaired', array('id'), 9, 6)
                """,
                bad="""
                    -- no event has listed the column since
                    ('canal_json', 'left_out', array('id', 'note'), 3, 1),
                    ('canal_json', 'left_out', array('id'), 6, 6)
                """,
                selected=f"""
                    source_format, table_id, column_names, {SEQUENCE} as last_sequence,
                    if(
                        whole_position is null, null,
                        {SEQUENCE.replace("cast(position", "cast(whole_position")}
                    ) as last_whole_sequence
                """,
            ),
            "truncations": Rows(
                columns="source_format, table_id, position",
                good="('canal_json', 'repaired', 7), ('canal_json', 'left_out', 2)",
                selected=f"source_format, table_id, {SEQUENCE} as sequence",
            ),
            "table_columns": Rows(
                columns="source_format, table_id, column_name, position",
                good="""
                    ('canal_json', 'partial', 'id', null), ('canal_json', 'partial', 'note', null),
                    ('canal_json', 'repaired', 'note', null),
                    ('canal_json', 'updated', 'id', null), ('canal_json', 'updated', 'note', null),
                    ('canal_json', 'narrowed', 'id', null), ('canal_json', 'narrowed', 'note', 6),
                    ('shareplex_json', 'sparse', 'ID', null),
                    ('shareplex_json', 'sparse', 'NOTE', null),
                    ('canal_json', 'left_out', 'id', null), ('canal_json', 'left_out', 'note', null)
                """,
                selected=f"""
                    source_format, table_id, column_name,
                    if(position is null, null, {SEQUENCE}) as lost_sequence
                """,
            ),
        },
        outcome="warn",
    ),
    "table_ids_are_unique": Proof(
        Rows(
            columns="database_name, schema_name, table_name, has_partial_images",
            good="""
                -- once more, with partial images; in another schema
                ('shop', null, 'orders', false),
                ('shop', null, 'orders', true),
                ('shop', 'public', 'orders', false)
            """,
            bad="""
                ('a', null, 'b.c', false),
                -- its id is that of the table above
                ('a', 'b', 'c', false)
            """,
            selected="""
                'canal_json' as source_format, database_name, schema_name, table_name,
                concat_ws('.', database_name, schema_name, table_name) as table_id
            """,
        ),
        outcome="warn",
    ),
    "events_happened_once": Proof(
        Rows(
            columns="source_format, table_id, event_id, row_key, op, transaction_id, `row`",
            good="""
                -- other values, another operation, another transaction
                ('dts_avro', 'orders', 'a', '1', 'update', 't1', '{"id":1,"v":1}'),
                ('dts_avro', 'orders', 'b', '1', 'update', 't1', '{"id":1,"v":2}'),
                ('dts_avro', 'orders', 'c', '1', 'insert', 't1', '{"id":1,"v":1}'),
                ('dts_avro', 'orders', 'd', '1', 'update', 't2', '{"id":1,"v":1}'),
                -- a row that full loads read again
                ('dts_avro', 'orders', 'e', '1', 'snapshot', null, '{"id":1,"v":1}'),
                ('dts_avro', 'orders', 'f', '1', 'snapshot', null, '{"id":1,"v":1}'),
                -- log positions distinguish these
                ('shareplex_json', 'visits', 'a', '1', 'insert', 't1', '{"v":1}'),
                ('shareplex_json', 'visits', 'b', '1', 'insert', 't1', '{"v":1}'),
                ('cdl_json', 'visits', 'a', '1', 'insert', 't1', '{"v":1}'),
                ('cdl_json', 'visits', 'b', '1', 'insert', 't1', '{"v":1}'),
                -- a row that left, and an equal one that came later
                ('datahub_tuple', 'visits', 'a', '2', 'snapshot', null, '{"v":2}'),
                ('datahub_tuple', 'visits', 'b', '2', 'delete', null, '{"v":2}'),
                ('datahub_tuple', 'visits', 'c', '2', 'insert', null, '{"v":2}'),
                -- before the table was loaded again
                ('datahub_tuple', 'loaded again', 'a', '1', 'snapshot', null, '{"v":1}'),
                ('datahub_tuple', 'loaded again', 'b', '1', 'insert', null, '{"v":1}')
            """,
            bad="""
                -- while the load ran
                ('datahub_tuple', 'logs', 'a', '1', 'snapshot', null, '{"v":1}'),
                ('datahub_tuple', 'logs', 'b', '1', 'insert', 't1', '{"v":1}'),
                -- changed while the load ran
                ('canal_json', 'logs', 'a', '1', 'snapshot', null, '{"v":1}'),
                ('canal_json', 'logs', 'b', '1', 'update', 't1', '{"v":1}'),
                -- by another task
                ('dts_avro', 'orders', 'g', '1', 'update', 't1', '{"id":1,"v":2}'),
                -- by another run of a task
                ('dataworks_json', 'orders', 'j', '1', 'update', null, '{"id":1,"v":2}'),
                ('dataworks_json', 'orders', 'k', '1', 'update', null, '{"id":1,"v":2}'),
                -- equal rows, or one that was loaded twice
                ('dts_avro', 'visits', 'h', '1', 'snapshot', null, '{"v":1}'),
                ('dts_avro', 'visits', 'i', '1', 'snapshot', null, '{"v":1}'),
                -- likewise
                ('cdl_debezium_json', 'visits', 'h', '1', 'snapshot', null, '{"v":1}'),
                ('cdl_debezium_json', 'visits', 'i', '1', 'snapshot', null, '{"v":1}'),
                -- likewise
                ('dataworks_json', 'visits', 'h', '1', 'snapshot', null, '{"v":1}'),
                ('dataworks_json', 'visits', 'i', '1', 'snapshot', null, '{"v":1}'),
                -- likewise
                ('datahub_tuple', 'visits', 'h', '1', 'snapshot', null, '{"v":1}'),
                ('datahub_tuple', 'visits', 'i', '1', 'snapshot', null, '{"v":1}')
            """,
            selected="""
                source_format, table_id, event_id, row_key, op, transaction_id,
                cast(null as string) as previous_row_key,
                if(table_id = 'orders', array('id'), array()) as key_columns,
                if(op = 'delete', parse_json(`row`), null) as before,
                if(op = 'delete', null, parse_json(`row`)) as after,
                timestamp'2024-03-01 08:00:00' as event_at,
                named_struct('position', 1) as sequence
            """,
        ),
        {
            "keyless_rows": Rows(
                columns="source_format, table_id, row_key, row_count",
                good="""
                    ('datahub_tuple', 'visits', '2', 1),
                    ('datahub_tuple', 'loaded again', '1', 2),
                    ('datahub_tuple', 'logs', '1', 2),
                    ('canal_json', 'logs', '1', 2)
                """,
            ),
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 2)",
                selected="""
                    'datahub_tuple' as source_format, table_id,
                    named_struct('position', position) as sequence
                """,
            ),
        },
        outcome="warn",
    ),
    "rows_have_all_columns": Proof(
        Rows(
            columns="table_id, `row`",
            good="""
                ('orders', '{"id":1,"status":null}'),
                -- a table without a list of columns
                ('visits', '{"id":1}')
            """,
            bad="""
                -- written before the column was there
                ('orders', '{"id":2}')
            """,
            selected="""
                'canal_json' as source_format, table_id, parse_json(`row`) as `row`,
                cast(null as timestamp) as last_event_at
            """,
        ),
        arguments={
            "columns": Rows(
                columns="table_id, column_name, lost",
                good="""
                    ('orders', 'id', null), ('orders', 'status', null), ('orders', 'old', 1)
                """,
                selected="""
                    'canal_json' as source_format, table_id, column_name,
                    lost as lost_sequence
                """,
            )
        },
        outcome="warn",
    ),
    "rows_have_one_key": Proof(
        Rows(
            columns="table_id, row_key, is_live, position",
            good="""
                ('orders', '{"id":1}', true, 3),
                ('orders', '{"id":2}', true, 4),
                -- gone with the old key
                ('orders', '{"number":1}', false, 2),
                ('visits', '{"a":1,"b":1}', true, 2),
                ('visits', '{"a":2,"b":1}', true, 5),
                -- truncated
                ('seats', '{"number":1}', true, 3),
                ('seats', '{"id":1}', true, 5),
                -- a unique key with NULL
                ('fees', '{"a":1,"b":null}', true, 1),
                ('fees', '{"a":1.5,"b":"x"}', true, 2)
            """,
            bad="""
                -- known by the old key
                ('visits', '{"a":1}', true, 1),
                -- known by a key in another order
                ('books', '{"b":1,"a":1}', true, 1),
                ('books', '{"a":1,"b":1}', true, 2),
                -- the old key came back, and the row may be gone
                ('guests', '{"id":1}', true, 1),
                ('guests', '{"code":1}', false, 2),
                ('guests', '{"id":2}', true, 3),
                -- the key column got another type
                ('users', '{"shop":"a","id":1}', true, 1),
                ('users', '{"shop":"a","id":"1"}', true, 2)
            """,
            selected="""
                'canal_json' as source_format, table_id, row_key, is_live,
                cast(position as decimal(38, 0)) as last_position,
                0L as last_transaction_index, 0 as last_partition, 0L as last_offset,
                0 as last_row_index
            """,
        ),
        {
            "truncations": Rows(
                columns="table_id, position",
                good="('seats', 4)",
                selected=f"'canal_json' as source_format, table_id, {SEQUENCE} as `sequence`",
            )
        },
        outcome="warn",
    ),
    "sequence_follows_arrival": Proof(
        Rows(
            columns="event_id, row_key, topic, `partition`, offset, row_index, position",
            good="""
                (1, '1', 'shop', 0, 1, 0, 10),
                (2, '1', 'shop', 0, 1, 1, 10),
                (3, '1', 'shop', 0, 2, 0, 12),
                (4, '2', 'shop', 0, 3, 0, 11),
                (5, '1', 'shop', 1, 4, 0, 5),
                (6, '1', 'shop2', 0, 5, 0, 5)
            """,
            bad="""
                -- a late event
                (7, '1', 'shop', 0, 6, 0, 11)
            """,
            selected=f"""
                event_id, 'shareplex_json' as source_format, 'orders' as table_id, row_key,
                topic, `partition`, offset, row_index, {SEQUENCE} as sequence
            """,
        ),
        outcome="warn",
    ),
    "sequence_is_unique": Proof(
        Rows(
            columns="source_format, table_id, sequence",
            good="""
                ('canal_json', 'orders', struct(1, 1)),
                ('canal_json', 'orders', struct(1, 2)),
                ('canal_json', 'orders', struct(null, 1)),
                ('canal_json', 'carts', struct(1, 1)),
                ('cdl_json', 'orders', struct(1, 1))
            """,
            bad="""
                -- the same again
                ('canal_json', 'orders', struct(1, 1)),
                -- the same again, without a log position
                ('canal_json', 'orders', struct(null, 1)),
                -- none
                ('canal_json', 'orders', null)
            """,
        )
    ),
    "tables_are_keyed_or_keyless": Proof(
        Rows(
            columns="source_format, table_id, position, is_keyless, event_at",
            good="""
                ('cdl_json', 'orders', 1, false, timestamp'2026-01-01'),
                ('cdl_json', 'orders', 1, false, null),
                ('cdl_json', 'visits', 1, true, null),
                ('canal_json', 'visits', 1, false, null),
                -- the table got a key, and was loaded again
                ('cdl_json', 'loaded again', 1, true, null),
                ('cdl_json', 'loaded again', 3, false, null)
            """,
            bad="""
                -- a message without a key
                ('cdl_json', 'orders', 1, true, null),
                -- a message with a key
                ('cdl_json', 'visits', 1, false, null)
            """,
            selected=f"source_format, table_id, is_keyless, event_at, {SEQUENCE} as sequence",
        ),
        {
            "truncations": Rows(
                columns="table_id, position",
                good="('loaded again', 2)",
                selected=f"'cdl_json' as source_format, table_id, {SEQUENCE} as sequence",
            ),
        },
        outcome="warn",
    ),
    "statements_are_applied": Proof(
        Rows(
            columns="statement_id, change, database_name, table_name",
            good="""
                ('drops a table', 'truncation', 'shop', 'orders'),
                ('drops a table in another letter case', 'truncation', 'shop', 'ORDERS'),
                ('drops a column', 'column_drop', 'shop', 'orders'),
                ('drops a table that was never seen', 'truncation', 'shop', 'unseen'),
                ('drops a database', 'truncation', 'shop', null),
                ('renames a table that was never seen', 'not_applied', 'shop', 'unseen'),
                ('moves rows with a key', 'row_move', 'shop', 'orders'),
                ('moves rows with a key elsewhere', 'row_move', 'archive', 'orders'),
                -- the name of its own table, which nobody typed
                ('its own table', 'truncation', 'shop', 'ORDERS')
            """,
            bad="""
                -- fits two tables
                ('drops carts or CARTS', 'truncation', 'shop', 'Carts'),
                -- does too
                ('drops a column of carts or CARTS', 'column_drop', 'shop', 'Carts'),
                -- is known in another database only
                ('drops a table of another database', 'truncation', 'archive', 'orders'),
                -- no message replays it
                ('renames', 'not_applied', 'shop', 'orders'),
                -- their addresses are their keys
                ('moves rows', 'row_move', 'shop', 'visits'),
                -- no message replays this either, of nobody knows which table
                ('rolls back', 'not_applied', null, null)
            """,
            selected=f"""
                if(statement_id = 'its own table', 'cdl_debezium_json', 'dts_avro')
                    as source_format,
                'shop' as topic,
                0 as `partition`,
                0L as offset,
                statement_id,
                0 as change_index,
                change,
                database_name,
                cast(null as string) as schema_name,
                table_name,
                cast(null as array<string>) as column_names,
                'DDL' as source_op,
                statement_id as ddl_text,
                cast(null as timestamp) as event_at,
                {SEQUENCE.replace("position as", "1 as")} as sequence
            """,
        ),
        arguments={
            "tables": Rows(
                columns="database_name, table_name",
                good="""
                    ('shop', 'orders'),
                    ('shop', 'carts'),
                    ('shop', 'CARTS'),
                    ('shop', 'visits')
                """,
                selected="""
                    explode(array('dts_avro', 'cdl_debezium_json')) as source_format,
                    concat(database_name, '.', table_name) as table_id,
                    database_name,
                    cast(null as string) as schema_name,
                    table_name
                """,
            ),
            "keys": Rows(
                columns="table_id, key",
                good="""
                    ('shop.orders', 'id'),
                    ('shop.visits', 'rowid')
                """,
                selected="'dts_avro' as source_format, table_id, array(key) as key_columns",
            ),
            "targets": Rows(
                columns="statement_id, change, table_id, is_ambiguous",
                good="""
                    ('drops a table', 'truncation', 'shop.orders', false),
                    ('drops a table in another letter case', 'truncation', 'shop.orders', false),
                    ('drops a column', 'column_drop', 'shop.orders', false),
                    ('drops a database', 'truncation', 'shop.orders', false),
                    ('drops carts or CARTS', 'truncation', 'shop.carts', true),
                    ('drops carts or CARTS', 'truncation', 'shop.CARTS', true),
                    ('drops a column of carts or CARTS', 'column_drop', 'shop.carts', true),
                    ('drops a column of carts or CARTS', 'column_drop', 'shop.CARTS', true),
                    ('renames', 'not_applied', 'shop.orders', false),
                    ('moves rows with a key', 'row_move', 'shop.orders', false),
                    ('moves rows', 'row_move', 'shop.visits', false)
                """,
                selected="'dts_avro' as source_format, 0 as change_index, *",
            ),
        },
        outcome="warn",
    ),
    "state_equals_replay": Proof(
        STATE,
        arguments={
            "events": LOG,
            "truncations": TRUNCATIONS,
            "lost_columns": LOST_COLUMNS,
            "colliding_keys": COLLIDING_KEYS,
        },
    ),
    "truncations_name_their_schema": Proof(
        Rows(
            columns="source_format, table_id, change, sequence",
            good="""
                ('canal_json', 'shop.orders', 'truncation', 1),
                ('canal_json', 'bank.accounts', 'column_drop', 1),
                -- of a table that another one fits better
                ('canal_json', 'bank.accounts', 'truncation', null),
                -- with the schema
                ('cdl_json', 'bank.public.accounts', 'truncation', 1)
            """,
            bad="""
                -- of whichever schema
                ('canal_json', 'bank.accounts', 'truncation', 2)
            """,
            selected="""
                source_format, table_id, change, sequence, '1' as statement_id,
                cast(null as timestamp) as event_at
            """,
        ),
        arguments={
            "tables": Rows(
                columns="source_format, table_id, schema_name, source_type",
                good="""
                    ('canal_json', 'shop.orders', null, 'mysql'),
                    ('canal_json', 'bank.accounts', null, 'postgresql'),
                    ('cdl_json', 'bank.public.accounts', 'public', 'postgresql')
                """,
            )
        },
        outcome="warn",
    ),
    "write_times_order_changes": Proof(
        Rows(
            columns=(
                "row_key, event_id, position, topic, partition_of_topic, value_before, value_after"
            ),
            good="""
                ('2', 'inserted 2', 1, 'topic', 0, null, 'a'),
                ('2', 'moved 2', 5, 'topic', 0, 'b', null),
                ('2', 'changed 2', 5, 'topic', 1, 'a', 'b'),
                ('6', 'changed 2', 6, 'topic', 1, 'a', 'b'),
                -- in the order that their images show
                ('3', 'inserted 3', 5, 'topic', 0, null, 'a'),
                ('3', 'changed 3', 5, 'topic', 1, 'a', 'b'),
                ('3', 'moved 3', 5, 'topic', 2, 'b', null),
                ('3', 'came to 3', 5, 'topic', 3, 'c', 'c'),
                -- of Lindorm, in the order that their images show
                ('12', 'inserted 12', 5, 'lindorm', 0, null, 'a'),
                ('12', 'changed 12 again', 5, 'lindorm', 0, 'a', 'b'),
                -- in one partition
                ('7', 'inserted 7', 7, 'topic', 1, null, 'a'),
                ('7', 'changed 7', 7, 'topic', 1, 'b', 'c'),
                -- beside a truncation in its own partition, and of another time
                ('8', 'inserted 8', 20, 'topic', 0, null, 'a'),
                ('8', 'changed 8', 21, 'topic', 1, 'a', 'b'),
                -- beside a load that repairs the table
                ('4', 'inserted 4', 21, 'topic', 0, null, 'a'),
                ('4', 'loaded 4', 21, 'topic', 1, null, 'b')
            """,
            bad="""
                ('9', 'inserted 9', 8, 'topic', 0, null, 'a'),
                -- the later update stands first
                ('9', 'changed 9 again', 9, 'topic', 0, 'b', 'c'),
                -- and the earlier one behind it
                ('9', 'changed 9', 9, 'topic', 1, 'a', 'b'),
                ('11', 'inserted 11', 10, 'topic', 0, null, 'a'),
                ('11', 'changed 11', 11, 'topic', 0, 'a', 'b'),
                -- in another topic
                ('11', 'changed 11 otherwise', 11, 'other topic', 0, 'a', 'c'),
                ('13', 'inserted 13', 5, 'lindorm', 0, null, 'a'),
                -- the later update of Lindorm landed first, in the same partition
                ('13', 'changed 13', 6, 'lindorm', 0, 'b', 'c'),
                -- and the earlier one behind it
                ('13', 'changed 13 again', 6, 'lindorm', 0, 'a', 'b'),
                -- at the time of a truncation in another partition
                ('10', 'inserted 10', 20, 'topic', 1, null, 'a'),
                ('1', 'inserted 1', 1, 'topic', 0, null, 'a'),
                ('1', 'moved 1', 5, 'topic', 0, 'a', null),
                -- changed at the time at which it left its key, in another partition
                ('1', 'changed 1', 5, 'topic', 1, 'b', 'c')
            """,
            selected="""
                if(topic = 'lindorm', 'lindorm_debezium', 'canal_json') as source_format,
                'orders' as table_id,
                row_key,
                topic,
                case
                    when event_id like 'inserted%' then 'insert'
                    when event_id like 'loaded%' then 'snapshot'
                    else 'update'
                end as op,
                event_id,
                cast(null as string) as transaction_id,
                if(value_after is null, 'delete', 'upsert') as effect,
                false as is_keyless,
                event_id rlike 'moved|came' as is_key_change,
                to_variant_object(map('v', value_before)) as before,
                to_variant_object(map('v', value_after)) as after,
                cast(null as timestamp) as event_at,
                struct(
                    cast(position as decimal(38, 0)) as position,
                    if(event_id like 'loaded%', 9223372036854775807, length(topic))
                        as transaction_index,
                    partition_of_topic as `partition`,
                    if(event_id like '% again', 2L, 1L) as offset,
                    0 as row_index
                ) as sequence
            """,
        ),
        {
            "truncations": Rows(
                columns="source_op, position",
                good="('TRUNCATE', 20), ('RESYNC', 21)",
                selected=f"""
                    'canal_json' as source_format, 'topic' as topic, 'orders' as table_id,
                    source_op, {SEQUENCE} as sequence
                """,
            ),
            # Its image is the image before of the row that left the key: it came first.
            "superseded": Rows(
                columns="row_key, event_id, effect",
                good="('2', 'changed 2', 'upsert')",
                selected="""
                    'canal_json' as source_format, 'orders' as table_id, row_key, event_id, effect
                """,
            ),
        },
        outcome="warn",
    ),
}
