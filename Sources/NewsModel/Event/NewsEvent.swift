import ByteText

/// One news item, read from any document format (`news-event`, ninjs, either inside a CloudEvent).
public struct NewsEvent: Sendable, Hashable {
    public var id: String
    public var headline: String
    /// Category names as the sender wrote them; compared without case.
    public var categories: [String]
    /// IPTC media topic codes in the form `medtop:11000000`; codes that were not recognised are kept as the sender
    /// wrote them.
    public var subjects: [String]
    public var summary: String?
    /// The language in BCP 47, e.g. `en`, `de-AT`.
    public var language: String?
    /// The urgency from 1 (most urgent) to 9.
    public var urgency: Int?
    /// Events with the same story leave in order and replace one another on the phone. The default is the id.
    public var story: String?
    public var status: Status
    public var version: Version?
    public var publishedAt: Instant?
    public var expiresAt: Instant?
    public var embargoUntil: Instant?
    public var link: String?
    public var image: String?
    /// The target environment, e.g. `production`; `nil` if the event names none.
    public var environment: String?
    /// True for an event that only testers get.
    public var isTest: Bool
    /// The ids of the only readers that get the event; empty if it is for the readers of its categories.
    public var users: [String]
    /// The sender's own values for the payload, in the document's order; names are unique.
    public var data: [DataField]
    /// The headline in several languages, in the document's order; each language once. Readers of other languages get
    /// `headline`.
    public var headlines: [Headline] = []
    /// The things that the event is about, beside its categories, for readers who follow them: `kind:id`, e.g. `team:bvb`.
    public var interests: [String] = []

    /// The key that orders events: the story, else the id. Tests have their own keys, so that a rehearsal cannot
    /// supersede, recall or replace the real story.
    public var orderKey: String { isTest ? Self.testPrefix + (story ?? id) : story ?? id }

    /// The story in results; a test has its own.
    public var resultStory: String? { isTest ? orderKey : story }

    /// The version on the ledger. A test differs from its real event, even after a restart.
    public var ledgerVersion: String? { isTest ? Self.testPrefix + (version?.text ?? "") : version?.text }

    /// Extracts the version from an event's `ledgerVersion`; `nil` without a version.
    public static func version(ofLedger text: String) -> Version? {
        let version = text.hasPrefix(testPrefix) ? String(text.dropFirst(testPrefix.count)) : text
        return version.isEmpty ? nil : Version(version)
    }

    /// Extracts the story from the key of a test; `nil` for other keys.
    package static func story(ofTestKey key: String) -> String? {
        key.hasPrefix(testPrefix) ? String(key.dropFirst(testPrefix.count)) : nil
    }

    fileprivate static let testPrefix = "test:"

    /// The publication status, IPTC `pubStatus`.
    public enum Status: String, Codable, Sendable, Hashable {
        case usable
        /// The event must not be published.
        case withheld
        /// Recalls everything sent under the same story.
        case canceled
    }

    public struct DataField: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public struct Headline: Sendable, Hashable {
        /// The language as the sender wrote it, e.g. `fr-CA`; an invalid `LanguageTag` matches no reader.
        public var language: String
        public var text: String

        public init(language: String, text: String) {
            self.language = language
            self.text = text
        }
    }

    /// A version as text. Numbers compare as numbers, then come dates and times of RFC 3339, which compare as times, then other texts.
    public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
        public var text: String

        public init(_ text: String) { self.text = text }

        public static func < (lhs: Version, rhs: Version) -> Bool {
            if let left = Int64(lhs.text), let right = Int64(rhs.text) { return left < right }
            switch (lhs.number, rhs.number) {
            case (let left?, let right?): return left < right
            case (nil, nil): break
            case (let left, _): return left != nil
            }
            return switch (lhs.time, rhs.time) {
            case (let left?, let right?) where left != right: left < right
            case (nil, nil), (_?, _?): lhs.text < rhs.text
            case (let left, _): left != nil
            }
        }

        /// The time of an RFC 3339 text, or the beginning of a day such as `2026-11-30`; `nil` for other texts.
        package var time: Instant? { Instant(rfc3339: text) ?? Instant(rfc3339: text + "T00:00:00Z") }

        /// The value of a decimal number such as `1.5`; `nil` for other texts.
        package var number: Double? {
            text.utf8.allSatisfy { $0.isASCIIDigit || ".-".utf8.contains($0) } ? Double(text) : nil
        }

        public var description: String { text }
    }
}

extension NewsEvent {
    /// Returns true if the other event is for all single readers of this one, in any order, or if both are for all readers.
    package func hasReaders(among other: borrowing NewsEvent) -> Bool {
        users.isEmpty ? other.users.isEmpty : Set(users).isSubset(of: other.users)
    }

    /// Calls the memberwise initializer, which has another parameter order. Assigning the properties one by one would
    /// copy the whole event.
    public init(
        id: String, headline: String, categories: [String] = [], subjects: [String] = [], summary: String? = nil,
        language: String? = nil, urgency: Int? = nil, story: String? = nil, version: Version? = nil,
        status: Status = .usable, publishedAt: Instant? = nil, expiresAt: Instant? = nil, embargoUntil: Instant? = nil,
        link: String? = nil, image: String? = nil, environment: String? = nil, isTest: Bool = false,
        users: [String] = [], data: [DataField] = [], headlines: [Headline] = [], interests: [String] = []
    ) {
        self.init(
            id: id, headline: headline, categories: categories, subjects: subjects, summary: summary,
            language: language, urgency: urgency, story: story, status: status, version: version,
            publishedAt: publishedAt, expiresAt: expiresAt, embargoUntil: embargoUntil, link: link, image: image,
            environment: environment, isTest: isTest, users: users, data: data, headlines: headlines,
            interests: interests)
    }
}

/// The limits of an event. Sizes are in bytes of UTF-8, so that memory per event is bounded.
///
/// The hub accepts 4 KiB per notification, so these limits do not affect real news.
public enum EventLimits {
    /// The size of the whole record value.
    public static let document = 1 << 20
    /// The depth of nested arrays and objects.
    public static let depth = 64
    public static let id = 512
    public static let headline = 4_096
    public static let summary = 16_384
    public static let story = 512
    /// `NewsEvent.orderKey`: that of a test is longer than its story.
    public static let orderKey = story + NewsEvent.testPrefix.utf8.count
    public static let version = 64
    public static let language = 64
    public static let environment = 64
    /// Members of `users`, as many as a hub's tag expression can join.
    public static let users = 20
    /// The length of one user id.
    public static let user = 256
    /// Members of `interests`, and those that `from` finds in the document.
    public static let interests = 128
    /// The bytes kept of one member of `interests`. A tag is shorter.
    public static let interest = 256
    /// The members of `headlines`.
    public static let headlines = 64
    /// The length of `link` and `image`.
    public static let address = 4_096
    /// One category name or subject code.
    public static let category = 256
    /// Members of `categories`, and of `subjects`.
    public static let categories = 128
    /// The members of `data`.
    public static let dataFields = 64
    /// One name in `data`.
    public static let dataName = 128
    /// One value in `data`.
    public static let dataValue = 4_096
}
