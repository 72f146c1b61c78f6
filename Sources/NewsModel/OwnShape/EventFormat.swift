/// The shape of one newsroom's documents: the records that have it, and the place of each member of an event.
public struct EventFormat: Hashable, Sendable {
    public let name: String
    let condition: Condition
    let members: [MappedMember]

    /// The records that have the shape. All parts must hold; without any part, every record has it.
    package struct Condition: Hashable, Sendable {
        package var topic: String?
        package var headers: [Header] = []
        package var member: JSONPointer?
        /// The texts that the member may have; if empty, any value but null.
        package var values: [String] = []

        package struct Header: Hashable, Sendable {
            package var name: String
            package var value: String

            package init(name: String, value: String) { (self.name, self.value) = (name, value) }
        }

        package init() {}
    }

    /// The topic whose records may have the shape; `nil` for all topics.
    package var topic: String? { condition.topic }

    /// True if every record has the shape, so that no later format is tried.
    package var hasEveryRecord: Bool { condition == Condition() }

    package init(name: String, condition: Condition, members: [MappedMember]) {
        self.name = name
        self.condition = condition
        // The status decides if errors of other members count, so it is read before them.
        self.members = members.sorted { $0.member.order < $1.member.order }
    }
}

/// A member of an event with its sources in the document.
package struct MappedMember: Hashable, Sendable {
    package var member: EventMember
    /// One source without a name, or those of the members of `data` and `headlines`.
    package var sources: [MemberSource]

    package init(_ member: EventMember, _ sources: [MemberSource]) {
        self.member = member
        self.sources = sources
    }
}

/// The members of `schemas/news-event.schema.json`, under their names there.
package enum EventMember: String, CaseIterable, Sendable {
    case id, status, headline, summary, category, categories, subjects, language, headlines, urgency, story, version
    case publishedAt, expiresAt, embargoUntil, link, image, environment, test, users, interests, data

    enum Shape { case text, texts, number, flag, time, object }

    var shape: Shape {
        switch self {
        case .id, .status, .headline, .summary, .category, .language, .story, .version, .link, .image, .environment:
            .text
        case .categories, .subjects, .users, .interests: .texts
        case .urgency: .number
        case .test: .flag
        case .publishedAt, .expiresAt, .embargoUntil: .time
        case .headlines, .data: .object
        }
    }

    /// True for a member whose own members can be mapped by name.
    package var isObject: Bool { shape == .object }

    package var isTime: Bool { shape == .time }

    /// True for the members that decide what an event recalls or withholds. Errors of others do not keep it from doing so.
    var countsForWithdrawals: Bool {
        switch self {
        case .id, .status, .story, .environment, .test: true
        default: false
        }
    }

    var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// One sentence about the member, for people who map it.
    package var summary: String {
        switch self {
        case .id: "The id, which stays the same in updates of the item."
        case .status: "usable, withheld or canceled."
        case .headline: "The headline. An event without one is undecodable."
        case .summary: "The summary."
        case .category: "The name of one category."
        case .categories: "Names of categories."
        case .subjects: "IPTC media topic codes."
        case .language: "The language, e.g. de-AT."
        case .headlines: "The headline in several languages, by language."
        case .urgency: "The urgency, 1 (most urgent) to 9."
        case .story: "The story, which orders and replaces its events; by default the id."
        case .version: "The version. Numbers and dates of one notation are ordered."
        case .publishedAt: "The time of publication."
        case .expiresAt: "The time after which the event is not sent."
        case .embargoUntil: "The time before which the event is not sent."
        case .link: "The address of the article."
        case .image: "The address of a picture."
        case .environment: "The environment that the event is for."
        case .test: "true for an event that only testers get."
        case .users: "The ids of the only readers who get the event."
        case .interests: "What readers may follow beside categories, as kind:id, e.g. team:bvb."
        case .data: "The sender's own values for the payload, by name."
        }
    }
}

/// The place of one value in a document, and its meaning.
package struct MemberSource: Hashable, Sendable {
    /// The name inside `data` or `headlines`; `nil` for a member as a whole.
    package var name: String?
    /// The pointers to try. The first one that finds a value that is not blank counts.
    package var pointers: [JSONPointer]
    /// The value that stands for each text of the document; `nil` takes the document's texts as they are.
    package var values: [String: String]?
    /// The value for a text that `values` does not have, and for an absent one.
    package var otherwise: String?
    package var unit: TimeUnit?

    /// The unit of a number that is a time since 1970.
    package enum TimeUnit: String, CaseIterable, Sendable {
        case seconds = "unix-seconds"
        case milliseconds = "unix-millis"
        case microseconds = "unix-micros"

        var perSecond: Double {
            switch self {
            case .seconds: 1
            case .milliseconds: 1e3
            case .microseconds: 1e6
            }
        }
    }

    package init(
        name: String? = nil, pointers: [JSONPointer], values: [String: String]? = nil, otherwise: String? = nil,
        unit: TimeUnit? = nil
    ) {
        self.name = name
        self.pointers = pointers
        self.values = values
        self.otherwise = otherwise
        self.unit = unit
    }

    /// The pointers for messages: `/teaser/title, /title`.
    var place: String { pointers.map(\.description).joined(separator: ", ") }
}

/// The shapes that a decoder knows beside the built-in ones.
public struct EventFormats: Hashable, Sendable {
    /// Tried in order, before the built-in formats.
    public var formats: [EventFormat]
    /// Records may begin with the five bytes of a schema registry.
    public var usesRegistry: Bool
    /// The interests that stand elsewhere in documents than in `interests`.
    public var interests: [InterestSource]

    public init(_ formats: [EventFormat] = [], usesRegistry: Bool = false, interests: [InterestSource] = []) {
        self.formats = formats
        self.usesRegistry = usesRegistry
        self.interests = interests
    }

    /// True if all documents have a built-in shape.
    var areBuiltIn: Bool { formats.isEmpty && !usesRegistry }
    var isEmpty: Bool { areBuiltIn && interests.isEmpty }
}

extension EventFormat {
    /// The categories that `values` and `else` give events, each with the member that gives it.
    package var fixedCategories: [(member: EventMember, name: String)] {
        members.filter { $0.member == .category || $0.member == .categories }.flatMap { mapped in
            mapped.sources.flatMap(\.fixedTexts).map { (mapped.member, $0) }
        }
    }
}

extension MemberSource {
    /// The values of `values` and `else`.
    fileprivate var fixedTexts: [String] {
        Set(values.map { Array($0.values) } ?? []).sorted() + (otherwise.map { [$0] } ?? [])
    }
}

extension MappedMember {
    /// The values of `values` and `else` that no event may have, each with the decoder's reason.
    package var impossibleValues: [(text: String, reason: String)] {
        sources.flatMap { source -> [(text: String, reason: String)] in
            // A time from a number is computed of each document's own value.
            guard source.unit == nil else { return [] }
            return source.fixedTexts.compactMap { text in refusal(of: text, name: source.name).map { (text, $0) } }
        }
    }

    private func refusal(of text: String, name: String?) -> String? {
        if member == .id { return "events would have the same id" }
        let fixed: [EventMember: String] = [.id: "an-id", .headline: "A headline"]
        let members =
            fixed.filter { $0.key != member }.map {
                MappedMember($0.key, [MemberSource(pointers: [], otherwise: $0.value)])
            }
            + [MappedMember(member, [MemberSource(name: name, pointers: [], otherwise: text)])]
        let format = EventFormat(name: "", condition: EventFormat.Condition(), members: members)
        let document = SourceRecord(offset: 0, timestamp: nil, key: nil, value: Array("{}".utf8))
        do throws(Undecodable) {
            _ = try NewsDecoder(formats: EventFormats([format])).decode(document)
            return nil
        } catch {
            return error.reason.rawValue
        }
    }
}
