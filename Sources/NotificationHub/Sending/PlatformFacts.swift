import ByteText

/// The rules of one platform's push service, and the hub's names for it.
///
/// An object, because the engine reads several rules for each event, and copying all of them would count many references.
public final class PlatformFacts: Sendable {
    /// The platform's name for people.
    public let name: String
    /// The hub's word for the push service, in telemetry, credentials and lists of headers.
    package let service: String
    /// The platform part of a registration's element name.
    package let registration: String
    /// The element of a registration that holds the device's handle.
    package let handle: String
    /// The largest body in bytes. For a template it is the hub's limit; the expanded result has its platform's limit.
    public let bodyLengthMax: Int
    package let syntax: Syntax
    /// The `Content-Type` in Microsoft's REST reference. For `baidu` and `xiaomi`, which the reference omits, the one
    /// that Microsoft's own clients send.
    public let contentType: String
    /// The media types that a hub accepts.
    package let mediaTypes: [String]
    package let headers: Headers
    /// True if a notification can be sent so that it makes no sound.
    package let canBeSilent: Bool
    /// The form of a notification that only the app sees; `nil` if no such form is known.
    package let background: Background?
    /// True if data may not have the names that Google reserves.
    package let reservesGoogleNames: Bool
    /// True if the company has switched the push service off. A hub still accepts its sends.
    public let isRetired: Bool

    /// The name in installations.
    package var installation: String { service.asciiLowercased }

    fileprivate init(
        name: String, service: String, registration: String, handle: String, bodyLengthMax: Int = 4_096,
        syntax: Syntax = .json, contentType: String = "application/json;charset=utf-8",
        mediaTypes: [String] = ["application/json"], headers: Headers = Headers(), canBeSilent: Bool = true,
        background: Background? = nil, reservesGoogleNames: Bool = false, isRetired: Bool = false
    ) {
        self.name = name
        self.service = service
        self.registration = registration
        self.handle = handle
        self.bodyLengthMax = bodyLengthMax
        self.syntax = syntax
        self.contentType = contentType
        self.mediaTypes = mediaTypes
        self.headers = headers
        self.canBeSilent = canBeSilent
        self.background = background
        self.reservesGoogleNames = reservesGoogleNames
        self.isRetired = isRetired
    }

    package enum Syntax: Sendable {
        case json, xml
    }

    package enum Background: Sendable {
        /// A payload in the platform's own form.
        case payload
        /// Bytes that only the app interprets.
        case raw
    }

    /// The headers that the push service reads and the hub forwards.
    package final class Headers: Sendable {
        /// Headers with the same value in every send.
        package let constant: [HeaderField]
        /// The kind of notification. The values are for one that is shown, and for one that only the app sees.
        package let type: (name: String, shown: String, background: String)?
        package let priority: (name: String, breaking: String, other: String)?
        /// The name by which a notification replaces an earlier one, and the longest value in bytes.
        package let collapse: (name: String, lengthMax: Int)?
        /// The time for which the service keeps a notification for a phone that is off, in each form that it reads.
        package let expiry: [(name: String, form: ExpiryForm)]
        /// A header that prevents sound and banner.
        package let silence: HeaderField?

        fileprivate init(
            constant: [HeaderField] = [], type: (name: String, shown: String, background: String)? = nil,
            priority: (name: String, breaking: String, other: String)? = nil,
            collapse: (name: String, lengthMax: Int)? = nil, expiry: [(name: String, form: ExpiryForm)] = [],
            silence: HeaderField? = nil
        ) {
            self.constant = constant
            self.type = type
            self.priority = priority
            self.collapse = collapse
            self.expiry = expiry
            self.silence = silence
        }

        package enum ExpiryForm: Sendable {
            case unixSeconds, dateTime, secondsToLive
        }
    }
}

extension Platform {
    /// The platform's row of the table.
    public var facts: PlatformFacts {
        switch self {
        case .template: .template
        case .apple: .apple
        case .fcmv1: .fcmv1
        case .gcm: .gcm
        case .windows: .windows
        case .windowsphone: .windowsphone
        case .adm: .adm
        case .baidu: .baidu
        case .browser: .browser
        case .xiaomi: .xiaomi
        }
    }
}

extension PlatformFacts {
    /// The headers of a template send reach the Apple devices among its readers.
    fileprivate static let template = PlatformFacts(
        name: "Template", service: "", registration: "Template", handle: "", bodyLengthMax: SendRequest.bodyLengthMax,
        headers: .apple)

    fileprivate static let apple = PlatformFacts(
        name: "Apple", service: "Apns", registration: "Apple", handle: "DeviceToken", headers: .apple,
        background: .payload)

    fileprivate static let fcmv1 = PlatformFacts(
        name: "Android", service: "FcmV1", registration: "FcmV1", handle: "FcmV1RegistrationId", background: .payload,
        reservesGoogleNames: true)

    fileprivate static let gcm = PlatformFacts(
        name: "Android", service: "Gcm", registration: "Gcm", handle: "GcmRegistrationId", background: .payload,
        reservesGoogleNames: true, isRetired: true)

    fileprivate static let windows = PlatformFacts(
        name: "Windows", service: "Wns", registration: "Windows", handle: "ChannelUri", bodyLengthMax: 5_120,
        syntax: .xml, contentType: "application/xml",
        mediaTypes: ["application/xml", "text/xml", "application/octet-stream", "application/json"],
        headers: Headers(
            type: ("X-WNS-Type", shown: "wns/toast", background: "wns/raw"), collapse: ("X-WNS-Tag", lengthMax: 16),
            expiry: [("X-WNS-TTL", .secondsToLive)], silence: HeaderField("X-WNS-SuppressPopup", "true")),
        background: .raw)

    /// The headers mean a toast that is sent at once.
    fileprivate static let windowsphone = PlatformFacts(
        name: "Windows Phone", service: "Mpns", registration: "Mpns", handle: "ChannelUri", bodyLengthMax: 3_072,
        syntax: .xml, contentType: "application/xml;charset=utf-8",
        mediaTypes: ["application/xml", "text/xml", "application/octet-stream"],
        headers: Headers(
            constant: [HeaderField("X-WindowsPhone-Target", "toast"), HeaderField("X-NotificationClass", "2")]),
        canBeSilent: false, isRetired: true)

    fileprivate static let adm = PlatformFacts(
        name: "Amazon", service: "Adm", registration: "Adm", handle: "AdmRegistrationId", bodyLengthMax: 6_144,
        background: .payload)

    fileprivate static let baidu = PlatformFacts(
        name: "Baidu", service: "Baidu", registration: "Baidu", handle: "BaiduChannelId",
        contentType: "application/x-www-form-urlencoded",
        mediaTypes: ["application/x-www-form-urlencoded", "application/json"],
        headers: Headers(constant: [HeaderField("X-Baidu-Message-Type", "1")]))

    /// The limit is 4,096 bytes less the overhead of encryption, RFC 8291. Browsers require that each push is shown.
    fileprivate static let browser = PlatformFacts(
        name: "Browsers", service: "Browser", registration: "Browser", handle: "Endpoint", bodyLengthMax: 3_993)

    fileprivate static let xiaomi = PlatformFacts(
        name: "Xiaomi", service: "Xiaomi", registration: "Xiaomi", handle: "XiaomiRegistrationId",
        contentType: "application/json", canBeSilent: false)
}

extension PlatformFacts.Headers {
    /// Both expiries are sent: the hub documents its own header, and current APNs reads `apns-expiration`. Without an
    /// expiry, APNs tries once, and a phone that is off never gets the alert.
    fileprivate static let apple = PlatformFacts.Headers(
        type: ("apns-push-type", shown: "alert", background: "background"),
        priority: ("apns-priority", breaking: "10", other: "5"), collapse: ("apns-collapse-id", lengthMax: 64),
        expiry: [("apns-expiration", .unixSeconds), ("ServiceBusNotification-Apns-Expiry", .dateTime)])
}
