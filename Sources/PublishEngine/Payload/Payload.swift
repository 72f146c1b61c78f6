public import NotificationHub

/// One event made ready for one platform.
public struct Payload: Sendable, Hashable {
    public var request: SendRequest
    /// The parts that did not fit.
    public var cuts: PayloadCuts
}

/// The parts that were removed or shortened, because of size or a reserved name.
public struct PayloadCuts: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The summary is missing or ends in an ellipsis.
    public static let summary = PayloadCuts(rawValue: 1 << 0)
    /// The title is missing or ends in an ellipsis.
    public static let title = PayloadCuts(rawValue: 1 << 1)
    /// Some of the event's own values are missing, the last first.
    public static let data = PayloadCuts(rawValue: 1 << 2)
    public static let image = PayloadCuts(rawValue: 1 << 3)
    /// The message, in one of its languages at least, ends in an ellipsis.
    public static let message = PayloadCuts(rawValue: 1 << 4)
    public static let link = PayloadCuts(rawValue: 1 << 5)
    public static let id = PayloadCuts(rawValue: 1 << 6)
    public static let category = PayloadCuts(rawValue: 1 << 7)
    /// An own value of the event was left out, because its name is reserved by us or the platform.
    public static let reservedData = PayloadCuts(rawValue: 1 << 8)

    /// The names of all parts, as in results.
    public static let allNames = [
        "summary", "title", "data", "image", "message", "link", "id", "category", "reservedData",
    ]

    /// The names as in results, e.g. `["summary", "message"]`; empty if nothing was cut.
    public var names: [String] {
        isEmpty ? [] : Self.allNames.enumerated().filter { rawValue >> $0.offset & 1 == 1 }.map(\.element)
    }
}
