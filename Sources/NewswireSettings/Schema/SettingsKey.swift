package import Backfill
import ByteText

/// The only definition of one key of the configuration. Reading, overriding, printing and the JSON Schema all use it.
package struct SettingsKey: Sendable {
    /// The path of the key, in which `*` stands for a name that the user chooses.
    package var pattern: SettingsPath
    package var kind: Kind
    /// The default, as it would be written in the file; `nil` without a default.
    package var fallback: String?
    var isRequired: Bool
    var isSecret: Bool
    /// One sentence for the person who edits the file.
    var summary: String

    init(
        _ path: String, _ kind: Kind, default fallback: String? = nil, required: Bool = false, secret: Bool = false,
        _ summary: String
    ) {
        pattern = SettingsPath(path)
        self.kind = kind
        self.fallback = fallback
        isRequired = required
        isSecret = secret
        self.summary = summary
    }

    static func at(_ path: SettingsPath) -> SettingsKey? {
        byShape[Shape(path)]?.first { path.matches($0.pattern) }
    }

    /// Groups that the file writes as a list. An item's path has its `name`, or its number if items have no names.
    static let lists: [SettingsPath] = ["ingest.feeds", "quiet", "events.formats"]

    /// True for lists whose items have names.
    static func hasNames(_ list: SettingsPath) -> Bool { at(list / "*" / "name") != nil }

    /// True for keys of a list's items. There may be thousands of items, so their defaults are not printed.
    var isInList: Bool { Self.lists.contains { $0.leads(to: pattern) } }
    var isItemName: Bool { isInList && pattern.parts.last == "name" }

    private struct Shape: Hashable {
        var section: String?
        var depth: Int

        init(_ path: SettingsPath) {
            section = path.parts.first
            depth = path.parts.count
        }
    }

    /// An index of keys, because a file with thousands of feeds looks up keys a hundred thousand times.
    private static let byShape = Dictionary(grouping: all) { Shape($0.pattern) }

    package indirect enum Kind: Sendable, Hashable {
        case text
        /// The flag `true` or `false`.
        case boolean
        /// The name of a Kafka topic.
        case topic
        /// An address as `host:port`.
        case address
        /// An address as `host:port`, or `off`.
        case listen
        case integer(ClosedRange<Int>)
        /// A whole number, or the word.
        case integerOr(String, ClosedRange<Int>)
        /// A duration with its lower and upper bound; `none` means "no limit" where it is allowed.
        case duration(ClosedRange<Duration>, orNone: Bool)
        /// A whole percentage; `none` means "switched off" where it is allowed.
        case percent(orNone: Bool)
        /// A number from 0 to 1, kept in millionths.
        case share
        case size(ClosedRange<Int>)
        case choice([String])
        /// An amount in US dollars, such as 2.50.
        case money
        /// Pairs of a number of millions (`null` for the rest) and an amount: `[[100, 10.00], [null, 2.50]]`.
        case priceSteps
        /// YAML of any shape, or a text.
        case tree
        /// A JSON Pointer, a list of them, or keys around them; see `FormatReading`.
        case eventMap
        case list(Kind)
    }
}

extension SettingsKey.Kind {
    package enum Value: Hashable, Sendable {
        case text(String)
        case boolean(Bool)
        case integer(Int)
        case duration(Duration)
        case address(NetworkAddress)
        case money(Money)
        case priceSteps([PushPrices.Step])
        /// The word for "no limit", "off" or "choose for me".
        case word
    }

    package enum Misfit: Error, Hashable {
        case notUnderstood
        case outOfRange
    }

    /// Reads one value; for a list, one of its items.
    package func parse(_ text: String) -> Result<Value, Misfit> {
        switch self {
        case .text, .tree, .eventMap: text.isEmpty ? .failure(.notUnderstood) : .success(.text(text))
        case .boolean: Bool(text).map { .success(.boolean($0)) } ?? .failure(.notUnderstood)
        case .topic: SettingsValue.isTopic(text) ? .success(.text(text)) : .failure(.notUnderstood)
        case .address:
            switch NetworkAddress(text) {
            case let address? where address.port > 0: .success(.address(address))
            case .some: .failure(.outOfRange)
            case nil: .failure(.notUnderstood)
            }
        case .listen:
            text == "off"
                ? .success(.word) : NetworkAddress(text).map { .success(.address($0)) } ?? .failure(.notUnderstood)
        case .integer(let range): Self.integer(Int(digits: text), in: range)
        case .integerOr(let word, let range):
            text == word ? .success(.word) : Self.integer(Int(digits: text), in: range)
        case .duration(let range, let orNone):
            switch SettingsValue.duration(text) {
            case _ where orNone && text == "none": .success(.word)
            case let duration?: range.contains(duration) ? .success(.duration(duration)) : .failure(.outOfRange)
            case nil: .failure(.notUnderstood)
            }
        case .percent(let orNone):
            orNone && text == "none" ? .success(.word) : Self.integer(SettingsValue.percent(text), in: 0...100)
        case .share: Self.integer(SettingsValue.millionths(text), in: 0...1_000_000)
        case .size(let range): Self.integer(SettingsValue.size(text), in: range)
        case .choice(let words): words.contains(text) ? .success(.text(text)) : .failure(.notUnderstood)
        case .money: Money(parsing: text).map { .success(.money($0)) } ?? .failure(.notUnderstood)
        case .priceSteps: PushPrices.steps(text).map { .success(.priceSteps($0)) } ?? .failure(.notUnderstood)
        case .list(let item): item.parse(text)
        }
    }

    private static func integer(_ value: Int?, in range: ClosedRange<Int>) -> Result<Value, Misfit> {
        guard let value else { return .failure(.notUnderstood) }
        return range.contains(value) ? .success(.integer(value)) : .failure(.outOfRange)
    }

    /// The text that completes the instruction "write …".
    var expectation: String {
        switch self {
        case .text: "some text"
        case .boolean: "true or false"
        case .topic: "a topic name: at most 249 letters, digits, '.', '_' or '-'"
        case .address: "host:port, e.g. 127.0.0.1:9092"
        case .listen: "host:port, e.g. 127.0.0.1:9464, or off"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .integerOr(let word, let range):
            "\(word), or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range, let orNone):
            "a time from \(SettingsValue.text(range.lowerBound)) to \(SettingsValue.text(range.upperBound)), e.g. 30s or 15m"
                + (orNone ? ", or none" : "")
        case .percent(let orNone): "a whole percentage from 0% to 100%, e.g. 10%" + (orNone ? ", or none" : "")
        case .share: "a number from 0 to 1, e.g. 0.01"
        case .size(let range):
            "a size from \(SettingsValue.text(bytes: range.lowerBound)) to \(SettingsValue.text(bytes: range.upperBound)), e.g. 16MiB"
        case .choice(let words):
            words.count == 2 ? words.joined(separator: " or ") : "one of " + words.joined(separator: ", ")
        case .money: "an amount in US dollars, e.g. 2.50"
        case .priceSteps: "pairs with ascending millions, the last one for the rest, e.g. [[100, 10.00], [null, 2.50]]"
        case .tree: "its members, or a text"
        case .eventMap: "a JSON Pointer such as /teaser/title, a list of them, or {from: …, values: …, else: …, as: …}"
        case .list(let item): "a list, each item " + item.expectation
        }
    }
}

/// The path to one setting, e.g. `lanes` → `live` → `maxAge`. In a pattern, `*` stands for a name that the user chooses.
package struct SettingsPath: Hashable, Sendable, CustomStringConvertible {
    package var parts: [String]

    init(_ parts: [String]) { self.parts = parts }

    /// Creates a path from a text such as `hub.connections`.
    package init(_ text: String) { parts = text.split(separator: ".").map(String.init) }

    static let root = SettingsPath([])

    package var description: String { parts.joined(separator: ".") }

    static func / (path: SettingsPath, part: String) -> SettingsPath { SettingsPath(path.parts + [part]) }

    func matches(_ pattern: SettingsPath) -> Bool {
        parts.count == pattern.parts.count && zip(parts, pattern.parts).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// True if the path is the beginning of the pattern, and shorter.
    func leads(to pattern: SettingsPath) -> Bool {
        parts.count < pattern.parts.count && zip(parts, pattern.parts).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// The environment variable that overrides it: `rate.perSecond` is `NEWSWIRE_RATE_PER_SECOND`.
    var environmentName: String { "NEWSWIRE_" + parts.map(Self.upperSnake).joined(separator: "_") }

    private static func upperSnake(_ part: String) -> String {
        let isOneWord = !part.contains(where: \.isLowercase)
        var name = ""
        for character in part {
            if character.isUppercase, !isOneWord, !name.isEmpty { name.append("_") }
            name += character.isLetter || character.isNumber ? character.uppercased() : "_"
        }
        return name
    }
}

extension SettingsPath: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}
