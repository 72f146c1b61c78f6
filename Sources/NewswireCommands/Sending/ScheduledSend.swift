import ArgumentParser
import ControlIO
import Foundation
import KafkaIO
import KafkaModel
package import NewsModel
import NewswireSettings
import PublishEngine
import PublisherService

/// A time of sending on the command line, in RFC 3339. The seconds are optional, but the offset from UTC is required.
package struct SendTime: Sendable, Hashable {
    package let instant: Instant

    package init(parsing text: String) throws {
        // RFC 3339 requires seconds, but people do not write them.
        let minutes = "2026-01-31T06:00".count
        let rest = text.dropFirst(minutes)
        let whole = rest.first == ":" ? text : "\(text.prefix(minutes)):00\(rest)"
        if let instant = Instant(rfc3339: whole) {
            // Later years do not fit into an `Instant`.
            guard instant < .distantFuture else {
                throw ValidationError("'\(text)' is too late; 2262 is the last year")
            }
            self.instant = instant
        } else if Instant(rfc3339: "\(whole)Z") != nil {
            throw ValidationError("'\(text)' says no zone; write \(text)Z for UTC, or \(text)+01:00")
        } else {
            throw ValidationError("write a time such as 2026-01-31T06:00+01:00 or 2026-01-31T05:00:00Z")
        }
    }
}

/// Publishes one event to a lane's topic, under embargo until its time.
struct ScheduledSend {
    var event: NewsEvent
    var lane: LaneSettings

    private var record: ProducedRecord {
        get throws {
            guard let topic = lane.topics.first else { throw ExitCode.badConfiguration }
            var bytes: [UInt8] = []
            event.encode(into: &bytes)
            return ProducedRecord(
                topic: topic, key: Array(event.orderKey.utf8), value: bytes,
                headers: [RecordHeader(HeaderName.format, HeaderName.builtInFormat)])
        }
    }

    /// The document, and the topic that it would go to.
    var text: String {
        get throws {
            let record = try record
            return "topic: \(record.topic)\n\n\(String(decoding: record.value ?? [], as: UTF8.self))"
        }
    }

    /// Returns true if the topic is missing on which the event waits for its time.
    ///
    /// - Throws: an exit if the lane's topic is missing, which a producer notices only after half a minute. No error if brokers do not
    ///   list their topics.
    func isHeldMissing(_ settings: Settings) throws -> Bool {
        guard let lanes = lane.topics.first else { throw ExitCode.badConfiguration }
        let held = settings.control.topics.held
        guard let counts = try? KafkaAdmin(settings: settings.kafkaSettings).partitionCounts(of: [lanes, held]) else {
            return false
        }
        guard counts[lanes] != nil else {
            throw CommandFailure("not scheduled: \(KafkaFailure.missing(topic: lanes))")
        }
        let due = event.embargoUntil ?? .distantPast
        return counts[held] == nil && due > ServiceClock.wall + Publisher.holdsBeyond
    }

    /// Checks the topics before another person approves it.
    ///
    /// - Throws: an exit if one is missing. A warning would come too late for the person who approves.
    func checkTopics(_ settings: Settings) throws {
        guard try isHeldMissing(settings) else { return }
        throw CommandFailure("not scheduled: \(KafkaFailure.missing(topic: settings.control.topics.held))")
    }

    /// Publishes the event. Returns once every in-sync replica has it.
    func publish(_ settings: KafkaSettings) throws {
        let publisher = try RecordPublisher(settings: settings)
        do {
            try publisher.publish(record)
            try publisher.flush(timeout: .seconds(30))
        } catch {
            guard publisher.abandon() > 0 else { throw error }
            throw CommandFailure(
                "it may be scheduled, as \(event.id). \(error) Before you give it again, look for it with newswire held and "
                    + "newswire results --event \(event.id), or take it back with newswire recall \(event.id) --unseen")
        }
    }
}
