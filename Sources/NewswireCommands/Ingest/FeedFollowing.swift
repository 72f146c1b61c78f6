import ArgumentParser
import ControlIO
import FeedIO
import Feeds
import Foundation
import HTTPServing
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import PublishEngine
import StatusServer
import Synchronization

/// Runs `newswire ingest`: connects settings, fetches, Kafka and the callback of hubs.
struct FeedFollowing {
    var settings: Settings
    var log: Logger

    private func service(_ fetcher: Fetcher) -> IngestService {
        IngestService(settings.ingestService, fetcher: fetcher, log: log)
    }

    private func fetcher() throws -> Fetcher {
        var fetching = FetcherSettings()
        fetching.contact = settings.ingest.contact
        fetching.trustCertificates(of: ProcessInfo.processInfo.environment)
        return try Fetcher(fetching)
    }

    // MARK: Following

    /// - Parameter path: the path of the configuration, which is read again at SIGHUP.
    func follow(_ path: String, threshold: LogThreshold?) async throws {
        let fetcher = try fetcher()
        let service = service(fetcher)
        Signals.onStop { service.finish() }
        SettingsReload(path, "feeds", settings.kafkaSettings, log).begin(service, threshold: threshold)
        log.info(
            "following feeds",
            metadata: [
                "group": "\(settings.kafkaSettings.group).feeds", "feeds": "\(settings.ingest.feeds.feeds.count)",
                "state": "\(settings.ingest.stateTopic)",
            ])
        let servers = [await serveHubs(service), await serveStatus(service)].compactMap(\.self)
        do {
            try await service.run()
        } catch {
            for server in servers { await server.stop() }
            throw error
        }
        for server in servers { await server.stop() }
        await fetcher.close()
        log.info("ended")
    }

    /// Serves the calls of WebSub hubs.
    ///
    /// - Returns: `nil` without a public address, or if the port is not available, because feeds are polled anyway.
    private func serveHubs(_ service: IngestService) async -> RunningServer? {
        guard let listen = settings.ingest.webSubListen,
            let address = settings.ingest.feeds.webSubURL.flatMap({ WebAddress($0) })
        else { return nil }
        let server = WebSubServer(
            WebSubServerSettings(publicURL: address, host: listen.host, port: listen.port)
        ) { service.receive($0, $1) }
        service.answerCalls { server.answer($0, $1) }
        do throws(ListenFailure) {
            let running = try await server.start()
            log.info(
                "hubs may call",
                metadata: [
                    "address": "\(NetworkAddress(host: listen.host, port: running.port))", "public": "\(address.text)",
                ])
            return running
        } catch {
            log.error(
                "hubs cannot call: feeds are only polled",
                metadata: ["reason": "\(error)", "remedy": "\(error.remedy) in ingest.websub.listen"])
            return nil
        }
    }

    /// Serves health, metrics and the page of feeds. Feeds are also followed without them.
    private func serveStatus(_ service: IngestService) async -> RunningServer? {
        await ServedStatus.begin(on: settings.ingest.listen, page: "page", setting: "ingest.listen", log: log) {
            listen async throws(ListenFailure) in
            let settings = StatusServerSettings(host: listen.host, port: listen.port)
            return try await ReportServer.start(settings, feeds: { await service.report() })
        }
    }

    // MARK: A single poll

    /// - Returns: the feeds, after a poll of each.
    /// - Throws: also if it was stopped before every feed was polled.
    func pollOnce() async throws -> [FeedStatus] {
        var settings = self
        // Without this, hubs might be asked to push, and nothing would receive their calls.
        settings.settings.ingest.feeds.webSubURL = nil
        try settings.requireLanes()
        let fetcher = try settings.fetcher()
        let service = settings.service(fetcher)
        let wasStopped = Mutex(false)
        Signals.onStop {
            wasStopped.withLock { $0 = true }
            service.finish()
        }
        async let polled = service.pollOnce()
        let running = Task { try await service.run(isPatient: false) }
        // If Kafka is not available, nothing is polled, and `run` throws the reason.
        let watch = Task {
            _ = try? await running.value
            service.finish()
        }
        let statuses = await polled
        service.finish()
        try await running.value
        await watch.value
        await fetcher.close()
        if wasStopped.withLock(\.self), statuses.isEmpty || !statuses.allSatisfy(\.wasPolled) {
            throw CommandFailure("it was stopped before every feed was polled; what was found until then is stored")
        }
        return statuses
    }

    /// A service waits for a lane's missing topic. A single poll would wait without end. Blocks.
    private func requireLanes() throws {
        let ingest = settings.ingestService
        let topics = ingest.ingest.lanes.compactMap { ingest.topics.lanes[$0] }.sorted()
        let counts = try KafkaAdmin(settings: ingest.kafka).partitionCounts(of: topics)
        if let missing = topics.first(where: { counts[$0] == nil }) { throw KafkaFailure.missing(topic: missing) }
    }

    /// - Parameter show: receives each event with its lane.
    func rehearse(show: @escaping @Sendable (String, FeedEvent) -> Void) async throws -> [FeedStatus] {
        let fetcher = try fetcher()
        let statuses = try await IngestRehearsal.run(settings.ingestService, fetcher: fetcher, log: log, show: show)
        await fetcher.close()
        return statuses
    }

    // MARK: Status

    /// The status of each feed of the configuration on the state topic. Blocks while the topic is read.
    func stored(at now: Instant) throws(KafkaFailure) -> [FeedStatus] {
        let known = try StoredFeeds(settings.ingestService)
        let feeds = settings.ingest.feeds
        return feeds.feeds.map { rules in
            let state = known.states[rules.name]
            var status = FeedStatus(rules, state, isStopped: known.stopped.contains(rules.name), at: now)
            let intervalMax = max(rules.intervalMax ?? feeds.intervalMax, rules.intervalMin ?? feeds.intervalMin)
            if status.state == .primed, state?.unpolledFor(intervalMax, at: now) != nil {
                status.because =
                    "overdue: perhaps no process polls it; all processes of a group must have the same feeds"
            }
            return status
        }
    }
}

extension Settings {
    var ingestService: IngestService.Settings {
        var lanes: [String: String] = [:]
        for lane in engine.lanes { lanes[lane.name] = lane.topics.first }
        var service = IngestService.Settings(
            kafka: kafkaSettings, ingest: ingest.feeds,
            topics: IngestTopics(
                state: ingest.stateTopic, control: control.topics.control, lanes: lanes,
                environment: policy.environment))
        service.kafka.fetchBudget = 16 << 20
        // Other members of the group wait this long for revoked partitions.
        service.kafka.releaseTimeout = engine.drainDeadline
        service.shutdownDeadline = engine.drainDeadline
        return service
    }
}
