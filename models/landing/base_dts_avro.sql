{{ landed_messages('dts_avro') }}
