import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

private func read(_ json: String, isConsumer: Bool = false) -> KafkaStatistics? {
    Array(json.utf8).withUnsafeBufferPointer { StatisticsReader().read($0, isConsumer: isConsumer) }
}

struct KafkaStatisticsTests {
    private let json = #"""
        {"name":"newswire#producer-1","ts":5,"msg_cnt":7,"msg_size":4096,"cgrp":{"rebalance_cnt":3,"state":"up"},
         "brokers":{
          "a:9092/1":{"name":"a:9092/1","nodeid":1,"outbuf_cnt":2,"waitresp_cnt":5,"txerrs":1,"rxerrs":2,"req_timeouts":4,
                      "txretries":6,"disconnects":8,"rtt":{"min":1,"p50":900,"p99":45000},"throttle":{"avg":3,"max":2500},"toppars":{"x":{}}},
          "a:9092/bootstrap":{"name":"a:9092/bootstrap","nodeid":-1,"txerrs":100},
          "GroupCoordinator":{"name":"GroupCoordinator","nodeid":-1,"txerrs":9223372036854775807,"rxerrs":1}},
         "topics":{"t":{"partitions":{"0":{"fetchq_cnt":10,"fetchq_size":100},"-1":{"fetchq_cnt":0},"1":{"fetchq_cnt":1,"fetchq_size":5}}}}}
        """#

    @Test func `the relevant statistics of each client are decoded`() throws {
        let producer = try #require(read(json))
        #expect(producer.queuedRecords == 7 && producer.queuedBytes == 4096)
        let broker = KafkaStatistics.Broker(
            name: "a:9092/1", roundTripMedian: 900, roundTripP99: 45_000, throttled: 2_500, waiting: 2, inFlight: 5,
            errors: 7,
            retries: 6,
            disconnects: 8)
        #expect(producer.brokers == [broker, .init(name: "GroupCoordinator", errors: .max)])
        let consumer = try #require(read(json, isConsumer: true))
        #expect(consumer.queuedRecords == 11 && consumer.queuedBytes == 105 && consumer.rebalances == 3)
    }

    @Test(arguments: [
        "{}", #"{"brokers":[1,{}],"cgrp":7,"topics":"x","msg_cnt":"many","msg_size":1.5}"#,
        #"{"brokers":{"a":1,"b":{},"c":{"nodeid":"1"}},"cgrp":{},"topics":{"t":{"partitions":[]},"u":null}}"#,
    ])
    func `members of another type count as zero`(json: String) throws {
        for isConsumer in [false, true] {
            let statistics = try #require(read(json, isConsumer: isConsumer))
            #expect(statistics.brokers.isEmpty && statistics.queuedRecords == 0 && statistics.rebalances == nil)
        }
    }

    @Test(arguments: ["", "null", "[]", "{", "{\"a\":", "\u{0}", String(repeating: "[", count: 10_000)])
    func `anything but an object is rejected`(json: String) {
        #expect(read(json) == nil)
    }

    @Test func `brokers beyond the limit are dropped`() throws {
        let brokers = (0..<1000).map { #""\#($0)":{"name":"\#($0)","nodeid":\#($0)}"# }.joined(separator: ",")
        #expect(try #require(read("{\"brokers\":{\(brokers)}}")).brokers.count == KafkaStatistics.brokersMax)
    }

    @Test(.ownThread, .timeLimit(.minutes(15)))
    func `every client of a driver reports statistics`() async throws {
        let broker = try Broker(("news", 1), ("results", 1))
        var settings = broker.settings
        settings.properties["statistics.interval.ms"] = "100"
        let (driver, shards) = try KafkaDriverTests.started(broker, settings: settings)
        defer { withExtendedLifetime(broker) {} }
        _ = try await shards.assigned()
        for lane in [nil, live] {
            let statistics = try await shards.notice { notice -> KafkaStatistics? in
                guard case .statistics(lane, let statistics) = notice else { return nil }
                return statistics.brokers.isEmpty ? nil : statistics
            }
            #expect((statistics.rebalances == nil) == (lane == nil))
        }
        try await KafkaDriverTests.finish(driver, shards)
    }
}
