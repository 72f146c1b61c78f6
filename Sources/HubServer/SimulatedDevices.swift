import ByteText
import Foundation
import HubEmulator
import NotificationHub

/// Devices registered before a hub opens, to test a client or the hub under load, with measurements of their cost.
/// Device `n` has the tag `tag-{n modulo 1000}` and a template.
public struct SimulatedDevices: Sendable, CustomStringConvertible {
    public static let countMax = 10_000_000
    static let tags = 1000
    private static let sends = 100

    public let count: Int
    /// The time to register the devices with requests like those of clients.
    public let registering: Duration
    /// The process's memory after registering, in bytes; `nil` if the system does not report it.
    public let residentBytes: Int?
    /// The median time to accept a send to one tag, and to make its deliveries.
    public let accepting: Duration
    public let delivering: Duration

    init(_ count: Int, in hub: inout EmulatedHub, _ clock: ServerClock) {
        self.count = count
        let caller = Caller(hub.settings, expiresAt: clock.now.seconds + 24 * 3600)
        let watch = ContinuousClock()
        registering = watch.measure {
            for device in 0..<count { _ = hub.handle(caller.registration(of: device), at: clock.now) }
        }
        residentBytes = Self.resident()
        // The measurement uses a copy, so that the served hub starts without sends.
        var trial = hub
        var times: [(Duration, Duration)] = []
        for number in 0..<Self.sends {
            let send = caller.send(tag: number * 7 % Self.tags)
            let accepting = watch.measure { _ = trial.handle(send, at: clock.now) }
            let delivering = watch.measure { _ = trial.deliver(limit: .max, at: clock.now) }
            times.append((accepting, delivering))
        }
        accepting = times.map(\.0).sorted()[Self.sends / 2]
        delivering = times.map(\.1).sorted()[Self.sends / 2]
    }

    public var description: String {
        let memory = residentBytes.map { ", \($0 / 1_000_000) MB" } ?? ""
        let perTag = (count + Self.tags - 1) / Self.tags
        return """
            \(counted(count, "device")) over \(counted(Self.tags, "tag")) registered in \(Self.text(registering))\(memory)
            a send to one tag is accepted in \(Self.text(accepting)); \
            its deliveries, at most \(grouped(perTag)), take \(Self.text(delivering))
            """
    }

    private static func text(_ duration: Duration) -> String {
        let units: Duration.UnitsFormatStyle = .units(
            allowed: [duration < .milliseconds(1) ? .microseconds : duration < .seconds(1) ? .milliseconds : .seconds],
            width: .narrow, fractionalPart: .show(length: 1))
        return duration.formatted(units.locale(Locale(identifier: "en_US")))
    }

    private static func resident() -> Int? {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return pages?.dropFirst().first.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }

    /// A client with all rights.
    private struct Caller {
        private let hub: HubName
        private let headers: HubHeaders

        init(_ settings: HubSettings, expiresAt: Int64) {
            hub = settings.name
            let rule = settings.rules.first { $0.rights.contains([.listen, .send]) }
            headers = [
                "Host": "localhost",
                "Authorization": rule.map {
                    SharedAccessSignature.token(
                        resource: "http://localhost/", keyName: $0.name, key: $0.primaryKey, expiresAt: expiresAt)
                } ?? "",
                "ServiceBusNotification-Format": "template", "Content-Type": "application/json",
            ]
        }

        func registration(of device: Int) -> HubHTTPRequest {
            let digits = String(device, radix: 16)
            let token = String(repeating: "0", count: 64 - digits.count) + digits
            let body = """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
                <AppleTemplateRegistrationDescription><Tags>tag-\(device % SimulatedDevices.tags)</Tags>\
                <DeviceToken>\(token)</DeviceToken><BodyTemplate>{"aps":{"alert":"$(messageParam)"}}</BodyTemplate>\
                </AppleTemplateRegistrationDescription></content></entry>
                """
            return HubHTTPRequest(
                method: "PUT", target: "/\(hub)/registrations/\(device)-1-1", headers: headers, body: Array(body.utf8))
        }

        func send(tag: Int) -> HubHTTPRequest {
            var headers = headers
            headers.append("ServiceBusNotification-Tags", "tag-\(tag)")
            return HubHTTPRequest(
                method: "POST", target: "/\(hub)/messages", headers: headers,
                body: Array(#"{"messageParam":"Breaking News!"}"#.utf8))
        }
    }
}
