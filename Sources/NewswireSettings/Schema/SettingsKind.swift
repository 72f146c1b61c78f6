extension SettingsKey.Kind {
    /// A value understood.
    enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int)
        case duration(Duration)
        case address(NetworkAddress)
        /// The word that stands for "no limit", "off" or "choose for me".
        case word
    }

    enum Misfit: Error, Hashable {
        case notUnderstood
        case outOfRange
    }

    /// Reads one value; for a list, one of its items.
    func parse(_ text: String) -> Result<Value, Misfit> {
        switch self {
        case .text: text.isEmpty ? .failure(.notUnderstood) : .success(.text(text))
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
        case .integer(let range): Self.integer(SettingsValue.integer(text), in: range)
        case .integerOr(let word, let range):
            text == word ? .success(.word) : Self.integer(SettingsValue.integer(text), in: range)
        case .duration(let range, let orNone):
            switch SettingsValue.duration(text) {
            case _ where orNone && text == "none": .success(.word)
            case let duration?: range.contains(duration) ? .success(.duration(duration)) : .failure(.outOfRange)
            case nil: .failure(.notUnderstood)
            }
        case .percent(let orNone):
            orNone && text == "none" ? .success(.word) : Self.integer(SettingsValue.percent(text), in: 0...100)
        case .size(let range): Self.integer(SettingsValue.size(text), in: range)
        case .choice(let words): words.contains(text) ? .success(.text(text)) : .failure(.notUnderstood)
        case .list(let item): item.parse(text)
        }
    }

    private static func integer(_ value: Int?, in range: ClosedRange<Int>) -> Result<Value, Misfit> {
        guard let value else { return .failure(.notUnderstood) }
        return range.contains(value) ? .success(.integer(value)) : .failure(.outOfRange)
    }

    /// What to write, as the end of "write …".
    var expectation: String {
        switch self {
        case .text: "some text"
        case .topic: "a topic name: at most 249 letters, digits, '.', '_' or '-'"
        case .address: "host:port, e.g. 127.0.0.1:9092"
        case .listen: "host:port, e.g. 127.0.0.1:9464, or off"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .integerOr(let word, let range):
            "\(word), or a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range, let orNone):
            "a time from \(Self.name(range.lowerBound)) to \(Self.name(range.upperBound)), e.g. 30s or 15m"
                + (orNone ? ", or none" : "")
        case .percent(let orNone): "a whole percentage, e.g. 10%" + (orNone ? ", or none" : "")
        case .size(let range):
            "a size from \(range.lowerBound / 1024)KiB to \(range.upperBound / 1_048_576)MiB, e.g. 16MiB"
        case .choice(let words):
            words.count == 2 ? words.joined(separator: " or ") : "one of " + words.joined(separator: ", ")
        case .list(let item): "a list, each item " + item.expectation
        }
    }

    private static func name(_ duration: Duration) -> String {
        let milliseconds = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        return switch milliseconds {
        case let value where value % 86_400_000 == 0: "\(value / 86_400_000)d"
        case let value where value % 3_600_000 == 0: "\(value / 3_600_000)h"
        case let value where value % 60_000 == 0: "\(value / 60_000)m"
        case let value where value % 1000 == 0: "\(value / 1000)s"
        default: "\(milliseconds)ms"
        }
    }
}
