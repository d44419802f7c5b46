from cdc_marts.fold.columns import KEY
from cdc_marts.fold.earlier_rows import earlier_rows
from cdc_marts.fold.key_changes import key_changes


def model(dbt, session):
    effects = dbt.ref("int_row_effects")
    new_effects, new_revised_keys = dbt.new_rows(effects, dbt.ref("int_revised_keys"))
    revised = new_revised_keys.where("not is_keyless")
    return key_changes(
        new_effects,
        effects=dbt.rows_so_far(effects),
        revised_keys=revised.select(*KEY).distinct(),
        message_places=dbt.rows_so_far(dbt.ref("int_message_places")),
        earlier=earlier_rows(dbt, session),
    )
