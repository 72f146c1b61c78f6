public import EditorialControl
import KafkaModel
import PublishEngine

/// An editor's order in a life.
public struct EditorOrder: Sendable, Hashable {
    /// Identifies it in this life even if other orders are removed.
    public let number: Int
    public var scope: ControlScope
    /// Time since the start of the life.
    public var at: Duration
    /// Time after which it is lifted; `nil` for never.
    public var lasts: Duration?
    /// Time after which it lapses; `nil` for a week if it is a recall, otherwise for never.
    public var lapsesAfter: Duration?
    /// True if the desk also replaces the recalled story on phones.
    public var replaces = false
    /// The id of the lapsed order that it renews. It is given when a process removes that order's record.
    var renews: String?

    /// Its id on the control topic.
    var id: String { "order-\(number)" }

    /// Time by which the clock of the sender's machine is ahead.
    var clockError: Duration {
        switch number % 4 {
        case 1: .seconds(40)
        case 2: .seconds(-40)
        case 3: .seconds(3_600)
        default: .zero
        }
    }

    /// Time after which it causes no further writes.
    var end: Duration {
        at + max(lasts ?? .zero, replaces ? Self.replacedWithin : .zero, renews == nil ? .zero : Self.removedWithin)
    }

    /// Time within which a process usually removes the record of a lapsed order.
    private static let removedWithin = Duration.seconds(125)

    /// Time within which the replacement is written.
    static let replacedWithin = Duration.milliseconds(2_000)
}

extension EditorOrder: CustomStringConvertible {
    public var description: String {
        let lifted = lasts.map { ", lifted after \($0.short)" } ?? ""
        let lapses = lapsesAfter.map { ", lapses after \($0.short)" } ?? ""
        let renewed = renews.map { " again, when the record of \($0) is removed" } ?? ""
        return "\(id) at \(at.short): \(scope.key)\(renewed)\(lifted)\(lapses)\(replaces ? ", with a replacement" : "")"
    }
}

extension ControlScope {
    /// Returns true if it stops or ends deliveries of this news.
    func concerns(_ news: NewsItem, in setting: Setting) -> Bool {
        switch self {
        case .recall(let story): news.story == story
        case .stop(.hub): true
        case .stop(.lane(let name)): setting.lanes[news.lane].name == name
        case .stop(.category(let name)): news.categories.contains { setting.isSameCategory($0, name) }
        case .stop(.interest(let name)): news.interests.contains { $0.lowercased() == name.lowercased() }
        case .stop(.feed(let name)): news.feed == name
        case .stop(.run(let id)): news.run == id
        }
    }

    /// Returns the only lane that it affects; `nil` if it affects more.
    func lane(in setting: Setting) -> LaneID? {
        guard case .stop(.lane(let name)) = self else { return nil }
        return setting.lanes.laneIDs.first { setting.lanes[$0].name == name }
    }

    var isRecall: Bool { if case .recall = self { true } else { false } }
}
