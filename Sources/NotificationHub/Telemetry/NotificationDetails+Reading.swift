import ByteText

extension NotificationDetails {
    /// Reads an answer, strictly where the format is documented: one well-formed document with this root, and whole
    /// numbers as counts. Skips unknown elements. An unknown state is `unknown`, and an unreadable time is `nil`.
    public init(parsing body: [UInt8]) throws(NotificationDetailsProblem) {
        guard body.count <= Self.readMax else { throw .tooLong }
        var reading = DetailsReading()
        var pieces = XMLPieces(body)
        while let piece = pieces.next() {
            switch piece {
            case .opening(let name): try reading.open(name)
            case .closing(let name): try reading.close(name)
            case .text(let text): try reading.take(text)
            }
        }
        guard pieces.isAtEnd, reading.isComplete else { throw reading.hasBegun ? .malformed : .notDetails }
        self = reading.details
    }
}

/// The part of the document that was read.
private struct DetailsReading {
    var details = NotificationDetails(state: .unknown)
    /// The names of the elements that are open.
    private var path: [String] = []
    /// The text of the innermost element, without its children's; `nil` if it is too long to be relevant.
    private var text: String? = ""
    private var outcome: (name: String?, count: Int64?) = (nil, nil)
    private var hasEnded = false

    private static let root = "NotificationDetails"
    private static let countsEnding = "OutcomeCounts"
    private static let depthMax = 8
    private static let platformsMax = 16
    private static let outcomesMax = 64
    private static let textLengthMax = 64
    private static let countMax: Int64 = 1_000_000_000_000

    var hasBegun: Bool { hasEnded || !path.isEmpty }
    var isComplete: Bool { hasEnded && path.isEmpty }

    mutating func open(_ name: String) throws(NotificationDetailsProblem) {
        if path.isEmpty {
            guard name == Self.root else { throw .notDetails }
            guard !hasEnded else { throw .malformed }
        }
        guard path.count < Self.depthMax else { throw .malformed }
        path.append(name)
        text = ""
        switch path.count {
        case 2 where name.hasSuffix(Self.countsEnding):
            let platform = name.dropLast(Self.countsEnding.count).asciiLowercased
            guard (1...16).contains(platform.utf8.count), platform.utf8.allSatisfy(\.isNameCharacter) else {
                throw .badOutcome
            }
            guard details.counts.count < Self.platformsMax,
                !details.counts.contains(where: { $0.platform == platform })
            else { throw .tooMany }
            details.counts.append(.init(platform: platform, outcomes: []))
        case 3 where isInCounts: outcome = (nil, nil)
        default: break
        }
    }

    private var isInCounts: Bool { path.count > 1 && path[1].hasSuffix(Self.countsEnding) }

    mutating func take(_ piece: String) throws(NotificationDetailsProblem) {
        guard !path.isEmpty else {
            // A byte order mark may precede the document.
            guard piece.unicodeScalars.allSatisfy({ $0.properties.isWhitespace || $0 == "\u{FEFF}" }) else {
                throw hasBegun ? .malformed : .notDetails
            }
            return
        }
        guard let before = text, before.utf8.count + piece.utf8.count <= Self.textLengthMax else {
            text = nil
            return
        }
        text = before + piece
    }

    mutating func close(_ name: String) throws(NotificationDetailsProblem) {
        guard path.last == name else { throw path.isEmpty && !hasEnded ? .notDetails : .malformed }
        let value = text.map { String($0.trimmed) }
        switch path.count {
        case 1: hasEnded = true
        case 2:
            switch name {
            case "State": details.state = value.map { .init(reading: $0) } ?? .unknown
            case "EnqueueTime": details.enqueuedAt = value.flatMap(Self.milliseconds)
            case "StartTime": details.startedAt = value.flatMap(Self.milliseconds)
            case "EndTime": details.endedAt = value.flatMap(Self.milliseconds)
            default: break
            }
        case 3 where isInCounts && name == "Outcome": try endOutcome()
        case 4 where isInCounts && name == "Name": outcome.name = value
        case 4 where isInCounts && name == "Count":
            // `Int64` would also accept a sign.
            guard let value, value.utf8.allSatisfy(\.isASCIIDigit), let count = Int64(value), count <= Self.countMax
            else { throw .badCount }
            outcome.count = count
        default: break
        }
        path.removeLast()
        text = ""
    }

    private mutating func endOutcome() throws(NotificationDetailsProblem) {
        guard let name = outcome.name, !name.isEmpty, name.utf8.allSatisfy(\.isNameCharacter) else { throw .badOutcome }
        guard let count = outcome.count else { throw .badCount }
        let last = details.counts.count - 1
        if let known = details.counts[last].outcomes.firstIndex(where: { $0.name == name }) {
            let sum = details.counts[last].outcomes[known].count + count
            details.counts[last].outcomes[known].count = min(sum, Self.countMax)
        } else {
            guard details.counts[last].outcomes.count < Self.outcomesMax else { throw .tooMany }
            details.counts[last].outcomes.append(.init(name: name, count: count))
        }
    }

    /// Reads an XML date and time, whose second may have a fraction of any length. Without a zone it is UTC.
    /// - Returns: `nil` for other text, and for times before 1970, because .NET writes a missing time as the year 1.
    private static func milliseconds(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = DigitReader(bytes)
            guard let year = reader.number(digits: 4), reader.skip("-"), let month = reader.number(digits: 2),
                reader.skip("-"), let day = reader.number(digits: 2), reader.skip("T"),
                let hour = reader.number(digits: 2), reader.skip(":"), let minute = reader.number(digits: 2),
                reader.skip(":"), let second = reader.number(digits: 2), let fraction = reader.fraction(),
                let offset = reader.isAtEnd ? 0 : reader.offset(), reader.isAtEnd,
                let date = CivilDate(year: year, month: month, day: day),
                let time = CivilTime(date, hour: hour, minute: minute, second: second)
            else { return nil }
            let milliseconds = (time.secondsSince1970 - Int64(offset) * 60) * 1000 + Int64(fraction) / 1_000_000
            return milliseconds >= 0 ? milliseconds : nil
        }
    }
}

extension UInt8 {
    fileprivate var isNameCharacter: Bool { isASCIILetter || isASCIIDigit }
}
