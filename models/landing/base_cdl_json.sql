{{ landed_messages('cdl_json') }}
