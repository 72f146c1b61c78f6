import HubEmulator
import NotificationHub

extension Inspection {
    private static let deliveriesMax = 120
    /// The page lists the newest deliveries. A long log is not searched for older ones.
    private static let searchedMax = 5000
    private static let sendsMax = 8

    /// `?after=N`: everything that the page shows, with the deliveries to its phones numbered above N. The page has no
    /// other source, so a tab that missed an answer is complete again after the next one.
    func overview(_ query: [Substring: Substring]) -> HubHTTPResponse {
        let after = query["after"].flatMap { Int($0) } ?? 0
        var members: [JSONTree.Member] = []
        let run = hub.run
        let (received, phones) = hub.withHub { hub in
            let total = hub.delivered.total
            members = [
                .init("run", .string(run)), .init("received", .integer(hub.received.total)),
                .init("delivered", .integer(total)),
                .init("registrations", .integer(hub.registrationCount)),
                .init("faults", .array(hub.faults.map(\.json))),
                .init(
                    "phones",
                    .object(
                        PagePhone.all.map { phone in
                            let tags = hub.templateTags(handle: phone.handle)
                            return .init(phone.platform, tags.map { .array($0.map { .string($0) }) } ?? .null)
                        })),
                .init("dropped", .object(Self.dropped(in: hub.delivered))),
                .init("deliveries", .array(Self.deliveries(in: hub.delivered, after: after).map(\.json))),
            ]
            let received = hub.received.entries(after: hub.received.total - Self.sendsMax, limit: Self.sendsMax)
            let newest = hub.delivered.entries(after: total - Self.searchedMax, limit: Self.searchedMax)
            return (received.map(\.entry), ReachedPhones(newest.lazy.map(\.entry)))
        }
        let sends = (received.map { SendSummary($0, phones: phones) } + hub.refusedSends.map(SendSummary.init))
            .reversed()
        let newest = sends.sorted { $0.time > $1.time }.prefix(Self.sendsMax)
        members.append(.init("sends", .array(newest.map(\.json))))
        members.append(.init("dashboard", .text(dashboard())))
        return Self.json(.object(members))
    }

    /// The newest delivery that ended a registration, for each of the page's phones.
    private static func dropped(in log: BoundedLog<PushedNotification>) -> [JSONTree.Member] {
        var found: [String: Int] = [:]
        var number = log.total
        let last = max(0, log.total - searchedMax)
        while number > last {
            if let delivery = log[number], [.badChannel, .expiredChannel].contains(delivery.outcome),
                found[delivery.handle] == nil
            {
                found[delivery.handle] = number
            }
            number -= 1
        }
        return PagePhone.all.compactMap { phone in
            found[phone.handle].map { .init(phone.platform, .integer($0)) }
        }
    }

    /// The newest successful deliveries to the page's phones, oldest first.
    private static func deliveries(in log: BoundedLog<PushedNotification>, after: Int) -> [PushedNotification] {
        var found: [PushedNotification] = []
        var number = log.total
        let last = max(after, log.total - searchedMax)
        while number > last, found.count < deliveriesMax {
            if let delivery = log[number], PagePhone.handles.contains(delivery.handle), delivery.outcome == .success {
                found.append(delivery)
            }
            number -= 1
        }
        return found.reversed()
    }
}
