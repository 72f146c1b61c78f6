public import NotificationHub

/// One event made ready for one platform.
public struct Payload: Sendable, Hashable {
    public var request: SendRequest
    /// The parts that did not fit.
    public var cuts: PayloadCuts
}

/// The parts that were taken out of a payload or shortened, to make it fit or for a reserved name.
public struct PayloadCuts: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The summary is missing.
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
    /// One of the event's own values has a name that is ours or the platform's.
    public static let reservedData = PayloadCuts(rawValue: 1 << 8)

    /// Of every part, as results have them.
    public static let allNames = [
        "summary", "title", "data", "image", "message", "link", "id", "category", "reservedData",
    ]

    /// As results have them, e.g. `["summary", "message"]`; empty when nothing was cut.
    public var names: [String] {
        isEmpty ? [] : Self.allNames.enumerated().filter { rawValue >> $0.offset & 1 == 1 }.map(\.element)
    }
}
