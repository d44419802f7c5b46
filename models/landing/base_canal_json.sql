{{ landed_messages('canal_json') }}
