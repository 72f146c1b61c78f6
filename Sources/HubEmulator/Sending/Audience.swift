import ByteText
import NotificationHub

/// Whom a send is for.
enum Audience: Sendable, Hashable {
    /// No tags header: every registration of the format.
    case everyone
    /// An empty tags header: the send is accepted and reaches nobody.
    case nobody
    case tagged(TagExpression)
    /// A direct or batch send.
    case handles([String])

    init(tagsHeader: String?) throws(Refusal) {
        guard let tagsHeader else {
            self = .everyone
            return
        }
        if tagsHeader.trimmed.isEmpty {
            self = .nobody
            return
        }
        do { self = .tagged(try TagExpression(parsing: tagsHeader)) } catch {
            throw .badRequest("Invalid \(error)")
        }
    }
}
