import ByteText
import Crypto

/// The tags by which a send reaches single users of an app. Who registers devices and who sends must agree on them.
///
/// An id may be any text: what a hub does not take as it is becomes its hash. Hubs ignore the case of tags, so two users whose
/// ids differ in nothing else are told apart by signed tags only.
public struct UserTags: Sendable, Hashable {
    private enum Form: Sendable, Hashable {
        case reserved, signed
    }

    private let form: Form
    private let key: AccessKey

    private init(_ form: Form, _ key: AccessKey) {
        self.form = form
        self.key = key
    }

    /// The fewest bytes of a secret that cannot be guessed.
    public static let secretLengthMin = 16

    /// `$UserId:{…}`, which a hub adds to every registration of an installation with this user.
    ///
    /// - Parameter secret: keys the pseudonyms. Without one, whoever can guess an id can recognize its pseudonym.
    public static func reserved(secret: AccessKey? = nil) -> UserTags {
        UserTags(.reserved, secret ?? AccessKey("newswire"))
    }

    /// `user_` and a signature. Apps may register any tag, but cannot make one of these; the back end that knows the secret
    /// gives it to devices of its user.
    public static func signed(with secret: AccessKey) -> UserTags { UserTags(.signed, secret) }

    /// The tag that reaches a user.
    ///
    /// - Throws: for an empty id only.
    public func tag(of user: String) throws(TagProblem) -> Tag {
        switch form {
        case .reserved: try Tag(user: Self.userID(for: user))
        case .signed: try Tag(Self.prefix + digits(of: "tag\n\(user)", count: 40))
        }
    }

    /// What begins every signed tag.
    public static let prefix = "user_"

    /// What stands for a user in records, logs and pages: 16 hexadecimal digits, always the same for one user and one secret,
    /// from which neither the id nor the tag can be computed.
    public func pseudonym(of user: String) -> String { digits(of: "pseudonym\n\(user)", count: 16) }

    /// The `userId` for the installations of a user: the id itself if a hub takes it as a tag, else `sha256:` and its hash.
    public static func userID(for user: String) -> String {
        let isPlain =
            user.utf8.count <= Tag.lengthMax && user.utf8.allSatisfy { Tag.accepts($0, in: .user) }
            // No user can take the name of another's hash.
            && !user.asciiLowercased.hasPrefix(hashPrefix)
        return isPlain ? user : hashPrefix + hexadecimal(SHA256.hash(data: Array(user.utf8)))
    }

    private static let hashPrefix = "sha256:"

    /// The first digits of a keyed hash.
    private func digits(of text: String, count: Int) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(text.utf8), using: SymmetricKey(data: Array(key.revealed.utf8)))
        return String(Self.hexadecimal(code).prefix(count))
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [UInt8(hexDigitOf: $0 >> 4), UInt8(hexDigitOf: $0)] }, as: UTF8.self)
    }
}
