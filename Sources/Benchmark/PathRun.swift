import Foundation
import Histogram
import HubEmulator
import HubServer
import KafkaIO
import KafkaModel
import NIOCore
import NewsModel

/// Runs the real program against a broker and a hub in this process.
struct PathRun {
    /// The program, as arguments of `env`.
    let command: [String]
    let scenario: Scenario

    func figures() throws -> Figures { try withTemporaryFolder { try figures(in: $0) } }

    private func figures(in folder: URL) throws -> Figures {
        let broker = try EmbeddedBroker(
            topics: ["news.events", "news.backfill", "news.results", "news.dead-letters"].map {
                ($0, scenario.partitions)
            })
        let certificate =
            scenario.isSecure
            ? try SelfSignedCertificate(
                host: "127.0.0.1", now: HubTime(seconds: Int64(Date().timeIntervalSince1970))) : nil
        let hub = try CountingHub(
            certificate: certificate.map { ($0.pem, $0.keyPEM) }, delay: .milliseconds(Int64(scenario.delay)))
        let kafka = broker.settings(group: "benchmark")
        let writer = try RecordPublisher(settings: kafka.with(linger: scenario.writtenPerSecond == nil ? 50 : 0))
        for number in 0..<scenario.backfill { try write(number + 20_000_000, to: "news.backfill", writer) }
        if scenario.writtenPerSecond == nil {
            for number in 0..<scenario.events { try write(number, to: "news.events", writer) }
        }
        try writer.flush()

        let pem = folder.appending(path: "hub.pem")
        if let certificate { try Data(certificate.pem.utf8).write(to: pem) }
        let file = folder.appending(path: "newswire.yaml")
        try Data(
            scenario.configuration(
                broker: kafka.bootstrapServers.joined(separator: ","), hubPort: hub.port,
                certificate: certificate == nil ? nil : pem.path
            ).utf8
        ).write(to: file)

        let before = Self.childrenTime()
        let process = try start(file)
        // The program must not outlive this function, even after an error.
        defer { if process.isRunning { process.terminate() } }
        let (due, memory) = try follow(process, hub, writer)
        let times = hub.times()
        let figures = Figures(
            scenario: scenario.name, requestsPerSecond: Figures.rate(of: times),
            cpuPerRequest: (Self.childrenTime() - before) / Double(max(times.count, 1)) * 1e6, memory: memory,
            latency: latency(due, hub), pace: scenario.rate.map { Figures.Pace(times: times, rate: $0) })
        try hub.close()
        return figures
    }

    private func write(_ number: Int, to topic: String, _ writer: RecordPublisher) throws {
        let record = News.record(number)
        try writer.publish(
            ProducedRecord(
                topic: topic, partition: scenario.isUneven ? 0 : Int32(number % scenario.partitions), key: record.key,
                value: record.value))
    }

    private func start(_ configuration: URL) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            command + ["run", "--config", configuration.path]
            + (scenario.writtenPerSecond == nil ? ["--until-caught-up"] : [])
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Blocks until the program has ended. Returns its peak memory, and the time at which each event was due if events
    /// are written during the run.
    private func follow(
        _ process: Process, _ hub: CountingHub, _ writer: RecordPublisher
    ) throws -> (due: [Int: NIODeadline], memory: Int) {
        var memory = 0
        func look() { memory = max(memory, Self.peakMemory(of: process.processIdentifier)) }
        guard let perSecond = scenario.writtenPerSecond else {
            while process.isRunning {
                look()
                usleep(20_000)
            }
            guard process.terminationStatus == 0 else { throw BenchmarkFailure("newswire run failed") }
            return ([:], memory)
        }
        // The arrival of a few events per partition proves that it is being read. They do not count.
        let warmUp = (1...scenario.partitions * 4).map { $0 + 10_000_000 }
        for number in warmUp { try write(number, to: "news.events", writer) }
        try writer.flush()
        while process.isRunning, case let arrived = hub.firstArrivals(), !warmUp.allSatisfy({ arrived[$0] != nil }) {
            usleep(10_000)
        }
        let began = NIODeadline.now()
        var due: [Int: NIODeadline] = [:]
        for number in 0..<scenario.events {
            let at = began + .nanoseconds(Int64(number) * 1_000_000_000 / Int64(perSecond))
            while NIODeadline.now() < at { usleep(100) }
            due[number] = at
            try write(number, to: "news.events", writer)
        }
        try writer.flush()
        let patience = NIODeadline.now() + .seconds(30)
        while process.isRunning, NIODeadline.now() < patience {
            look()
            let arrived = hub.firstArrivals()
            if due.keys.allSatisfy({ arrived[$0] != nil }) { break }
            usleep(50_000)
        }
        process.terminate()
        process.waitUntilExit()
        return (due, memory)
    }

    private func latency(_ due: [Int: NIODeadline], _ hub: CountingHub) -> Figures.Latency? {
        guard !due.isEmpty else { return nil }
        let arrived = hub.firstArrivals()
        var histogram = Histogram<UInt32>(highestTrackableValue: 60_000_000)
        for (number, at) in due {
            // An event that never arrived counts as the longest latency.
            let waited = arrived[number].map { max(($0 - at).nanoseconds, 0) / 1_000 } ?? 60_000_000
            histogram.record(UInt64(min(waited, 60_000_000)))
        }
        return Figures.Latency(histogram)
    }

    /// User and system time of all ended children, in seconds.
    private static func childrenTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Peak memory in MiB; 0 if unknown.
    private static func peakMemory(of process: Int32) -> Int {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 / 1024 } ?? 0
    }
}

extension KafkaSettings {
    fileprivate func with(linger milliseconds: Int) -> KafkaSettings {
        var settings = self
        settings.properties["linger.ms"] = String(milliseconds)
        return settings
    }
}
