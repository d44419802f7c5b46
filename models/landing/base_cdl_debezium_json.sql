{{ landed_messages('cdl_debezium_json') }}
