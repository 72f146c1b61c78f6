/// The blobs that jobs read and write, in memory. A full store accepts no blobs until clients delete some.
struct BlobStore: Sendable {
    static let blobLengthMax = 32 * 1024 * 1024
    static let bytesMax = 128 * 1024 * 1024
    static let countMax = 1000
    static let nameLengthMax = 1024

    struct Blob: Sendable {
        var bytes: [UInt8]
        var contentType: String
        var modified: HubTime
        /// A number that changes with each write.
        var version: Int
    }

    private var blobs: [String: Blob] = [:]
    private var bytesHeld = 0
    private var versions = 0

    subscript(name: String) -> Blob? { blobs[name] }

    /// All blobs, ordered by name.
    var all: [(name: String, blob: Blob)] { blobs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    /// False for a name with characters that an XML list cannot contain.
    static func accepts(_ name: String) -> Bool {
        !name.unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.isNoncharacterCodePoint
        }
    }

    /// - Returns: false if there is no room.
    mutating func put(_ bytes: [UInt8], contentType: String, as name: String, at now: HubTime) -> Bool {
        let freed = blobs[name]?.bytes.count ?? 0
        guard bytes.count <= Self.blobLengthMax, bytesHeld - freed + bytes.count <= Self.bytesMax,
            blobs[name] != nil || blobs.count < Self.countMax, name.utf8.count <= Self.nameLengthMax
        else { return false }
        versions += 1
        bytesHeld += bytes.count - freed
        blobs[name] = Blob(bytes: bytes, contentType: contentType, modified: now, version: versions)
        return true
    }

    mutating func remove(_ name: String) {
        bytesHeld -= blobs.removeValue(forKey: name)?.bytes.count ?? 0
    }
}
