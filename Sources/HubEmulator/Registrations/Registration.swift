import ByteText
import NotificationHub

/// One device's registration, either native or with a template.
struct Registration: Sendable {
    /// Further values that a few platforms need.
    struct Extras: Sendable, Hashable {
        var secondaryTile: String?
        /// The keys of a browser's subscription.
        var p256dh: String?
        var auth: String?
        /// The user's id. Baidu addresses a device by two ids; the handle is the channel's.
        var baiduUserID: String?
        var baiduMessageType: String?
    }

    /// Keeps the extras out of line, because few of a million registrations have any.
    private final class Box: Sendable {
        let extras: Extras

        init(_ extras: Extras) { self.extras = extras }
    }

    private var box: Box?

    var id: RegistrationID
    var platform: Platform
    /// The device's address on its platform.
    var handle: String
    /// The tags as the client wrote them, in its order.
    var tags: [String] = []
    var template: Template?
    var variables: [TemplateProperty] = []
    var etag: UInt32 = 1
    var expires = HubTime.never
    /// The installation from which the registration was derived.
    var installation: String?

    init(id: RegistrationID, platform: Platform, handle: String) {
        (self.id, self.platform, self.handle) = (id, platform, handle)
    }

    var extras: Extras? {
        get { box?.extras }
        set { box = newValue.map(Box.init) }
    }

    /// The template's name. Registrations of one handle with equal names would show the same notification.
    var templateName: String? { template?.source.name }
}

/// `{number}-{number}-{shard}`, for example `2582603058510987091-6288692135058353266-3`.
struct RegistrationID: Hashable, Sendable, CustomStringConvertible {
    var first: UInt64
    var second: UInt64
    var shard: UInt16

    init(first: UInt64, second: UInt64, shard: UInt16) {
        (self.first, self.second, self.shard) = (first, second, shard)
    }

    init(using random: inout SeededRandom) {
        self.init(first: random.next() >> 1, second: random.next() >> 1, shard: UInt16(1 + random.next() % 8))
    }

    /// The id of a registration derived from an installation, which depends only on the installation and the template.
    init(of installation: String, template: String?) {
        // FNV-1a spreads ids well enough and gives the same result in every process.
        var (first, second): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
        for byte in (installation + "\n" + (template ?? "")).utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01B3
            second = (second ^ UInt64(byte)) &* 0x100_0000_01B3 &+ first
        }
        self.init(first: first >> 1, second: second >> 1, shard: template == nil ? 1 : 2)
    }

    /// Parses an id. Clients may choose their own ids in this form. Signs and leading zeros are refused.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let first = UInt64(parts[0]), let second = UInt64(parts[1]),
            let shard = UInt16(parts[2])
        else { return nil }
        self.init(first: first, second: second, shard: shard)
        guard description == text else { return nil }
    }

    var description: String { "\(first)-\(second)-\(shard)" }
}

/// The rules for tags that a client puts on a registration or an installation.
enum TagRules {
    /// Reads a comma-separated list; white space around each tag is ignored.
    static func split(_ text: String?, max: Int) throws(Refusal) -> [String] {
        guard let text, !text.trimmed.isEmpty else { return [] }
        return try check(text.split(separator: ",").map { String($0.trimmed) }.filter { !$0.isEmpty }, max: max)
    }

    /// Returns the tags without repeats. Letter case does not distinguish tags.
    static func check(_ tags: [String], max: Int) throws(Refusal) -> [String] {
        var seen: Set<Tag> = []
        var kept: [String] = []
        for text in tags {
            guard !text.hasPrefix("$") else { throw .badRequest("tags cannot start with $") }
            let tag: Tag
            do { tag = try Tag(text) } catch { throw .badRequest("Invalid tag '\(text.prefix(120))': \(error)") }
            if seen.insert(tag).inserted { kept.append(text) }
        }
        guard kept.count <= max else { throw .badRequest("There are more than \(max) tags") }
        return kept
    }
}
