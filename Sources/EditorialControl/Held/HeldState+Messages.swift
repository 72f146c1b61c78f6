public import KafkaModel
public import NewsModel

/// The position of a record on the held topic.
public struct HeldPlace: Sendable, Hashable, Comparable {
    public var partition: Int32
    public var offset: Int64

    public init(_ partition: Int32, _ offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    public static func < (one: HeldPlace, other: HeldPlace) -> Bool {
        (one.partition, one.offset) < (other.partition, other.offset)
    }
}

/// Held events that no lane of this process returns. `topic` is the source of one of them.
public struct HeldOverdue: Sendable, Hashable {
    public var count: Int
    public var topic: String

    public init(count: Int, topic: String) { (self.count, self.topic) = (count, topic) }
}

extension HeldState {
    public enum Input: Sendable {
        /// The held topic is read from its beginning. The events known before are expected there.
        case began
        /// The topic cannot be read or is missing, so nothing is known of it.
        case lost
        /// The topic's content before the start, according to the control topic; `nil` if that has no record of it. Precedes `began`.
        case formerly(HeldTotals?)
        /// Records of one partition with their timestamps, sorted by offset.
        case read(partition: Int32, [(offset: Int64, at: Instant?, reading: HeldRecord.Reading)])
        /// Every record of the partition before the offset was read. The offset was the partition's end at that time.
        case endReached(partition: Int32, offset: Int64)
        /// The answer to `findEnds`: the ends of the partitions, and the partitions whose ends are unknown.
        case ends(look: Int, [Int32: Int64], unreported: [Int32])
        /// The partitions of a lane that a shard owns now, in place of its former ones.
        case owned(LaneID, ShardID, [TopicPartition])
        /// The number of partitions of each topic that exists.
        case counts([String: Int])
        case orders([OrderChange])
        /// An engine requests that these events of the story return to their lanes.
        case bringBack(story: String, ReturnReason, HeldPart = .all)
        /// Number of due events that returned and were settled by the shard since its start, and the requests a second that it
        /// may send. `perSecond` is `nil` if there is no limit.
        case settled(ShardID, Int, perSecond: Int?)
        /// Outcomes of the originals in `restore`.
        case restored([RestoreEnding])
        /// Outcomes of the steps in `putBack`, `erase` and `writeAgain`.
        case ended([Ending])
        /// A reply of the hub at that monotonic time had this `Date`; `nil` if its replies have no `Date`.
        case hubTime(Moment?)
        /// Time has passed. Extra alarms are harmless.
        case alarm
    }

    /// The outcome of one step.
    public enum Ending: Sendable, Hashable {
        /// The original is on its lane again. `story` is the record's key.
        case putBack(HeldPlace, story: String)
        /// The tombstone or the rewritten record is stored. It takes effect when it is read.
        case written(HeldPlace)
        /// The topic no longer has such a record.
        case gone(HeldPlace)
        /// A topic or a broker was unavailable. The step is retried.
        case failed(HeldPlace)

        public var place: HeldPlace {
            switch self {
            case .putBack(let place, _), .written(let place), .gone(let place), .failed(let place): place
            }
        }
    }

    public enum Action: Sendable, Hashable {
        /// Tells every engine of the process which stories are held.
        case tell([HeldStory])
        /// Asks the brokers for the ends of all partitions of the held topic, measured from now on. Answered with `ends`.
        case findEnds(look: Int)
        /// Reads the originals and writes each to its lane's topic and partition. Each ends with an `Ending`. They are sorted by
        /// place, so that one pass reads them. The next pass starts after this one has ended.
        case putBack([Return])
        /// Reads the originals on their source topics and writes each to its partition there again. Each ends as `restored`,
        /// `gone` or `failed`.
        case restore([Restore])
        /// Writes tombstones. Each ends as `written` or `failed`.
        case erase([Erasure])
        /// Writes tombstones of events that vanished from the topic and are on their lanes again. Each takes effect when it is read;
        /// `HeldState` repeats the action until then.
        case eraseVanished([Vanished])
        /// Writes records of the held topic again at its end. Each ends as `written`, `gone` or `failed`.
        case writeAgain([HeldPlace])
    }

    public struct Return: Sendable, Hashable {
        public var place: HeldPlace
        public var reason: ReturnReason
        /// The partition to return to if the source partition no longer exists.
        public var target: Int32?

        public init(_ place: HeldPlace, _ reason: ReturnReason, to target: Int32? = nil) {
            self.place = place
            self.reason = reason
            self.target = target
        }
    }

    public struct Erasure: Sendable, Hashable {
        public var place: HeldPlace
        public var story: String
        /// The event at the place; `nil` if it could not be recognized.
        public var original: HeldOriginal?

        public init(_ place: HeldPlace, story: String, _ original: HeldOriginal? = nil) {
            self.place = place
            self.story = story
            self.original = original
        }
    }

    /// An event that vanished from the held topic, with its former place there.
    public struct Vanished: Sendable, Hashable {
        /// A hash of the story.
        public var story: UInt64
        public var place: HeldPlace
        public var original: HeldOriginal

        public init(story: UInt64, place: HeldPlace, original: HeldOriginal) {
            (self.story, self.place, self.original) = (story, place, original)
        }
    }

    /// The events that should have returned a minute ago, but whose topic no lane reads: a lane was removed from the
    /// configuration. Looks at every event if there are such topics.
    package func overdue(at moment: Moment) -> HeldOverdue? {
        guard reach.isCaughtUp, sources.hasUnread else { return nil }
        let limit = clock.releaseClock(moment) - .seconds(60)
        let slots = index.slots.filter { index[$0].release < limit && sources.isUnread(index[$0].source) }
        guard let first = slots.first, let topic = sources.partition(of: index[first].source)?.topic else { return nil }
        return HeldOverdue(count: slots.count, topic: topic)
    }

    /// True while events that were requested back have not all returned.
    package var hasRequests: Bool {
        !displaced.isEmpty || index.first.map { $0.release == .distantPast } ?? false
            || underWay.values.contains { $0.kind != .writeAgain }
    }

    /// Returns false if the record at the place of a step in progress is not that of the step's event, because the topic was
    /// recreated and this has not been noticed yet. The step then ends with `gone`.
    package func isExpected(_ record: SourceRecord, at place: HeldPlace) -> Bool {
        guard let step = underWay[place],
            case .held(let event, _) = HeldRecord.read(
                key: record.key, hasValue: record.hasValue, headers: record.headers),
            step.story == HeldIndex.hash(event.story)
        else { return false }
        let entry = displaced[place] ?? index.find(step.story, place.partition).map { index[$0] }
        guard let entry, entry.place == place, let original = entry.original else { return true }
        return original == HeldOriginal(of: event)
    }
}
