import EditorialControl
import KafkaIO
import KafkaModel

/// Writes records and reports the outcome of each. Bounded by the part of a pass read at a time. Confined to one thread.
struct HeldWriter {
    private let settings: KafkaSettings
    /// `nil` after a failure; the next write creates a new publisher.
    private var publisher: RecordPublisher?
    /// Pending writes with the publisher's index of each.
    private var endings: [(index: Int, ending: HeldState.Ending?)] = []
    private var failed: [HeldState.Ending] = []

    private static let timeout = Duration.seconds(10)

    init(settings: KafkaSettings) {
        var settings = settings
        // Records that are not stored in this time are read and written again.
        settings.properties["message.timeout.ms"] = "10000"
        self.settings = settings
    }

    var isWriting: Bool { !endings.isEmpty || !failed.isEmpty }

    /// - Parameter ending: reported if the record is stored; `nil` if no outcome is reported.
    mutating func write(_ record: ProducedRecord, ending: HeldState.Ending?) {
        do throws(KafkaFailure) {
            let publisher = try open()
            try publisher.publish(record, timeout: Self.timeout)
            endings.append((publisher.published - 1, ending))
        } catch {
            if let ending { failed.append(.failed(ending.place)) }
        }
    }

    private mutating func open() throws(KafkaFailure) -> RecordPublisher {
        if let publisher { return publisher }
        let made = try RecordPublisher(settings: settings, skipsRefused: true)
        publisher = made
        return made
    }

    /// Waits until the brokers have answered all writes, for 10 seconds at most.
    mutating func flush(_ notify: (HeldLink.Notice) -> Void) -> [HeldState.Ending] {
        var ended = failed
        failed = []
        guard let publisher, !endings.isEmpty else { return ended }
        _ = publisher.settle(within: Self.timeout)
        // Discarded, because they must not be sent in addition to the next attempt.
        if publisher.waiting > 0 { _ = publisher.abandon() }
        do throws(KafkaFailure) {
            try publisher.flush(timeout: .zero)
        } catch {
            notify(.failed(error))
        }
        let refused = publisher.takeRefused()
        for refusal in refused { notify(.failed(refusal.failure)) }
        let isRefused = Set(refused.map(\.index))
        for (index, ending) in endings {
            guard let ending else { continue }
            let isStored = publisher.isAcknowledged(index) && !isRefused.contains(index)
            ended.append(isStored ? ending : .failed(ending.place))
        }
        if publisher.acknowledged + refused.count < publisher.published { self.publisher = nil }
        endings = []
        return ended
    }
}
