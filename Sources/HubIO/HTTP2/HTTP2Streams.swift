internal import NotificationHub

/// One reply, as its frames arrive.
struct StreamReply: FieldReceiver {
    private enum Phase { case head, body, trailers }

    private let headerListMax: Int
    private let bodyMax: Int
    private var phase = Phase.head
    private(set) var head = ReplyHead()
    /// The size of the header lists until now; see `HTTP2LocalSettings.headerListMax`.
    private var listBytes = 0
    /// The first fault in the fields of the present block. The rest of the block is decoded, but not read.
    private var malformation: Malformation?
    private var hasField = false
    /// The bytes of DATA frames until now, with their padding.
    var dataBytes = 0

    init(_ settings: HTTP2LocalSettings) {
        headerListMax = settings.headerListMax
        bodyMax = settings.bodyMax
    }

    /// Prepares for another stream. Mutates in place, as `ReplyHead.reset` does.
    mutating func reset() {
        phase = .head
        head.reset()
        listBytes = 0
        malformation = nil
        hasField = false
        dataBytes = 0
    }

    /// Takes the reply and releases its memory.
    mutating func takeReply() -> HubReply {
        let reply = head.reply.hubReply
        head.reset()
        return reply
    }

    // MARK: Fields

    mutating func beginBlock() {
        if phase == .body { phase = .trailers }
    }

    mutating func receive(name: Span<UInt8>, value: Span<UInt8>) {
        guard malformation == nil else { return }
        listBytes += name.count + value.count + 32
        do throws(Malformation) {
            guard listBytes <= headerListMax else { throw .headTooLong }
            try read(name, value)
        } catch {
            malformation = error
        }
    }

    private mutating func read(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(Malformation) {
        if !name.isEmpty, name[0] == UInt8(ascii: ":") { return try readStatus(name, value) }
        guard phase == .trailers || head.reply.known.status > 0 else { throw .badPseudoField }
        hasField = true
        // A value must not begin or end with a space: RFC 9113 §8.2.1.
        guard value.isFieldContent, value.isEmpty || !value[0].isSpaceOrTab && !value[value.count - 1].isSpaceOrTab
        else {
            throw .badField
        }
        guard let field = ReplyHead.Field(name: name) else {
            guard name.isLowerCaseToken else { throw .badField }
            guard !name.isConnectionFieldName else { throw .connectionField }
            return
        }
        guard name.isInLowerCase else { throw .badField }
        guard field != .connection, field != .transferEncoding else { throw .connectionField }
        if phase == .head { try head.read(field, value) }
    }

    /// Reads `:status`, the only pseudo-header field of a reply. RFC 9113 §8.3.2.
    private mutating func readStatus(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(Malformation) {
        let word = name.extracting(1...)
        guard phase == .head, head.reply.known.status == 0, !hasField, word.equals("status"), word.isInLowerCase
        else { throw .badPseudoField }
        guard value.count == 3, let hundreds = value[0].digitValue, let tens = value[1].digitValue,
            let ones = value[2].digitValue, (1...5).contains(hundreds)
        else { throw .badPseudoField }
        head.reply.known.status = hundreds * 100 + tens * 10 + ones
    }

    /// Ends a block of fields.
    /// - Returns: true if the reply is complete.
    mutating func endBlock(endsStream: Bool) throws(Malformation) -> Bool {
        if let malformation { throw malformation }
        if phase == .trailers {
            guard endsStream else { throw .badEnd }
            return try end()
        }
        let status = head.reply.known.status
        guard status > 0 else { throw .badPseudoField }
        guard status != 101 else { throw .protocolSwitch }
        if status < 200 {
            // The reply follows an interim one such as 100 Continue.
            guard !endsStream else { throw .badEnd }
            head.reset()
            hasField = false
            return false
        }
        head.endFields()
        phase = .body
        if endsStream { return try end() }
        if let length = bodyLength, length > bodyMax { throw .bodyTooLong }
        return false
    }

    // MARK: Body

    /// Appends the data of one frame, without its padding.
    /// - Returns: true if the reply is complete.
    mutating func append(_ data: Span<UInt8>, endsStream: Bool) throws(Malformation) -> Bool {
        guard phase == .body else { throw .bodyOutOfPlace }
        if !data.isEmpty {
            guard !isBodiless else { throw .bodyOutOfPlace }
            let count = head.reply.body.count + data.count
            guard count <= bodyMax else { throw .bodyTooLong }
            if let length = bodyLength, count > length { throw .lengthMismatch }
            head.reply.body.append(copying: data)
        }
        return endsStream ? try end() : false
    }

    private func end() throws(Malformation) -> Bool {
        if let length = bodyLength, length != head.reply.body.count { throw .lengthMismatch }
        return true
    }

    private var isBodiless: Bool { [204, 304].contains(head.reply.known.status) }

    /// `Content-Length`, unless the status has no body.
    private var bodyLength: Int? { isBodiless ? nil : head.contentLength }
}

extension Span<UInt8> {
    /// Contains only token characters except capital letters, at least one. RFC 9113 §8.2.1.
    fileprivate var isLowerCaseToken: Bool {
        for index in indices where !self[index].isTokenCharacter || (0x41...0x5A).contains(self[index]) {
            return false
        }
        return !isEmpty
    }

    /// True for the fields of RFC 9113 §8.2.2 that `ReplyHead` does not read. The name must be a token.
    fileprivate var isConnectionFieldName: Bool {
        switch count {
        case 7: equals("upgrade")
        case 10: equals("keep-alive")
        case 16: equals("proxy-connection")
        default: false
        }
    }
}

/// The open streams of a connection.
///
/// A stream has its home in the slot that its id determines. Ids grow, so that homes are nearly always free. A stream
/// whose home is taken, because an older stream is still open, lives in any free slot.
struct StreamTable {
    /// The streams' ids; 0 for a free slot. The count is a power of two.
    private var ids: [UInt32]
    /// Indexed by slot. Memory is reused.
    var replies: [StreamReply]
    private let settings: HTTP2LocalSettings
    private(set) var count = 0
    /// The number of streams that are not in their homes.
    private var displacedCount = 0

    init(settings: HTTP2LocalSettings, slots: Int = 128) {
        self.settings = settings
        ids = Array(repeating: 0, count: slots)
        replies = Array(repeating: StreamReply(settings), count: slots)
    }

    /// The slot of an open stream.
    func slot(of stream: UInt32) -> Int? {
        let home = home(of: stream)
        if ids[home] == stream { return home }
        return displacedCount > 0 ? ids.firstIndex(of: stream) : nil
    }

    mutating func insert(_ stream: UInt32) {
        if count == ids.count { grow() }
        var slot = home(of: stream)
        if ids[slot] != 0 {
            guard let free = ids.firstIndex(of: 0) else { preconditionFailure("a table that is not full has a slot") }
            slot = free
            displacedCount += 1
        }
        ids[slot] = stream
        replies[slot].reset()
        count += 1
    }

    /// Frees the slot. Its reply keeps its value until the slot is used again.
    mutating func remove(slot: Int) {
        if slot != home(of: ids[slot]) { displacedCount -= 1 }
        ids[slot] = 0
        count -= 1
    }

    private func home(of stream: UInt32) -> Int { Int(stream >> 1) & (ids.count - 1) }

    private mutating func grow() {
        let old = (ids: ids, replies: replies)
        self = Self(settings: settings, slots: old.ids.count * 2)
        for (stream, reply) in zip(old.ids, old.replies) {
            insert(stream)
            if let slot = slot(of: stream) { replies[slot] = reply }
        }
    }
}
