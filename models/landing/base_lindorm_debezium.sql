{{ landed_messages('lindorm_debezium') }}
