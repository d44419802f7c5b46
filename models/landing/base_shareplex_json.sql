{{ landed_messages('shareplex_json') }}
