import HubEmulator
import NotificationHub

/// A hub with known keys and a client with tokens for it.
struct TestHub {
    static let start = HubTime(seconds: 1_800_000_000)
    static let key = AccessKey("bmV3c3Jvb20taHViLXRlc3Qta2V5LTAwMDEhISEhISE=")

    var hub: EmulatedHub
    var now = TestHub.start

    init(_ configure: (inout HubSettings) -> Void = { _ in }) throws {
        let rights: [(String, AccessRule.Rights)] = [
            (HubSettings.fullRuleName, [.listen, .send, .manage]), (HubSettings.listenRuleName, .listen),
            ("SendOnly", .send), ("ManageOnly", .manage),
        ]
        let rules = rights.map { name, rights in
            AccessRule(name: name, primaryKey: Self.key, secondaryKey: AccessKey("second"), rights: rights)
        }
        var settings = HubSettings(name: try HubName("BreakingNews"), rules: rules, seed: 7)
        configure(&settings)
        hub = EmulatedHub(settings: settings)
    }

    static func token(
        rule: String = HubSettings.fullRuleName, resource: String = "http://news.example/", key: AccessKey = key
    ) -> String {
        SharedAccessSignature.token(
            resource: resource, keyName: rule, key: key, expiresAt: start.seconds + 86_400)
    }

    mutating func call(
        _ method: String, _ path: String, rule: String = HubSettings.fullRuleName, headers: HubHeaders = [:],
        body: String = ""
    ) -> HubHTTPResponse {
        call(method, path, rule: rule, headers: headers, bytes: Array(body.utf8))
    }

    mutating func call(
        _ method: String, _ path: String, rule: String = HubSettings.fullRuleName, headers: HubHeaders = [:],
        bytes: [UInt8]
    ) -> HubHTTPResponse {
        var fields = headers
        fields.append("Host", "news.example")
        if headers["Authorization"] == nil { fields.append("Authorization", Self.token(rule: rule)) }
        return hub.handle(
            HubHTTPRequest(method: method, target: "/BreakingNews" + path, headers: fields, body: bytes), at: now)
    }

    /// A send with the headers that a correct client sets for its format.
    mutating func send(
        _ body: String, format: String = "template", tags: String? = "World", contentType: String? = nil,
        headers: HubHeaders = [:], query: String = "?api-version=2020-06"
    ) -> HubHTTPResponse {
        var fields = headers
        fields.append("ServiceBusNotification-Format", format)
        if let tags { fields.append("ServiceBusNotification-Tags", tags) }
        let usual = Platform(headerValue: format)?.contentType ?? "application/json"
        fields.append("Content-Type", contentType ?? usual)
        return call("POST", "/messages" + query, headers: fields, body: body)
    }
}

extension HubHTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The `<Detail>` of an error without its suffix.
    var message: String? { ErrorBody(scanning: body).message }
}
