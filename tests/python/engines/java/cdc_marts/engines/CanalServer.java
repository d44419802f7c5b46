package cdc_marts.engines;

import com.alibaba.otter.canal.connector.kafka.producer.CanalKafkaProducer;
import com.alibaba.otter.canal.instance.core.CanalMQConfig;
import com.alibaba.otter.canal.instance.manager.CanalInstanceWithManager;
import com.alibaba.otter.canal.instance.manager.model.Canal;
import com.alibaba.otter.canal.instance.manager.model.CanalParameter;
import com.alibaba.otter.canal.server.CanalMQStarter;
import com.alibaba.otter.canal.server.embedded.CanalServerWithEmbedded;
import java.io.FileReader;
import java.io.Reader;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.Properties;

/**
 * A Canal server with one instance, which writes a database's changes to one topic of Kafka. The
 * launcher and the files of Canal's own distribution are in no repository of jars; the server, the
 * instance and the Kafka producer here are those that it starts.
 */
public final class CanalServer {

    private static final String DESTINATION = "engines";

    private CanalServer() {}

    /** Its argument is a file of properties: those of Canal's Kafka producer, and its database. */
    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        try (Reader file = new FileReader(arguments[0])) {
            settings.load(file);
        }
        // A flat message is written from parsed entries.
        System.setProperty("canal.instance.memory.rawEntry", "false");
        CanalKafkaProducer producer = new CanalKafkaProducer();
        producer.init(settings);

        CanalServerWithEmbedded server = CanalServerWithEmbedded.instance();
        server.setCanalInstanceGenerator(name -> new Instance(canal(settings), settings));
        server.start();
        server.start(DESTINATION);
        new CanalMQStarter(producer).start(DESTINATION);
        Thread.currentThread().join();
    }

    private static Canal canal(Properties settings) {
        InetSocketAddress address =
                new InetSocketAddress(
                        settings.getProperty("database.host"),
                        Integer.parseInt(settings.getProperty("database.port")));
        CanalParameter parameter = new CanalParameter();
        parameter.setMetaMode(CanalParameter.MetaMode.MEMORY);
        parameter.setIndexMode(CanalParameter.IndexMode.MEMORY);
        parameter.setStorageMode(CanalParameter.StorageMode.MEMORY);
        parameter.setMemoryStorageBufferSize(16 * 1024);
        parameter.setMemoryStorageRawEntry(false);
        parameter.setHaMode(CanalParameter.HAMode.HEARTBEAT);
        parameter.setSourcingType(CanalParameter.SourcingType.MYSQL);
        parameter.setDbAddresses(Collections.singletonList(address));
        parameter.setDbUsername(settings.getProperty("database.user"));
        parameter.setDbPassword(settings.getProperty("database.password"));
        parameter.setDefaultDatabaseName(settings.getProperty("database.name"));
        parameter.setSlaveId(1234L);
        parameter.setConnectionCharset("UTF-8");
        parameter.setConnectionCharsetNumber((byte) 33);
        parameter.setDefaultConnectionTimeoutInSeconds(30);
        parameter.setReceiveBufferSize(16 * 1024);
        parameter.setSendBufferSize(16 * 1024);
        parameter.setDetectingEnable(false);
        parameter.setTsdbEnable(false);
        parameter.setGtidEnable(false);
        Canal canal = new Canal();
        canal.setId(1L);
        canal.setName(DESTINATION);
        canal.setCanalParameter(parameter);
        return canal;
    }

    private static final class Instance extends CanalInstanceWithManager {
        Instance(Canal canal, Properties settings) {
            super(canal, settings.getProperty("database.name") + "\\..*");
            CanalMQConfig topic = new CanalMQConfig();
            topic.setTopic(settings.getProperty("topic"));
            topic.setPartition(0);
            mqConfig = topic;
        }
    }
}
