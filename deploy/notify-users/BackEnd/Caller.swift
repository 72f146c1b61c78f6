import Foundation
import NotificationHub

/// The user who makes a call.
struct Caller: Sendable {
    let name: String

    static let tagPrefix = "username:"

    /// PLACEHOLDER, as in the tutorial: a user's password is the name, so anyone who knows the name knows it. Put your
    /// own authentication here: a session, or a token of your identity provider.
    ///
    /// - Parameter authorization: `Basic` and the base64 of `name:password`.
    /// - Returns: `nil` for an unknown caller.
    init?(authorization: String?) {
        guard let authorization, authorization.lowercased().hasPrefix("basic "),
            let bytes = Data(base64Encoded: authorization.dropFirst(6).trimmingCharacters(in: .whitespaces)),
            let text = String(data: bytes, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        let name = String(text[..<colon])
        guard name == text[text.index(after: colon)...], Self.tag(of: name) != nil else { return nil }
        self.name = name
    }

    /// The tutorial's tag, by which this back end reaches a user; `nil` if the name is invalid in a tag.
    static func tag(of name: String) -> Tag? {
        name.isEmpty ? nil : try? Tag(tagPrefix + name)
    }
}
