import Feeds
import NewsModel

/// The state topic: compacted, except for records of the last hour.
struct StateTopic {
    private(set) var partitions: [[Record]]

    struct Record {
        var key: String
        var value: [UInt8]?
        var at: Instant
        /// True if compaction has removed it in favor of a later record with the same key.
        var isCompacted = false
    }

    static let compactionLag: Duration = .seconds(3_600)

    init(partitions: Int32) {
        self.partitions = Array(repeating: [], count: Int(partitions))
    }

    mutating func append(_ record: StateRecord, to partition: Int32, at now: Instant) {
        partitions[Int(partition)].append(Record(key: record.key, value: record.value, at: now))
    }

    func end(_ partition: Int32) -> Int { partitions[Int(partition)].count }

    mutating func compact(at now: Instant) {
        for partition in partitions.indices {
            var later: Set<String> = []
            for place in partitions[partition].indices.reversed() {
                let record = partitions[partition][place]
                // Only records older than the lag are removed. The newest record of a key stays.
                if later.contains(record.key), now - record.at > Self.compactionLag {
                    partitions[partition][place].isCompacted = true
                }
                later.insert(record.key)
            }
        }
    }
}

/// The events on the lanes, and the promises that they show to be broken.
struct LaneTopic {
    private(set) var count = 0
    private(set) var repeats = 0
    private(set) var updates = 0
    /// Versions by event id, in order of first appearance.
    private(set) var versions: [String: [Version]] = [:]
    /// The id under which each link was written.
    private(set) var ids: [String: String] = [:]
    private let parser = JSONParser()

    struct Version {
        var version: NewsEvent.Version
        var headline: String
        var summary: String
        var link: String
        var status: NewsEvent.Status

        var isCanceled: Bool { status == .canceled }
        var bytes: [UInt8]
        var lane: String
    }

    /// - Parameter comparesSummary: true if another summary makes another version.
    /// - Returns: a broken promise; `nil` if all are kept.
    mutating func append(
        _ event: FeedEvent, lane: String, comparesSummary: Bool
    ) -> (FeedPromise, String)? {
        count += 1
        guard let (id, version) = read(event.value, lane: lane) else { return (.oneVersion, "an event cannot be read") }
        let before = versions[id] ?? []
        if let same = before.first(where: { $0.version == version.version }) {
            repeats += 1
            if same.bytes != event.value {
                return (.oneVersion, "version \(version.version) of \(id) has two contents")
            }
            return nil
        }
        if let last = before.last {
            updates += 1
            if version.version < last.version {
                return (.oneVersion, "version \(version.version) of \(id) came after \(last.version)")
            }
            if before.first?.lane == "backfill", version.lane != "backfill", !version.isCanceled {
                return (.oneVersion, "version \(version.version) of \(id) overtakes its alert on the backfill lane")
            }
            let isSame = last.headline == version.headline && (!comparesSummary || last.summary == version.summary)
            if isSame, last.status == version.status {
                return (.nothingTwice, "\(id) was written as \(last.version) and the same as \(version.version)")
            }
        }
        if let other = ids[version.link], other != id, !version.isCanceled {
            return (.nothingTwice, "\(version.link) was written as \(other) and as \(id)")
        }
        ids[version.link] = ids[version.link] ?? id
        versions[id] = before + [version]
        return nil
    }

    func read(_ bytes: [UInt8], lane: String) -> (id: String, Version)? {
        bytes.withUnsafeBufferPointer { buffer in
            guard let object = try? parser.object(in: buffer) else { return nil }
            var texts: [String: String] = [:]
            for member in object {
                if case .string(let text) = member.value {
                    texts[String(decoding: member.name, as: UTF8.self)] = String(decoding: text, as: UTF8.self)
                }
            }
            guard let id = texts["id"], let version = texts["version"] else { return nil }
            return (
                id,
                Version(
                    version: NewsEvent.Version(version), headline: texts["headline"] ?? "",
                    summary: texts["summary"] ?? "", link: texts["link"] ?? "",
                    status: texts["status"].flatMap(NewsEvent.Status.init) ?? .usable, bytes: bytes, lane: lane)
            )
        }
    }

    func versions(ofLink link: String) -> [Version] { ids[link].flatMap { versions[$0] } ?? [] }
}
