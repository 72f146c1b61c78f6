import ByteText
import NotificationHub

/// The requirements on headers and body of a send, by format.
enum PayloadRules {
    enum Content: Sendable, Hashable {
        /// - Parameter isSound: false for a body that the hub accepts and the platform will refuse.
        case native(isSound: Bool)
        /// The template properties, in the order they were sent.
        case properties([TemplateProperty])
    }

    static func check(
        format: Platform, contentType: String?, headers: HubHeaders, body: [UInt8], isDirect: Bool
    ) throws(Refusal) -> Content {
        let media = try mediaType(contentType)
        guard format.facts.mediaTypes.contains(media) else {
            throw .badRequest("The Content-Type '\(media.prefix(80))' does not fit the format '\(format.rawValue)'")
        }
        guard !body.isEmpty else { throw .badRequest("The notification body is empty") }
        switch format {
        case .template:
            try checkApple(headers)
            return .properties(try properties(of: body))
        case .apple:
            try checkApple(headers)
            let json = try object(body)
            return .native(isSound: hasAps(json) || !needsAps(headers.fields))
        case .fcmv1: try FCMMessage.check(try JSONTree(body: body))
        case .baidu:
            if let type = headers["X-Baidu-Message-Type"], type != "0", type != "1" {
                throw .badRequest("X-Baidu-Message-Type must be 0 or 1")
            }
            _ = try object(body)
        case .browser:
            if isDirect, headers["P256DH"]?.isEmpty != false || headers["Auth"]?.isEmpty != false {
                throw .badRequest("A direct send to a browser needs the headers P256DH and Auth")
            }
            _ = try object(body)
        case .windows: try checkWindows(headers, media: media, body: body)
        case .windowsphone: try checkWindowsPhone(headers, body: body)
        default:
            if format.facts.syntax == .xml { _ = try XMLElement(body: body) } else { _ = try object(body) }
        }
        return .native(isSound: true)
    }

    /// The media type in lower case, without its parameters.
    private static func mediaType(_ contentType: String?) throws(Refusal) -> String {
        guard let contentType, !contentType.isEmpty else { throw .badRequest("The Content-Type header is missing") }
        return String(contentType.prefix { $0 != ";" }).trimmed.lowercased()
    }

    private static func object(_ body: [UInt8]) throws(Refusal) -> JSONTree {
        let json = try JSONTree(body: body)
        guard case .object = json else { throw .badRequest("The notification body must be a JSON object") }
        return json
    }

    /// Reads a flat object of strings. Numbers and booleans become their text.
    private static func properties(of body: [UInt8]) throws(Refusal) -> [TemplateProperty] {
        guard case .object(let members) = try JSONTree(body: body) else {
            throw .badRequest("The template properties must be a JSON object")
        }
        var properties: [TemplateProperty] = []
        properties.reserveCapacity(members.count)
        for member in members {
            guard let property = TemplateProperty(member) else {
                throw .badRequest("The template property '\(member.name.prefix(120))' must be a string")
            }
            properties.append(property)
        }
        return properties
    }

    private static let pushTypes = [
        "alert", "background", "voip", "complication", "fileprovider", "mdm", "location", "liveactivity", "pushtotalk",
    ]

    /// Push types whose payloads have members of their own instead of `aps`.
    private static let pushTypesWithoutAps = ["voip", "complication", "fileprovider", "mdm", "location", "pushtotalk"]

    static func needsAps(_ headers: [HeaderField]) -> Bool {
        let type = headers.first {
            $0.name.equalsIgnoringASCIICase("apns-push-type") || $0.name.equalsIgnoringASCIICase("X-Apns-Push-Type")
        }
        return type.map { !pushTypesWithoutAps.contains($0.value.lowercased()) } ?? true
    }

    static func hasAps(_ json: JSONTree) -> Bool {
        if case .object? = json["aps"] { true } else { false }
    }

    /// Checks Apple's headers except `X-Apns-Expiration`, in which the service accepts one client's garbage.
    private static func checkApple(_ headers: HubHeaders) throws(Refusal) {
        if let priority = headers["apns-priority"], !["1", "5", "10"].contains(priority) {
            throw .badRequest("apns-priority must be 5 or 10")
        }
        if let priority = headers["X-Apns-Priority"], UInt8(priority) == nil {
            throw .badRequest("X-Apns-Priority must be a whole number")
        }
        if let expiration = headers["apns-expiration"], UInt32(expiration) == nil {
            throw .badRequest("apns-expiration must be a time in whole seconds since 1970")
        }
        if let type = headers["apns-push-type"], !pushTypes.contains(type) {
            throw .badRequest("apns-push-type is not one that APNs knows")
        }
        if let (name, lengthMax) = Platform.apple.facts.headers.collapse, headers[name]?.utf8.count ?? 0 > lengthMax {
            throw .badRequest("\(name) must not be longer than \(lengthMax) bytes")
        }
        if let expiry = headers["ServiceBusNotification-Apns-Expiry"], HubTime(clientText: expiry) == nil {
            throw .badRequest("ServiceBusNotification-Apns-Expiry must be a time such as 2026-01-31T18:00:00Z")
        }
    }

    /// WNS refuses a notification whose tag is empty or too long.
    static func hasSoundTag(_ headers: [HeaderField]) -> Bool {
        guard let (name, lengthMax) = Platform.windows.facts.headers.collapse else { return true }
        return headers.allSatisfy { !$0.name.equalsIgnoringASCIICase(name) || (1...lengthMax).contains($0.value.count) }
    }

    private static func checkWindows(_ headers: HubHeaders, media: String, body: [UInt8]) throws(Refusal) {
        guard let type = headers["X-WNS-Type"] else { throw .badRequest("The X-WNS-Type header is missing") }
        guard hasSoundTag(headers.fields) else { throw .badRequest("X-WNS-Tag must have 1 to 16 characters") }
        switch type.lowercased() {
        case "wns/raw": return
        case "wns/toast", "wns/tile", "wns/badge":
            guard media != "application/octet-stream" else {
                throw .badRequest("application/octet-stream is for wns/raw only")
            }
            // The service's reference permits JSON as well as XML.
            if media == "application/json" { _ = try object(body) } else { _ = try XMLElement(body: body) }
        default: throw .badRequest("X-WNS-Type must be wns/toast, wns/tile, wns/badge or wns/raw")
        }
    }

    /// Checks the headers and, of tiles and toasts, the XML. Raw notifications may have any content.
    private static func checkWindowsPhone(_ headers: HubHeaders, body: [UInt8]) throws(Refusal) {
        if let target = headers["X-WindowsPhone-Target"]?.lowercased(), !["toast", "tile", "token"].contains(target) {
            throw .badRequest("X-WindowsPhone-Target must be toast or tile")
        }
        var isRaw = false
        if let text = headers["X-NotificationClass"] {
            guard let number = Int(text), 1...31 ~= number else {
                throw .badRequest("X-NotificationClass must be a number from 1 to 31")
            }
            isRaw = number % 10 > 2 || number == 10 || number == 20 || number == 30
        }
        if !isRaw { _ = try XMLElement(body: body) }
    }
}

/// The values that FCM v1 refuses in a message: wrong types, words, times to live and reserved names. The address members
/// (`token`, `topic`, `condition`) are not checked, because the hub sets its own.
enum FCMMessage {
    static func check(_ body: JSONTree) throws(Refusal) {
        guard case .object? = body["message"] else {
            throw .badRequest("The notification body must be a JSON object with a 'message' object, as FCM v1 requires")
        }
        guard let finding = PayloadVocabulary.fcm(body, isStrict: true).first else { return }
        throw .badRequest("'\(finding.path.joined(separator: ".").cut(toBytes: 120))' \(finding.message)")
    }
}
