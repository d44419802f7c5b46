{{ landed_messages('dataworks_json') }}
