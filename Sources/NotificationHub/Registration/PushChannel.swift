/// The address of one device on its platform, as the push service assigned it.
public enum PushChannel: Sendable, Hashable, Codable {
    /// APNs' device token: an even number of hexadecimal digits.
    case apple(deviceToken: String)
    /// The registration token from Firebase.
    case fcmv1(registrationToken: String)
    case windows(channelURI: String)
    /// A Web Push subscription and its two keys.
    case browser(endpoint: String, p256dh: String, auth: String)

    /// The longest handle, in bytes.
    public static let handleLengthMax = 4096

    /// - Parameter bytes: the token passed to `didRegisterForRemoteNotificationsWithDeviceToken`.
    public static func apple(_ bytes: some Sequence<UInt8>) -> PushChannel {
        let digits = Array("0123456789ABCDEF")
        return .apple(deviceToken: String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }))
    }

    public var platform: Platform {
        switch self {
        case .apple: .apple
        case .fcmv1: .fcmv1
        case .windows: .windows
        case .browser: .browser
        }
    }

    /// The text that identifies the device on its platform.
    public var handle: String {
        switch self {
        case .apple(let text), .fcmv1(let text), .windows(let text): text
        case .browser(let endpoint, _, _): endpoint
        }
    }
}

/// A template for the payload that a device receives, with expressions such as `$(messageParam)`.
///
/// An expression must be a whole JSON string, a whole XML text or attribute, or a whole header value. Inside other text
/// it is not replaced.
public struct PushTemplate: Sendable, Hashable, Codable {
    /// The longest name, in bytes.
    public static let nameLengthMax = 200

    /// The template's name. The hub adds it to the registration's tags.
    public var name: String
    /// The payload: JSON, or XML for Windows.
    public var body: String
    /// The headers, in the order of the wire. Windows needs `X-WNS-Type`; Apple's start with `apns-`.
    public var headers: [HeaderField]
    /// The expiry, for Apple only: a date-time, `0` or an expression.
    public var expiry: String?

    public init(name: String, body: String, headers: [HeaderField] = [], expiry: String? = nil) {
        self.name = name
        self.body = body
        self.headers = headers
        self.expiry = expiry
    }
}
