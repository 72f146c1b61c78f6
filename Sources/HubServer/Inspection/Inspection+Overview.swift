import ByteText
import HubEmulator
import NotificationHub

extension Inspection {
    private static let deliveriesMax = 120
    /// The page lists the newest deliveries. A long log is not searched for older ones.
    private static let searchedMax = 5000
    private static let sendsMax = 8

    /// `?after=N`: everything that the page shows, with the deliveries to its phones numbered above N. The page has no
    /// other source, so a tab that missed an answer is complete again after the next one.
    func overview(_ query: FormFields) -> HubHTTPResponse {
        let after = query["after"].flatMap { Int($0) } ?? 0
        let (refused, run) = (hub.refusedSends.map(SendSummary.init), hub.run)
        let dashboard = dashboard()
        return Self.json(
            hub.withHub { hub in
                let phones = PagePhone.all.map { phone in
                    let tags = hub.templateTags(handle: phone.handle)
                    return JSONTree.Member(phone.platform, tags.map { .strings($0) } ?? .null)
                }
                return [
                    "run": .string(run), "received": .integer(hub.received.total),
                    "delivered": .integer(hub.delivered.total), "registrations": .integer(hub.registrationCount),
                    "devices": .integer(hub.deviceCount),
                    "faults": .array(hub.faults.map(\.json)), "phones": .object(phones),
                    "dropped": .object(Self.dropped(in: hub.delivered)),
                    "deliveries": .array(Self.deliveries(in: hub.delivered, after: after).map(\.json)),
                    "sends": .array(Self.sends(of: hub, refused)), "dashboard": .text(dashboard),
                ]
            })
    }

    /// The newest sends, accepted or refused, newest first.
    private static func sends(of hub: EmulatedHub, _ refused: [SendSummary]) -> [JSONTree] {
        let accepted = hub.received.entries(after: hub.received.total - sendsMax, limit: sendsMax)
        let newest = hub.delivered.entries(after: hub.delivered.total - searchedMax, limit: searchedMax)
        let phones = ReachedPhones(newest.lazy.map(\.entry))
        let sends = accepted.map { SendSummary($0.entry, phones: phones) } + refused
        return sends.reversed().sorted { $0.time > $1.time }.prefix(sendsMax).map(\.json)
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
