import ByteText
import Foundation
import HubEmulator
import NotificationHub
import Testing

@testable import BreakingNews

/// Random histories of a device: new choices, failures, lost replies, restarts, a new handle, a lost record. Once the
/// hub works again, it must have exactly the last wanted subscription.
struct RegistrationLifeTests {
    @Test func `the hub ends with the last wanted subscription, registered once`() throws {
        for seed in 0..<1000 {
            var life = try Life(seed: UInt64(seed))
            for _ in 0..<40 { try life.step() }
            try life.recover()
            #expect(life.registered == life.expected, "seed \(seed)")
        }
    }

    private struct Life {
        private var random: SeededRandom
        private var hub: EmulatedHub
        private var plan: RegistrationPlan
        private var now = Device.start
        private var wanted: Subscription?
        private var channel = PushChannel.fcmv1(registrationToken: "token-0")
        private var channels = 0
        private var installations = 0
        private let connection: ConnectionString
        private var token: AccessToken

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            connection = try ConnectionString(
                parsing: "Endpoint=http://127.0.0.1:8090/;SharedAccessKeyName=Full;SharedAccessKey=a2V5")
            token = AccessToken(connection)
            let rule = AccessRule(name: "Full", primaryKey: connection.key, rights: [.listen, .send, .manage])
            hub = EmulatedHub(settings: HubSettings(name: try HubName("news"), rules: [rule], seed: seed))
            plan = try Self.plan(connection, record: nil, form: .registrations(native: true), installation: "device-0")
        }

        private static func plan(
            _ connection: ConnectionString, record: RegistrationRecord?, form: RegistrationForm, installation: String
        ) throws -> RegistrationPlan {
            let settings = RegistrationSettings(connection: connection, hub: try HubName("news"), form: form)
            return RegistrationPlan(settings, record: record, newInstallation: installation)
        }

        mutating func step() throws {
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: try choose()
            case 2: now += Int64.random(in: 0...100_000, using: &random)
            case 3: try restart(record: plan.record, form: plan.settings.form)
            case 4: try restart(record: plan.record, form: anyForm())
            case 5: try loseMemory()
            case 6: expire()
            case 7:
                newChannel()
                try choose()
            default: try call(isWell: Int.random(in: 0..<3, using: &random) > 0)
            }
        }

        mutating func recover() throws {
            for _ in 0..<400 {
                switch plan.next(at: now) {
                case .call: try call(isWell: true)
                case .wait(let instant):
                    if case .waiting = plan.state { now = max(now, instant ?? now) } else { return }
                }
            }
            Issue.record("no end in sight: \(plan.state)")
        }

        private mutating func anyForm() -> RegistrationForm {
            [.installation, .registrations(native: true), .registrations(native: false)]
                .randomElement(using: &random) ?? .installation
        }

        /// Takes a new token. A platform never issues the same one twice.
        private mutating func newChannel() {
            channels += 1
            channel = .fcmv1(registrationToken: "token-\(channels)")
        }

        private mutating func choose() throws {
            let tags = try ["World", "Sports", "Science"].filter { _ in Bool.random(using: &random) }
                .map { try Tag($0) }
            wanted = Subscription(channel: channel, tags: tags)
            plan.want(wanted)
        }

        private mutating func restart(record: RegistrationRecord?, form: RegistrationForm) throws {
            let kept = try record.map {
                try JSONDecoder().decode(RegistrationRecord.self, from: try JSONEncoder().encode($0))
            }
            installations += 1
            plan = try Self.plan(connection, record: kept, form: form, installation: "device-\(installations)")
            if let wanted { plan.want(wanted) }
        }

        /// Discards the record. The device can then find only the registrations of its handle at the hub. An earlier
        /// handle is permanently lost.
        private mutating func loseMemory() throws {
            guard let wanted, plan.record.registered?.subscription == wanted else { return }
            try restart(record: nil, form: plan.settings.form)
            try recover()
        }

        private mutating func call(isWell: Bool) throws {
            guard case .call(let call) = plan.next(at: now) else { return }
            if !isWell {
                var fault = HubFault()
                fault.callsLeft = 1
                fault.calls = .all
                switch Int.random(in: 0..<4, using: &random) {
                case 0: fault.status = [408, 409, 429, 500, 503].randomElement(using: &random)
                case 1: fault.expiresTokens = true
                case 2: fault.reset = .before
                default: fault.reset = .after
                }
                hub.add(fault)
            }
            var headers = HubHeaders(fields: call.request.fields)
            headers.append("Host", "127.0.0.1:8090")
            headers.append("Authorization", token.headerValue(at: now))
            let reply = hub.handle(
                HubHTTPRequest(
                    method: call.request.method, target: call.request.target, headers: headers, body: call.request.body),
                at: HubTime(seconds: now))
            // The wanted subscription may change during a call.
            if Int.random(in: 0..<10, using: &random) == 0, !isWell { try choose() }
            let answer: RegistrationPlan.Answer =
                reply.transmission == .reset
                ? .unreachable("reset")
                : .response(HubResponse(status: reply.status, fields: reply.headers.fields, body: reply.body))
            if case .renew = plan.handle(answer, to: call, at: now, using: &random) { token.discard() }
        }

        /// Makes the platform report the handle as dead. The hub then removes its registrations and their ids.
        private mutating func expire() {
            hub.setOutcome(.expiredChannel, handle: channel.handle)
            var headers: HubHeaders = ["Host": "127.0.0.1:8090", "ServiceBusNotification-Format": "template"]
            headers.append("Authorization", token.headerValue(at: now))
            headers.append("Content-Type", "application/json")
            _ = hub.handle(
                HubHTTPRequest(
                    method: "POST", target: "/news/messages?api-version=2020-06", headers: headers,
                    body: Array("{}".utf8)), at: HubTime(seconds: now))
            _ = hub.deliver(limit: 1000, at: HubTime(seconds: now))
            hub.setOutcome(nil, handle: channel.handle)
            // The app notices this when it receives a new token.
            newChannel()
            if let old = wanted {
                wanted = Subscription(channel: channel, tags: old.tags)
                plan.want(wanted)
            }
        }

        /// The hub's registrations: each with its handle, its tags without the hub's own, and true for a template.
        var registered: [String] {
            var headers: HubHeaders = ["Host": "127.0.0.1:8090"]
            var token = token
            headers.append("Authorization", token.headerValue(at: now))
            var hub = hub
            let reply = hub.handle(
                HubHTTPRequest(method: "GET", target: "/news/registrations", headers: headers),
                at: HubTime(seconds: now))
            let text = String(decoding: reply.body, as: UTF8.self)
            return text.split(separator: "<entry").dropFirst().map { entry in
                let handle = entry.firstMatch(of: /<FcmV1RegistrationId>(.*?)</)?.output.1 ?? "?"
                let tags = (entry.firstMatch(of: /<Tags>(.*?)</)?.output.1 ?? "").split(separator: ",")
                    .filter { !$0.hasPrefix("$") && !$0.hasPrefix("breakingNews") }
                return "\(handle) \(tags.sorted().joined(separator: ",")) \(entry.contains("BodyTemplate"))"
            }.sorted()
        }

        var expected: [String] {
            guard let wanted, !wanted.tags.isEmpty else { return [] }
            let line = "\(wanted.channel.handle) \(wanted.tags.map(\.text).joined(separator: ","))"
            return plan.settings.form == .registrations(native: false)
                ? ["\(line) true", "\(line) true"] : ["\(line) false", "\(line) true", "\(line) true"]
        }
    }
}
