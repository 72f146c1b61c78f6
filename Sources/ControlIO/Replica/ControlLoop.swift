import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel

/// The body of the thread of a `ControlLink`.
final class ControlLoop: @unchecked Sendable {
    // Created on one thread, then used only by the link's thread.
    private let topics: ControlTopics
    private var state: ControlState
    private let commands: CommandQueue<ControlLink.Command>
    private let reader: ControlReader
    private let producer: KeyedProducer
    private let now: @Sendable () -> Moment
    private let deliver: @Sendable (ControlLink.Message) -> Void

    private var taken: [ControlLink.Command] = []
    private var tickAt = Instant.distantPast
    /// Time of the next status message: once a second, and soon after a change.
    private var statusAt = Instant.distantPast
    private var statusLast = Instant.distantPast
    private var closing: Closing = .no

    private enum Closing {
        case no
        /// Closes when `ControlState` has finished, or at this time.
        case until(Instant)
        case done
    }

    private static let tick = Duration.seconds(1)
    /// Minimum time between status messages, because orders may arrive by the thousand.
    private static let statusPause = Duration.milliseconds(100)
    private static let closingMax = Duration.seconds(3)

    init(
        topics: ControlTopics, state: ControlState, commands: CommandQueue<ControlLink.Command>, reader: ControlReader,
        producer: KeyedProducer, now: @escaping @Sendable () -> Moment,
        deliver: @escaping @Sendable (ControlLink.Message) -> Void
    ) {
        self.topics = topics
        self.state = state
        self.commands = commands
        self.reader = reader
        self.producer = producer
        self.now = now
        self.deliver = deliver
    }

    func run() {
        while true {
            carryOutCommands()
            producer.serve(
                { receive($0) }, { if case .error(let failure) = $0, failure.isFatal { deliver(.failed(failure)) } })
            let steady = now().steady
            if steady >= tickAt {
                tickAt = steady + Self.tick
                handle(.tick)
            }
            if steady >= statusAt { tellStatus() }
            if case .until(let end) = closing, steady >= end { closing = .done }
            if case .done = closing { break }
            let wait = (min(tickAt, statusAt, end ?? tickAt) - now().steady).nanoseconds / 1_000_000
            commands.wakeUp.wait(milliseconds: Int32(clamping: min(max(wait + 1, 1), 1_000)))
        }
        reader.close()
        producer.abandon { _ in }
        deliver(.ended)
    }

    private var end: Instant? { if case .until(let end) = closing { end } else { nil } }

    private func carryOutCommands() {
        taken.removeAll(keepingCapacity: true)
        taken = commands.exchange(taken)
        for command in taken {
            switch command {
            case .input(let input):
                if case .audit(.there) = input { producer.prepare([topics.audit]) }
                handle(input)
            case .read(let records):
                handle(.records(records))
                reader.goOn()
            case .close:
                guard case .no = closing else { continue }
                closing = .until(now().steady + Self.closingMax)
                handle(.drain)
                producer.sendNow()
            }
        }
    }

    private func receive(_ event: SharedStateEvent) {
        switch event {
        case .written(let number): handle(.written(.init(number)))
        case .refused(let number, _, let failure), .notWritten(let number, let failure):
            handle(.notWritten(.init(number), failure))
        case .assigned, .records, .removed, .restored, .revoked, .lost, .restarted, .committed: break
        }
    }

    private func handle(_ input: ControlState.Input) {
        for action in state.handle(input, at: now()) {
            switch action {
            case .tell(let changes):
                deliver(.orders(changes))
                statusAt = min(statusAt, max(now().steady, statusLast + Self.statusPause))
            case .settled(let stories): deliver(.settled(stories))
            case .known(let isKnown):
                // The status comes first, so that the reason is visible when sending stops.
                tellStatus()
                deliver(.known(isKnown))
            case .write(let id, let record): write(record.record(on: topics.control), id)
            case .audit(let id, let entry):
                write(entry.record(on: topics.audit), id)
            case .formerlyHeld(let totals): deliver(.formerlyHeld(totals))
            case .reread(let reading): reader.reread(reading)
            case .confirmed(let number, let shard): deliver(.confirmed(number, shard: shard))
            case .note(let note): deliver(.note(note))
            case .finished: closing = .done
            }
        }
    }

    private func tellStatus() {
        let now = now()
        deliver(.status(state.status(at: now)))
        statusLast = now.steady
        statusAt = now.steady + Self.tick
    }

    private func write(_ record: ProducedRecord, _ id: ControlState.WriteID) {
        producer.write([record], id.number) { receive($0) }
    }
}
