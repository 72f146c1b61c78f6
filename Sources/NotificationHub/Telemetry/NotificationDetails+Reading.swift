import ByteText

extension NotificationDetails {
    private static let countsEnding = "OutcomeCounts"
    private static let platformsMax = 16
    private static let outcomesMax = 64
    private static let countMax: Int64 = 1_000_000_000_000

    /// Reads an answer, strictly where the format is documented: one well-formed document with this root, and whole
    /// numbers as counts. Skips unknown elements. An unknown state is `unknown`, and an unreadable time is `nil`.
    public init(parsing body: [UInt8]) throws(NotificationDetailsProblem) {
        guard body.count <= Self.readMax else { throw .tooLong }
        guard let root = try? XMLReader.read(body) else { throw .malformed }
        guard root.localName == "NotificationDetails", !root.children.isEmpty else { throw .notDetails }
        let time = { (name: String) in root.child(name).flatMap { Self.milliseconds($0.text.trimmed) } }
        self.init(
            state: root.child("State").map { State(reading: $0.text.trimmed) } ?? .unknown,
            enqueuedAt: time("EnqueueTime"), startedAt: time("StartTime"), endedAt: time("EndTime"))
        for element in root.elements where element.localName.hasSuffix(Self.countsEnding) {
            let platform = element.localName.dropLast(Self.countsEnding.count).asciiLowercased
            guard Self.isName(platform, lengthMax: 16) else { throw .badOutcome }
            guard counts.count < Self.platformsMax, !counts.contains(where: { $0.platform == platform }) else {
                throw .tooMany
            }
            counts.append(PlatformCounts(platform: platform, outcomes: try Self.outcomes(in: element)))
        }
    }

    private static func outcomes(in element: XMLElement) throws(NotificationDetailsProblem) -> [OutcomeCount] {
        var outcomes: [OutcomeCount] = []
        for outcome in element.elements where outcome.localName == "Outcome" {
            let name = outcome.child("Name")?.text.trimmed ?? ""
            guard isName(name, lengthMax: 64) else { throw .badOutcome }
            let digits = outcome.child("Count")?.text.trimmed ?? ""
            // `Int64` would also accept a sign.
            guard digits.utf8.allSatisfy(\.isASCIIDigit), let count = Int64(digits), count <= countMax else {
                throw .badCount
            }
            if let known = outcomes.firstIndex(where: { $0.name == name }) {
                outcomes[known].count = min(outcomes[known].count + count, countMax)
            } else {
                guard outcomes.count < outcomesMax else { throw .tooMany }
                outcomes.append(OutcomeCount(name: String(name), count: count))
            }
        }
        return outcomes
    }

    private static func isName(_ text: some StringProtocol, lengthMax: Int) -> Bool {
        (1...lengthMax).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
    }

    /// - Returns: `nil` for other text, and for times before 1970, because .NET writes a missing time as the year 1.
    private static func milliseconds(_ text: Substring) -> Int64? {
        let milliseconds = Array(text.utf8).withUnsafeBufferPointer { bytes in
            var reader = DigitReader(bytes)
            return reader.isoTime()
        }
        return milliseconds.flatMap { $0 >= 0 ? $0 : nil }
    }
}
