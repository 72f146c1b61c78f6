/// A request of any kind, as a pool carries it.
public enum HubCall: Sendable, Hashable {
    case send(SendRequest)
    /// A GET request for a target, the path and the query, for example `HubPath.details(of:)`. Its reply keeps its body.
    case question(target: String)

    /// Empty for a question.
    public var body: [UInt8] {
        switch self {
        case .send(let request): request.body
        case .question: []
        }
    }
}
