{{ landed_messages('datahub_tuple') }}
