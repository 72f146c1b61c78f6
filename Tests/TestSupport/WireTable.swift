package import HubEmulator

/// The calls of the emulator's table, in its order.
package enum WireTable {
    /// One call of the table, with the answer of a hub without any contents.
    package struct Call: Sendable {
        package let method: String
        /// The path; `{hub}` stands for the hub's name.
        package let target: String
        package let headers: HubHeaders
        package let body: String
        package let status: Int
    }

    package static let calls: [Call] = (ofHub.map { ($0, "/{hub}" + $1, $2, $3, $4) } + ofNamespace)
        .map { Call(method: $0, target: $1, headers: $2, body: $3, status: $4) }

    /// An Atom entry with a registration.
    package static func entry(_ kind: String, _ inner: String) -> String {
        """
        <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
        <\(kind)RegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\(inner)\
        </\(kind)RegistrationDescription></content></entry>
        """
    }

    /// An Atom entry with a job.
    package static func job(_ kind: String, output: String, input: String? = nil) -> String {
        """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/atom+xml;type=entry;charset=utf-8">\
        <NotificationHubJob xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Type>\(kind)</Type>\
        <OutputContainerUri><![CDATA[\(output)]]></OutputContainerUri>\
        \(input.map { "<ImportFileUri><![CDATA[\($0)]]></ImportFileUri>" } ?? "")\
        </NotificationHubJob></content></entry>
        """
    }

    package static let apple = entry("Apple", "<Tags>World</Tags><DeviceToken>AB</DeviceToken>")
    package static let installation = #"{"platform":"apns","pushChannel":"AB","tags":["World"]}"#
    package static let alert: HubHeaders = [
        "ServiceBusNotification-Format": "apple", "Content-Type": "application/json",
    ]

    private static let description = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>
        """

    private static let ofNamespace: [(String, String, HubHeaders, String, Int)] = [
        ("PUT", "/{hub}?api-version=2017-04", [:], description, 409),
        ("GET", "/{hub}?api-version=2017-04", [:], "", 200),
        ("DELETE", "/{hub}?api-version=2017-04", [:], "", 403),
        ("GET", "/", [:], "", 200),
        ("GET", "/$Resources/NotificationHubs?api-version=2017-04", [:], "", 200),
    ]

    private static let ofHub: [(String, String, HubHeaders, String, Int)] = [
        ("POST", "/messages?api-version=2020-06", alert, "{}", 201),
        (
            "POST", "/messages?direct&api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple", "Content-Type": "application/json",
                "ServiceBusNotification-DeviceHandle": "AB",
            ], "{}", 201
        ),
        ("POST", "/messages?test&api-version=2020-06", alert, "{}", 201),
        (
            "POST", "/messages/$batch?direct&api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple",
                "Content-Type": "multipart/mixed; boundary=b",
            ],
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b\r\n"
                + "Content-Disposition: inline; name=devices\r\n\r\n[\"AB\"]\r\n--b--", 201
        ),
        (
            "POST", "/schedulednotifications?api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple",
                "Content-Type": "application/json", "ServiceBusNotification-ScheduleTime": "2027-01-15T09:00:00",
            ], "{}", 201
        ),
        ("DELETE", "/schedulednotifications/none?api-version=2020-06", [:], "", 404),
        ("GET", "/messages/none?api-version=2016-07", [:], "", 404),
        ("POST", "/registrationids?api-version=2015-01", [:], "", 201),
        ("POST", "/registrations?api-version=2015-01", [:], apple, 200),
        ("PUT", "/registrations/1-1-1?api-version=2015-01", [:], apple, 200),
        ("GET", "/registrations/1-1-1?api-version=2015-01", [:], "", 404),
        ("DELETE", "/registrations/1-1-1?api-version=2015-01", ["If-Match": "*"], "", 404),
        ("GET", "/registrations?$top=100&api-version=2015-01", [:], "", 200),
        ("GET", "/tags/World/registrations?api-version=2015-01", [:], "", 200),
        ("GET", "/registrations?$filter=ChannelUri+eq+'AB'&api-version=2015-01", [:], "", 200),
        ("PUT", "/installations/i?api-version=2020-06", [:], installation, 200),
        ("GET", "/installations/i?api-version=2020-06", [:], "", 404),
        ("PATCH", "/installations/i?api-version=2020-06", [:], "[]", 404),
        ("DELETE", "/installations/i?api-version=2020-06", [:], "", 204),
        ("GET", "/feedbackcontainer?api-version=2015-01", [:], "", 200),
        ("POST", "/jobs?api-version=2014-09", [:], job("ExportRegistrations", output: "http://a/b"), 201),
        ("GET", "/jobs?api-version=2014-09", [:], "", 200),
        ("GET", "/jobs/j?api-version=2014-09", [:], "", 404),
    ]
}
