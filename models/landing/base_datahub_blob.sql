{{ landed_messages('datahub_blob') }}
