from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.key_changes import key_changes


def model(dbt, session):
    effects = dbt.ref("int_row_effects")
    new_effects, new_revised_keys = dbt.new_rows(effects, dbt.ref("int_revised_keys"))
    return key_changes(
        new_effects,
        effects=dbt.rows_so_far(effects),
        new_revised_keys=new_revised_keys,
        message_places=dbt.rows_so_far(dbt.ref("int_message_places")),
        earlier=earlier_rows(dbt, session),
    )
