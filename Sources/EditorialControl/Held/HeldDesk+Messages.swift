public import KafkaModel
public import NewsModel

/// Where a record stands on the held topic.
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

extension HeldDesk {
    public enum Input: Sendable {
        /// The held topic is read from its beginning from now on: what was known of it is expected there.
        case began
        /// It cannot be read, or is missing: nothing is known of it.
        case lost
        /// Of one partition, in the order of their offsets.
        case read(partition: Int32, [(offset: Int64, reading: HeldRecord.Reading)])
        /// Everything in the partition was read that stands before the offset, its end at that time.
        case endReached(partition: Int32, offset: Int64)
        /// The answer to `findEnds`: the ends of the partitions, and those whose ends could not be told.
        case ends(look: Int, [Int32: Int64], untold: [Int32])
        /// The partitions that a shard owns of a lane, in place of those it had.
        case owned(LaneID, ShardID, [TopicPartition])
        /// How many partitions each topic has that exists.
        case counts([String: Int])
        case orders([OrderChange])
        /// An engine wishes that these events of the story go back to their lanes.
        case bringBack(story: String, ReturnReason, HeldPart = .all)
        /// How many records that came back when they were due the shard has settled since its start, and how many requests a
        /// second it may send; `nil`: as many as it can.
        case settled(ShardID, Int, perSecond: Int?)
        /// The ends of what `restore` asked for.
        case restored([RestoreEnding])
        /// The ends of steps of `putBack`, `erase` and `writeAgain`.
        case ended([Ending])
        /// A reply of the hub at that monotonic time had this `Date`.
        case hubTime(Moment)
        /// Time passed; extra alarms are harmless.
        case alarm
    }

    /// How one step ended.
    public enum Ending: Sendable, Hashable {
        /// The original stands on its lane again; the record's key goes with it.
        case putBack(HeldPlace, story: String)
        /// The tombstone is stored, or the record once more; reading tells the rest.
        case written(HeldPlace)
        /// No such record is there any more.
        case gone(HeldPlace)
        /// A topic or a broker was away: it is tried again.
        case failed(HeldPlace)

        public var place: HeldPlace {
            switch self {
            case .putBack(let place, _), .written(let place), .gone(let place), .failed(let place): place
            }
        }
    }

    public enum Action: Sendable, Hashable {
        /// Tell every engine of the process.
        case tell([HeldStory])
        /// Ask the brokers, from now on, for the ends of all partitions of the held topic; answer with `ends`.
        case findEnds(look: Int)
        /// Read the originals, and write each to its lane's topic and partition; every one ends with an `Ending`. In the order of
        /// their places: one pass reads them. None is asked for before the last pass has ended.
        case putBack([Return])
        /// Read the originals on their source topics, and write each to its partition there once more; every one ends as `restored`, `gone`
        /// or `failed`.
        case restore([Restore])
        /// Write tombstones; each ends as `written` or `failed`.
        case erase([Erasure])
        /// Write records of the held topic again, at its end; each ends as `written`, `gone` or `failed`.
        case writeAgain([HeldPlace])
    }

    public struct Return: Sendable, Hashable {
        public var place: HeldPlace
        public var reason: ReturnReason
        /// The partition of its topic, if the one that it came from is no more.
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

        public init(_ place: HeldPlace, story: String) {
            self.place = place
            self.story = story
        }
    }
}
