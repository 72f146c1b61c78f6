import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel

/// The body of a held link's thread: reads the topic, informs `HeldState` and carries out its actions. Confined to that thread.
final class HeldLoop {
    private let settings: KafkaSettings
    private let topic: String
    private let clock: @Sendable () -> Moment
    private let notify: @Sendable (HeldLink.Notice) -> Void
    private var state: HeldState
    private var status: HeldLink.Status?
    /// Time of the next count of events that belong to no lane, by the monotonic clock. The count looks at every held event.
    private var countsOverdueAt = Instant.distantPast
    /// The vanished events that were reported.
    private var vanished = (restored: 0, lost: 0)
    private var admin: KafkaAdmin?
    private var reader: TableReader?
    private var originals: PlaceReader?
    private var writer: HeldWriter
    private var returns: [HeldState.Return] = []
    private var rewrites: [HeldPlace] = []
    private var restores: [HeldState.Restore] = []
    /// The pending request for the topic's ends.
    private var look: Int?
    private var pass: Pass?
    private var hasMore = false
    /// True once something of the topic was read. A user who may not read it can connect, too.
    private var isReadable = false
    /// True once what the topic contained at the start was read, and `isThere` was told. Otherwise an engine could hold an event
    /// in the place of another one that it does not know yet.
    private var isKnown = false

    /// Records that are being read from the held topic.
    private struct Pass {
        /// Returns by their places; empty if the records are to be written again.
        var returns: [HeldPlace: HeldState.Return] = [:]
        /// Time of the last progress.
        var movedAt: Instant
    }

    init(
        settings: KafkaSettings, topic: String, asksHub: Bool, clock: @escaping @Sendable () -> Moment,
        notify: @escaping @Sendable (HeldLink.Notice) -> Void
    ) {
        self.settings = settings
        self.topic = topic
        self.clock = clock
        self.notify = notify
        state = HeldState(asksHub: asksHub)
        writer = HeldWriter(settings: settings)
    }

    /// The topic is not read before `HeldState` knows what it contained before the start.
    var awaitsFormer: Bool { state.awaitsFormer }

    /// Time between checks if the topic was recreated. Short, because a process that is killed before it notices that relies on others.
    private static let lookInterval = Duration.seconds(2)

    /// Begins to read the topic at its beginning.
    func connect() throws(KafkaFailure) {
        (reader, originals, pass) = (nil, nil, nil)
        (returns, rewrites, look) = ([], [], nil)
        status = nil
        (isReadable, isKnown) = (false, false)
        let reader = try TableReader(settings: settings, topic: topic, admin: ask(), lookInterval: Self.lookInterval)
        originals = try PlaceReader(settings: settings, topic: topic, partitions: reader.partitionCount)
        self.reader = reader
        handle(.began)
    }

    /// Handles a topic that is missing or cannot be read.
    func lose() {
        (reader, originals, pass) = (nil, nil, nil)
        handle(.lost)
    }

    /// Returns one client for all attempts, because a missing topic is polled repeatedly.
    private func ask() throws(KafkaFailure) -> KafkaAdmin {
        if let admin { return admin }
        let made = try KafkaAdmin(settings: settings, timeout: .seconds(5))
        admin = made
        return made
    }

    func handle(_ input: HeldState.Input) {
        var actions: [HeldState.Action] = []
        state.handle(input, at: clock(), into: &actions)
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: HeldState.Action) {
        switch action {
        case .tell(let stories): notify(.held(stories))
        case .findEnds(let next): look = next
        case .putBack(let next): returns += next
        case .restore(let next): restores += next
        case .writeAgain(let places): rewrites += places
        case .erase(let erasures):
            for erasure in erasures {
                let tombstone = HeldRecord.tombstone(
                    story: erasure.story, upTo: erasure.place.offset, original: erasure.original, topic: topic,
                    partition: erasure.place.partition)
                writer.write(tombstone, ending: .written(erasure.place))
            }
        case .eraseVanished(let events):
            for event in events { writer.write(HeldRecord.tombstone(event, topic: topic), ending: nil) }
        }
    }

    /// Reads some records of the topic and advances the pass. Blocks for at most a tenth of a second if there is nothing to do.
    ///
    /// - Parameter takeInputs: handles the inputs in the inbox. It is called after records have arrived and before they are handled,
    ///   because a confirmed order was put there before a record was written that obeys it.
    func turn(takeInputs: () -> Void = {}) throws(KafkaFailure) {
        guard let reader else { return }
        let isBusy = hasMore || pass != nil || writer.isWriting
        let events = try reader.next(timeout: isBusy ? .milliseconds(1) : pause)
        hasMore = !events.isEmpty
        takeInputs()
        for event in events {
            // The link connects again until the user may read the topic.
            if case .failed(let failure) = event, failure.isRefusal { throw failure }
            isReadable = true
            switch event {
            case .rows(let partition, let rows):
                handle(
                    .read(
                        partition: partition,
                        rows.map {
                            (
                                $0.offset, $0.timestamp,
                                HeldRecord.read(key: $0.key, hasValue: $0.hasValue, headers: $0.headers)
                            )
                        }))
            case .endReached(let partition, let offset): handle(.endReached(partition: partition, offset: offset))
            case .failed(let failure): notify(.failed(failure))
            }
        }
        if let look { findEnds(look, reader) }
        restore()
        try advancePass()
        finish(writer.flush(notify))
        // Also notices steps of the clock.
        handle(.alarm)
        if isReadable, !isKnown, state.isCaughtUp {
            isKnown = true
            notify(.isThere)
        }
        report()
    }

    /// Time until the next event is due, at most a tenth of a second, because recall requests wait as long.
    private var pause: Duration {
        guard let wakeAt = state.wakeAt else { return .milliseconds(100) }
        return min(max(wakeAt - clock().steady, .milliseconds(1)), .milliseconds(100))
    }

    /// Requests the topic's ends. Blocks for a second for each broker that does not answer; `HeldState` repeats the request.
    private func findEnds(_ look: Int, _ reader: TableReader) {
        self.look = nil
        let ends = (try? ask().ends(of: topic)) ?? [:]
        let unreported = (0..<Int32(clamping: reader.partitionCount)).filter { ends[$0] == nil }
        handle(.ends(look: look, ends, unreported: unreported))
    }

    // MARK: Passes

    private static let patience = Duration.seconds(30)

    private func advancePass() throws(KafkaFailure) {
        guard let originals else { return }
        let now = clock().steady
        if pass == nil { try beginPass(originals, now) }
        guard let pass else { return }
        let events = try originals.next(timeout: .milliseconds(50))
        if !events.isEmpty { self.pass?.movedAt = now }
        for event in events {
            switch event {
            case .missing(let partition, let offset): finish([.gone(HeldPlace(partition, offset))])
            case .found(let partition, let record):
                let place = HeldPlace(partition, record.offset)
                write(record, place, pass.returns[place])
            }
        }
        if originals.isDone {
            self.pass = nil
        } else if now - pass.movedAt > Self.patience {
            // An unreadable partition must not delay the others forever.
            let left = originals.left.flatMap { partition, offsets in offsets.map { HeldPlace(partition, $0) } }
            try originals.begin([:])
            self.pass = nil
            finish(left.sorted().map { .failed($0) })
        }
    }

    private func beginPass(_ originals: PlaceReader, _ now: Instant) throws(KafkaFailure) {
        // Records that compaction could drop precede those that are only due.
        let places = rewrites.isEmpty ? returns.map(\.place) : rewrites
        guard !places.isEmpty else { return }
        var next = Pass(movedAt: now)
        if rewrites.isEmpty {
            for each in returns { next.returns[each.place] = each }
            returns = []
        } else {
            rewrites = []
        }
        pass = next
        try originals.begin(Dictionary(grouping: places.sorted(), by: \.partition).mapValues { $0.map(\.offset) })
    }

    private func write(_ record: SourceRecord, _ place: HeldPlace, _ next: HeldState.Return?) {
        guard state.isExpected(record, at: place) else { return finish([.gone(place)]) }
        guard let next else {
            let again = HeldRecord.again(record, topic: topic, partition: place.partition)
            return writer.write(again, ending: .written(place))
        }
        guard
            let original = HeldRecord.original(
                record, because: next.reason, to: next.target, group: settings.group),
            let story = record.key.map({ String(decoding: $0, as: UTF8.self) })
        else { return finish([.gone(place)]) }
        writer.write(original, ending: .putBack(place, story: story))
    }

    private func finish(_ endings: [HeldState.Ending]) {
        if !endings.isEmpty { handle(.ended(endings)) }
    }

    /// Writes originals of vanished events to their lanes again. Rare; may block for seconds.
    private func restore() {
        guard !restores.isEmpty else { return }
        let asked = restores
        restores = []
        handle(.restored(HeldRestorer(settings: settings).restore(asked)))
    }

    private func report() {
        var now = HeldLink.Status()
        (now.held, now.ours, now.nextDue) = (state.count, state.ours, state.nextDue)
        (now.failingSince, now.behindSince, now.behind) = (state.failingSince, state.behindSince, state.behind)
        now.lost = state.vanished.lost
        now.overdue = status?.overdue
        let moment = clock()
        if countsOverdueAt <= moment.steady {
            countsOverdueAt = moment.steady + .seconds(10)
            now.overdue = state.overdue(at: moment)
        }
        now.totals = state.totals
        if now != status { notify(.status(now)) }
        status = now
        let (restored, lost) = (state.vanished.restored - vanished.restored, state.vanished.lost - vanished.lost)
        vanished = state.vanished
        if restored > 0 || lost > 0 { notify(.vanished(restored: restored, lost: lost)) }
    }

    /// Returns the events that engines have requested back, because a request ends with the process: a withheld event would be
    /// sent when it is due.
    func finishRequests() {
        let end = ContinuousClock.now + .seconds(3)
        do throws(KafkaFailure) {
            while reader != nil, state.hasRequests, ContinuousClock.now < end { try turn() }
        } catch {
            lose()
        }
    }

    /// Writes the tombstones of returned events.
    func close() {
        finish(writer.flush(notify))
        finish(writer.flush(notify))
        reader = nil
        originals = nil
    }
}
