public import EditorialControl
import NewsModel
import PublishEngine

/// An order that an editor gives in a life.
public struct EditorOrder: Sendable, Hashable {
    /// Names it in this life, whatever else is left out.
    public let number: Int
    public var scope: ControlScope
    /// Since the life's beginning.
    public var at: Duration
    /// The time after which it is lifted; `nil` for never.
    public var lasts: Duration?
    /// The time after which it lapses by itself; `nil` for never.
    public var lapsesAfter: Duration?

    public init(
        number: Int, scope: ControlScope, at: Duration, lasts: Duration? = nil, lapsesAfter: Duration? = nil
    ) {
        self.number = number
        self.scope = scope
        self.at = at
        self.lasts = lasts
        self.lapsesAfter = lapsesAfter
    }

    /// Its name on the control topic.
    var id: String { "order-\(number)" }

    /// How far the clock of the machine that gives it is ahead.
    var clockError: Duration {
        switch number % 4 {
        case 1: .seconds(40)
        case 2: .seconds(-40)
        case 3: .seconds(3_600)
        default: .zero
        }
    }

    /// When nothing more will be written about it.
    var end: Duration { at + (lasts ?? .zero) }
}

extension EditorOrder: CustomStringConvertible {
    public var description: String {
        let lifted = lasts.map { ", lifted after \($0.short)" } ?? ""
        let lapses = lapsesAfter.map { ", lapses after \($0.short)" } ?? ""
        return "\(id) at \(at.short): \(scope.key)\(lifted)\(lapses)"
    }
}

extension ControlScope {
    /// It holds back, or ends, deliveries of this news.
    func concerns(_ news: NewsItem, in setting: Setting) -> Bool {
        switch self {
        case .recall(let story): news.story == story
        case .stop(.hub): true
        case .stop(.lane(let name)): setting.lanes[news.lane].name == name
        case .stop(.category(let name)): news.categories.contains { $0.lowercased() == name.lowercased() }
        case .stop(.feed(let name)): news.feed == name
        case .stop(.run(let id)): news.run == id
        }
    }

    /// The one lane that it can hold back; `nil` when it concerns more than one.
    func lane(in setting: Setting) -> Int? {
        guard case .stop(.lane(let name)) = self else { return nil }
        return setting.lanes.firstIndex { $0.name == name }
    }

    var isRecall: Bool { if case .recall = self { true } else { false } }
}
