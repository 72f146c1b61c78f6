import Foundation
import NotificationHub

/// Who calls.
struct Caller: Sendable {
    let name: String

    static let tagPrefix = "username:"

    /// PLACEHOLDER, as in the tutorial: whoever knows a name also knows its password, which is the same. Put your own
    /// authentication here: a session, a token of your identity provider.
    ///
    /// - Parameter authorization: `Basic` and the base64 of `name:password`.
    /// - Returns: `nil` for a stranger.
    init?(authorization: String?) {
        guard let authorization, authorization.lowercased().hasPrefix("basic "),
            let bytes = Data(base64Encoded: authorization.dropFirst(6).trimmingCharacters(in: .whitespaces)),
            let text = String(data: bytes, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        let name = String(text[..<colon])
        guard name == text[text.index(after: colon)...], Self.tag(of: name) != nil else { return nil }
        self.name = name
    }

    /// The tag of the tutorial, by which this back end reaches a user; `nil` if a hub would not take it.
    static func tag(of name: String) -> Tag? {
        name.isEmpty ? nil : try? Tag(tagPrefix + name)
    }
}
