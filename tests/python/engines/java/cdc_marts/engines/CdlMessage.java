package cdc_marts.engines;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * A change message of Debezium in the shape that CDL gives it: with the version of the message, its
 * type, the names of large columns, the key of the row, and a log position in `source.lsn`.
 *
 * <p>MariaDB has no such position: it is made of the binlog file, the position in the file, and the
 * number of the row in its event, as PostgreSQL has one for each row.
 */
public final class CdlMessage implements Transformation<SourceRecord> {

    private static final Schema NO_KEY = SchemaBuilder.struct().optional().build();

    @Override
    public SourceRecord apply(SourceRecord record) {
        // Tombstones, and the statements that the MariaDB connector publishes.
        if (!(record.value() instanceof Struct) || record.valueSchema().field("op") == null) {
            return record;
        }
        Struct value = (Struct) record.value();
        Struct source = withPosition(value.getStruct("source"));
        Struct key = record.key() == null ? new Struct(NO_KEY) : (Struct) record.key();

        SchemaBuilder schema = SchemaBuilder.struct().name(value.schema().name());
        for (Field field : value.schema().fields()) {
            boolean isSource = field.name().equals("source");
            schema.field(field.name(), isSource ? source.schema() : field.schema());
        }
        schema.field("message_version", Schema.STRING_SCHEMA);
        schema.field("message_type", Schema.STRING_SCHEMA);
        schema.field("LOB_COLUMNS", Schema.OPTIONAL_STRING_SCHEMA);
        schema.field("unique", key.schema());

        Struct message = new Struct(schema.build());
        for (Field field : value.schema().fields()) {
            boolean isSource = field.name().equals("source");
            message.put(field.name(), isSource ? source : value.get(field));
        }
        message.put("message_version", "2.0");
        message.put("message_type", "0");
        message.put("unique", key);
        return record.newRecord(
                record.topic(),
                record.kafkaPartition(),
                record.keySchema(),
                record.key(),
                message.schema(),
                message,
                record.timestamp());
    }

    private static Struct withPosition(Struct source) {
        if (source.schema().field("lsn") != null) {
            return source;
        }
        SchemaBuilder schema = SchemaBuilder.struct().name(source.schema().name());
        for (Field field : source.schema().fields()) {
            schema.field(field.name(), field.schema());
        }
        schema.field("lsn", Schema.INT64_SCHEMA);
        Struct found = new Struct(schema.build());
        for (Field field : source.schema().fields()) {
            found.put(field.name(), source.get(field));
        }
        String file = source.getString("file");
        long number = Long.parseLong(file.substring(file.lastIndexOf('.') + 1));
        long position = (number << 48) | (source.getInt64("pos") << 16) | source.getInt32("row");
        return found.put("lsn", position);
    }

    @Override
    public ConfigDef config() {
        return new ConfigDef();
    }

    @Override
    public void configure(Map<String, ?> settings) {
        // It has no settings.
    }

    @Override
    public void close() {
        // It holds nothing.
    }
}
