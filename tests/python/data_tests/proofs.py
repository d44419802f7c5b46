"""Small data for every data test of the project: good rows, and bad ones beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    arguments: Mapping[str, Rows | list[str]] = field(default_factory=dict)
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

TABLE_ENDS = Rows(
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

TABLE_LISTINGS = Rows(
    columns="table_id, position, column_names",
    good="('narrowed', 20, array('id'))",
    selected=f"""
        'shareplex_json' as source_format,
        table_id,
        array(struct(1L as schema_id, {SEQUENCE} as last_sequence, column_names)) as listings
    """,
)

#: Two rows swapped their keys: a maximum does not tell what became of it.
EFFECTS = Rows(
    columns="table_id, row_key, position, effect",
    good="('orders', 'contested', 1, 'upsert'), ('orders', 'contested', 2, 'removal')",
    selected=f"""
        'shareplex_json' as source_format,
        table_id,
        row_key,
        'update' as op,
        '1' as transaction_id,
        effect,
        false as is_keyless,
        true as is_move,
        cast(null as timestamp) as event_at,
        {SEQUENCE} as sequence
    """,
)

STATE = Rows(
    columns="table_id, row_key, image, row_count, last_position",
    good="""
        ('orders', '1', '{"id":1,"note":"new"}', 1, 3),
        ('orders', '4', '{"id":4}', 1, 7),
        ('documents', '1', '{"id":1,"text":"long"}', 1, 2),
        ('visits', '{"page":"home"}', '{"page":"home"}', 2, 5),
        ('emptied', '2', '{"id":2}', 1, 3),
        ('orders', 'contested', '{"id":5}', 1, 8),
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
            columns="topic, position, op, before, after, event_at",
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
                cast(event_at as timestamp) as event_at,
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
    "ledger_balances": Proof(
        Rows(
            columns="""
                topic, landed, change, update_before, ddl, `transaction`, heartbeat, tombstone,
                rejected, redelivered, pending_update_before
            """,
            good="""
                ('all kinds', 28, 1, 2, 3, 4, 5, 6, 7, 1, 1),
                ('nothing', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            """,
            bad="""
                -- a lost message
                ('lost', 29, 1, 2, 3, 4, 5, 6, 7, 0, 0),
                -- a message that is of two kinds
                ('twice', 27, 1, 2, 3, 4, 5, 6, 7, 0, 0),
                -- more events than changes
                ('events of nowhere', 28, 1, 2, 3, 4, 5, 6, 7, -1, 0),
                -- fewer than no halves wait
                ('halves of nowhere', 28, 1, 2, 3, 4, 5, 6, 7, 0, -1)
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
    "state_equals_replay": Proof(
        STATE,
        arguments={
            "events": LOG,
            "table_ends": TABLE_ENDS,
            "table_listings": TABLE_LISTINGS,
            "effects": EFFECTS,
        },
    ),
}
