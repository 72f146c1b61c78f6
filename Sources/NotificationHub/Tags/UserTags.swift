import ByteText
import Crypto

/// The tags by which a send reaches single users of an app. Back end and sender must use the same ones.
///
/// An id may be any text. An id that a hub does not accept as a tag is hashed. Hubs ignore the case of tags, so only
/// signed tags distinguish ids that differ only in case.
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

    /// `$UserId:{…}`: a hub adds it to every registration of an installation with this user.
    ///
    /// - Parameter secret: keys the pseudonyms. Without a secret, anyone who guesses an id can recognize its pseudonym.
    public static func reserved(secret: AccessKey? = nil) -> UserTags {
        UserTags(.reserved, secret ?? AccessKey("newswire"))
    }

    /// `user_` and a signature. Apps may register any tag but cannot make a signed one. A back end with the secret
    /// assigns it to its user's devices.
    public static func signed(with secret: AccessKey) -> UserTags { UserTags(.signed, secret) }

    /// The tag that reaches a user.
    ///
    /// - Throws: only if the id is empty.
    public func tag(of user: String) throws(TagProblem) -> Tag {
        switch form {
        case .reserved: try Tag(user: Self.userID(for: user))
        case .signed: try Tag(Self.prefix + digits(of: "tag\n\(user)", count: 40))
        }
    }

    /// The prefix of every signed tag.
    public static let prefix = "user_"

    /// A user's pseudonym in records, logs and pages: 16 hexadecimal digits, which depend only on user and secret.
    /// Neither the id nor the tag can be computed from it.
    public func pseudonym(of user: String) -> String { digits(of: "pseudonym\n\(user)", count: 16) }

    /// The `userId` of a user's installations: the id itself if it is valid in a tag, otherwise `sha256:` and its hash.
    public static func userID(for user: String) -> String {
        let isPlain =
            user.utf8.count <= Tag.lengthMax && user.utf8.allSatisfy { Tag.accepts($0, in: .user) }
            // An id in the form of a hash is hashed too, so that it cannot match another user's hash.
            && !user.asciiLowercased.hasPrefix(hashPrefix)
        return isPlain ? user : hashPrefix + SHA256.hash(data: Array(user.utf8)).hexadecimal
    }

    private static let hashPrefix = "sha256:"

    /// The first digits of a keyed hash.
    private func digits(of text: String, count: Int) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(text.utf8), using: SymmetricKey(data: Array(key.revealed.utf8)))
        return String(code.hexadecimal.prefix(count))
    }
}
