import ByteText

/// The source of a feed's pushes: the hub to ask, and the name of the feed there.
public struct PushSource: Sendable, Hashable {
    /// The address of the hub.
    public var hub: String
    /// The feed's own address (`rel=self`), which may differ from the fetched one.
    public var topic: String

    public init(hub: String, topic: String) {
        self.hub = hub
        self.topic = topic
    }

    /// The hub's address for logs and status, which anyone may read.
    var shownHub: String { WebAddress(hub)?.shown ?? "the hub" }

    /// Reads an answer's source, W3C WebSub §4, from its `Link` headers, or from its document if these have no hub.
    ///
    /// If no topic is named, the topic is the address of the answer, because old hubs serve feeds without `rel=self`.
    /// - Returns: `nil` if no hub with an http or https address is named.
    public init?(_ answer: FetchAnswer) {
        var document = HubLinks()
        if case .feed(let feed) = answer.document { document = HubLinks(hubs: feed.hubs, selfLink: feed.selfLink) }
        self.init(
            headers: answer.headers.filter { $0.name == "link" }.map(\.value), document: document,
            address: answer.finalURL)
    }

    /// - Parameters:
    ///   - headers: the values of the answer's `Link` headers, in order.
    ///   - document: the links in the document.
    ///   - address: the address of the answer, after redirects.
    public init?(headers: [String], document: HubLinks, address: String) {
        let header = HubLinks(headers: headers, base: address)
        guard let hub = header.preferredHub ?? document.preferredHub else { return nil }
        let selfLink = header.preferredHub == nil ? document.selfLink : header.selfLink ?? document.selfLink
        let topic = selfLink.flatMap { HubLinks.isWebAddress($0) ? $0 : nil } ?? address
        self.init(hub: hub, topic: topic)
    }
}

/// The WebSub links of one place: of the headers or of the document.
public struct HubLinks: Sendable, Hashable {
    /// Hubs in order of appearance.
    public var hubs: [String]
    public var selfLink: String?

    public init(hubs: [String] = [], selfLink: String? = nil) {
        self.hubs = hubs
        self.selfLink = selfLink
    }

    /// - Parameters:
    ///   - headers: the values of `Link` headers, RFC 8288 §3. A malformed link ends the reading of its header.
    ///   - base: the address of the answer.
    public init(headers: [String], base: String) {
        self.init()
        for header in headers.prefix(Self.headersMax) {
            var reader = LinkHeaderReader(header)
            while let link = reader.next() { add(link.target, relations: link.relations, base: base) }
        }
    }

    private static let headersMax = 20
    private static let hubsMax = 10
    /// Maximum bytes of an address.
    private static let addressMax = 2_048

    mutating func add(_ reference: String, relations: String?, base: String) {
        guard let target = WebAddress.resolve(reference, base: base), Self.isWebAddress(target) else { return }
        if LinkRelation.hub.isNamed(by: relations), hubs.count < Self.hubsMax { hubs.append(target) }
        if LinkRelation.itself.isNamed(by: relations) { selfLink = selfLink ?? target }
    }

    /// The first hub with https, or else the first hub.
    var preferredHub: String? {
        let usable = hubs.filter(Self.isWebAddress)
        return usable.first { $0.hasPrefixIgnoringASCIICase("https://") } ?? usable.first
    }

    static func isWebAddress(_ text: String) -> Bool {
        (text.hasPrefixIgnoringASCIICase("https://") || text.hasPrefixIgnoringASCIICase("http://"))
            && text.utf8.count <= addressMax && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// Reads the links of one `Link` header, one after another.
private struct LinkHeaderReader {
    private var rest: Substring.UTF8View

    init(_ header: String) {
        rest = header.cut(toBytes: 8_192)[...].utf8
    }

    /// - Returns: `nil` at the end of the header, or where no well-formed link begins.
    mutating func next() -> (target: String, relations: String?)? {
        skip { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
        guard take("<"), let target = text(upTo: ">") else { return nil }
        var relations: String?
        while true {
            skip(Self.isBlank)
            guard take(";") else { break }
            skip(Self.isBlank)
            let name = token()
            skip(Self.isBlank)
            guard take("=") else { continue }
            skip(Self.isBlank)
            let value = take("\"") ? quoted() : token()
            // The first `rel` counts, RFC 8288 §3.3.
            if relations == nil, name.equalsIgnoringASCIICase("rel") { relations = value }
        }
        return (target, relations)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: scalar) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads the text before `end`, and skips `end`.
    private mutating func text(upTo end: Unicode.Scalar) -> String? {
        guard let index = rest.firstIndex(of: UInt8(ascii: end)) else { return nil }
        defer { rest = rest[index...].dropFirst() }
        return String(Substring(rest[..<index]))
    }

    private mutating func token() -> String {
        let token = rest.prefix { !Self.isBlank($0) && !",;=\"".utf8.contains($0) }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    /// Reads the rest of a quoted text after its opening quote. A missing closing quote ends the header.
    private mutating func quoted() -> String {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") {
                if let escaped = rest.popFirst() { bytes.append(escaped) }
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
