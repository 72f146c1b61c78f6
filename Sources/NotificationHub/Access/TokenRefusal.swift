/// Why a hub does not believe a token; all of them are answered with 401.
public enum TokenRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    case missingToken, malformedToken, invalidSignature, expiredToken, invalidAudience

    /// The message of the error body; its first word is the service's name for the case. Only the wording of
    /// `invalidSignature` was seen in recordings of the service.
    public var description: String {
        switch self {
        case .missingToken: "MissingToken: The authorization header was not found."
        case .malformedToken: "MalformedToken: The token is malformed; sr, sig, se and skn are needed."
        case .invalidSignature: "InvalidSignature: The token has an invalid signature."
        case .expiredToken: "ExpiredToken: The token is expired."
        case .invalidAudience: "InvalidAudience: The token is for another resource."
        }
    }
}
