import Foundation
import NotificationHub
import Testing

@testable import BreakingNews

/// The plan's decisions, tested call by call.
struct RegistrationPlanTests {
    private var random = SystemRandomNumberGenerator()
    private let now = Device.start

    private func plan(
        _ form: RegistrationForm = .registrations(native: false), record: RegistrationRecord? = nil,
        hub: String = "BreakingNews"
    ) throws -> RegistrationPlan {
        let connection = try ConnectionString(
            parsing: "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Listen;SharedAccessKey=k")
        let settings = RegistrationSettings(connection: connection, hub: try HubName(hub), form: form)
        return RegistrationPlan(settings, record: record, newInstallation: "device-1")
    }

    /// A plan whose record has an installation, so that it does not ask the hub for one.
    private func planOfInstallation() throws -> RegistrationPlan {
        var record = try plan().record
        record.installation = "device-1"
        return try plan(.installation, record: record)
    }

    private func restarted(_ plan: RegistrationPlan) throws -> RegistrationPlan {
        let kept = try JSONDecoder().decode(RegistrationRecord.self, from: try JSONEncoder().encode(plan.record))
        return try self.plan(plan.settings.form, record: kept)
    }

    private func subscription(_ names: String...) throws -> Subscription {
        let channel = PushChannel.apple(deviceToken: "AB")
        // One template, so that there is one registration.
        return Subscription(
            channel: channel, tags: try names.map { try Tag($0) }, templates: [.breakingNews(for: channel)])
    }

    /// Answers one call with fields and a body as a hub sends them.
    private mutating func answer(
        _ plan: inout RegistrationPlan, _ status: Int, _ fields: [HeaderField] = [], _ body: String = "",
        at instant: Int64? = nil
    ) -> String {
        guard case .call(let call) = plan.next(at: instant ?? now) else { return "nothing" }
        let response = HubResponse(status: status, fields: fields, body: Array(body.utf8))
        let advice = plan.handle(.response(response), to: call, at: instant ?? now, using: &random)
        let path = call.request.target.split(separator: "/").dropFirst().joined(separator: "/").prefix { $0 != "?" }
        return "\(call.request.method) \(path)" + (advice == .renew ? " renew" : "")
    }

    private func location(_ id: String) -> HeaderField {
        HeaderField(
            "Location", "https://ns.servicebus.windows.net/BreakingNews/registrationids/\(id)?api-version=2020-06")
    }

    @Test mutating func `a first registration looks, reserves an id and writes under it`() throws {
        var plan = try plan()
        plan.want(try subscription("World"))
        #expect(answer(&plan, 200, [], "<feed/>") == "GET registrations")
        #expect(answer(&plan, 201, [location("1-2-3")]) == "POST registrationids")
        #expect(answer(&plan, 200) == "PUT registrations/1-2-3")
        #expect(plan.next(at: now) == .wait(until: now + plan.settings.refreshAfter))
        #expect(plan.state == .registered(since: now))
    }

    @Test mutating func `a change is written under the known id`() throws {
        var plan = try plan()
        plan.record.setID("1-2-3", template: "breakingNews")
        plan.want(try subscription("World"))
        #expect(answer(&plan, 200) == "PUT registrations/1-2-3")
        _ = plan.next(at: now)
        plan.want(try subscription("World", "Sports"))
        #expect(plan.state == .registering)
        #expect(answer(&plan, 200) == "PUT registrations/1-2-3")
        _ = plan.next(at: now)
        // Order and letter case of tags do not matter.
        plan.want(try subscription("sports", "World"))
        #expect(plan.next(at: now) == .wait(until: now + plan.settings.refreshAfter))
    }

    @Test mutating func `a lost id is replaced once, then the plan waits`() throws {
        var plan = try plan()
        plan.record.setID("1-2-3", template: "breakingNews")
        plan.want(try subscription("World"))
        #expect(answer(&plan, 410) == "PUT registrations/1-2-3")
        #expect(answer(&plan, 201, [location("4-5-6")]) == "POST registrationids")
        #expect(answer(&plan, 410) == "PUT registrations/4-5-6")
        guard case .wait(let instant?) = plan.next(at: now) else { throw HubTransportProblem("no wait") }
        #expect((now + 1...now + 2).contains(instant))
        #expect(answer(&plan, 200, [], "<feed/>", at: instant) == "GET registrations")
    }

    @Test mutating func `after the record is lost, registrations at the hub are taken over and duplicates removed`()
        throws
    {
        var plan = try plan()
        plan.want(try subscription("World"))
        let entries = ["1-1-1", "2-2-2"].map { id in
            "<entry><content><AppleTemplateRegistrationDescription><RegistrationId>\(id)</RegistrationId>"
                + "<BodyTemplate><![CDATA[<RegistrationId>9-9-9</RegistrationId>]]></BodyTemplate>"
                + "<TemplateName>breakingNews</TemplateName></AppleTemplateRegistrationDescription></content></entry>"
        }
        #expect(answer(&plan, 200, [], "<feed>\(entries.joined())</feed>") == "GET registrations")
        #expect(answer(&plan, 200) == "PUT registrations/1-1-1")
        #expect(answer(&plan, 200) == "DELETE registrations/2-2-2")
        _ = plan.next(at: now)
        #expect(plan.state == .registered(since: now))
    }

    @Test mutating func `after the record is lost, an installation is taken over and further ones are removed`()
        throws
    {
        var plan = try plan(.installation)
        plan.want(try subscription("World"))
        let entries = ["old-1", "old-1", "old-2"].enumerated().map { number, installation in
            "<entry><content><AppleRegistrationDescription><RegistrationId>\(number)-1-1</RegistrationId>"
                + "<Tags>$InstallationId:{\(installation)},Sports</Tags></AppleRegistrationDescription></content></entry>"
        }
        #expect(answer(&plan, 200, [], "<feed>\(entries.joined())</feed>") == "GET registrations")
        #expect(answer(&plan, 200) == "PUT installations/old-1")
        var next = try restarted(plan)
        next.want(try subscription("World"))
        #expect(answer(&next, 200) == "PUT installations/old-1")
        #expect(answer(&next, 204) == "DELETE installations/old-2")
        _ = next.next(at: now)
        #expect(next.state == .registered(since: now))
        next.want(nil)
        #expect(answer(&next, 204) == "DELETE installations/old-1")
        #expect(next.state == .unregistered)
    }

    @Test mutating func `a first installation is written even if the hub refuses to list registrations`() throws {
        for status in [200, 400] {
            var plan = try plan(.installation)
            plan.want(try subscription("World"))
            #expect(answer(&plan, status, [], "<feed/>") == "GET registrations")
            #expect(answer(&plan, 200) == "PUT installations/device-1")
            _ = plan.next(at: now)
            #expect(plan.state == .registered(since: now))
        }
    }

    @Test mutating func `a removal that was interrupted continues at the next start`() throws {
        for form in [RegistrationForm.installation, .registrations(native: false)] {
            var first = try plan(form)
            first.record.installation = "device-1"
            first.record.setID("1-1-1", template: "breakingNews")
            first.want(nil)
            #expect(answer(&first, 200) == "DELETE registrations/1-1-1")
            guard case .call(let call) = first.next(at: now) else { throw HubTransportProblem("no call") }
            _ = first.handle(.unreachable("no network"), to: call, at: now, using: &random)
            var second = try restarted(first)
            #expect(second.state == .registering)
            #expect(answer(&second, 204) == "DELETE installations/device-1")
            #expect(second.next(at: now) == .wait(until: nil))
            #expect(second.state == .unregistered)
            var third = try restarted(second)
            #expect(third.next(at: now) == .wait(until: nil))
            #expect(third.record.isLeaving == nil)
        }
    }

    @Test mutating func `a subscription wanted after an interrupted removal is registered`() throws {
        var first = try planOfInstallation()
        first.want(nil)
        var second = try restarted(first)
        second.want(try subscription("World"))
        #expect(answer(&second, 200) == "PUT installations/device-1")
        var third = try restarted(second)
        #expect(third.next(at: now) == .wait(until: nil), "nothing is removed without a wish")
    }

    @Test func `a device with an installation is not reported as unregistered before a wish`() throws {
        #expect(try planOfInstallation().state == .registering)
        #expect(try plan(.installation).state == .unregistered)
    }

    @Test func `a record of an older version is read`() throws {
        let json = #"{"hub":"h","installation":"device-1","registrations":[{"id":"1-1-1"}],"surplus":["2-2-2"]}"#
        let record = try JSONDecoder().decode(RegistrationRecord.self, from: Data(json.utf8))
        #expect(record.installations == ["device-1"] && record.id(template: nil) == "1-1-1")
    }

    @Test mutating func `a refused token is renewed once, then a person must act`() throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        #expect(answer(&plan, 401) == "PUT installations/device-1 renew")
        #expect(answer(&plan, 401) == "PUT installations/device-1")
        guard case .waiting(let failure) = plan.state else { throw HubTransportProblem("not waiting") }
        #expect(failure.reason == .forbidden(status: 401, detail: nil))
    }

    @Test(arguments: [(429, 70, 70), (503, 40, 40), (403, 60, 60), (409, 0, 2), (500, 0, 2), (408, 0, 2), (429, 0, 2)])
    mutating func `a busy hub is not called before the time it names`(status: Int, told: Int64, most: Int64) throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        _ = answer(&plan, status, told > 0 ? [HeaderField("Retry-After", "\(told)")] : [])
        guard case .wait(let instant?) = plan.next(at: now) else { throw HubTransportProblem("no wait") }
        #expect((now + max(1, told)...now + most).contains(instant))
        plan.want(try subscription("Sports"))
        if told > 0 {
            #expect(plan.next(at: now) == .wait(until: instant), "not even a new choice comes sooner")
        } else {
            #expect(answer(&plan, 200) == "PUT installations/device-1", "a new choice is tried at once")
        }
        #expect(answer(&plan, 200, at: instant) == (told > 0 ? "PUT installations/device-1" : "nothing"))
    }

    @Test mutating func `the pauses between retries grow to the longest and retries never end`() throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        var instant = now
        var pauses: [Int64] = []
        for _ in 0..<2000 {
            guard case .call(let call) = plan.next(at: instant) else { throw HubTransportProblem("no call") }
            _ = plan.handle(.unreachable("no network"), to: call, at: instant, using: &random)
            guard case .wait(let next?) = plan.next(at: instant) else { throw HubTransportProblem("no wait") }
            pauses.append(next - instant)
            instant = next
        }
        for (index, pause) in pauses.enumerated() {
            let ceiling = min(plan.settings.retryMax, 2 << Int64(min(index, 20)))
            #expect((ceiling / 2...ceiling).contains(pause))
        }
        #expect(answer(&plan, 200, at: instant) == "PUT installations/device-1")
    }

    @Test mutating func `a refused registration is retried slowly`() throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        _ = answer(&plan, 400, [], "<Error><Code>400</Code><Detail>bad template.TrackingId:1</Detail></Error>")
        guard case .waiting(let failure) = plan.state else { throw HubTransportProblem("not waiting") }
        #expect(failure.retryAt >= now + plan.settings.retryMax / 2)
        #expect("\(failure)".contains("bad template"))
    }

    @Test mutating func `a start soon after registers nothing, a much later one registers again`() throws {
        var first = try planOfInstallation()
        first.want(try subscription("World"))
        _ = answer(&first, 200)
        _ = first.next(at: now)
        let kept = try JSONDecoder().decode(RegistrationRecord.self, from: try JSONEncoder().encode(first.record))
        var soon = try plan(.installation, record: kept)
        soon.want(try subscription("World"))
        #expect(answer(&soon, 200, at: now + 3600) == "nothing")
        #expect(answer(&soon, 200, at: now + 24 * 3600) == "PUT installations/device-1")
        var set = try plan(.installation, record: kept)
        set.want(try subscription("World"))
        #expect(answer(&set, 200, at: now - 1) == "PUT installations/device-1", "the clock was set back")
        var moved = try plan(.installation, record: kept, hub: "other")
        moved.want(try subscription("World"))
        #expect(answer(&moved, 200, at: now) == "GET registrations", "another hub knows nothing")
        var form = try plan(.registrations(native: true), record: kept)
        form.want(try subscription("World"))
        #expect(answer(&form, 200, [], "<feed/>", at: now) == "GET registrations", "the other form")
    }

    @Test mutating func `until all calls have succeeded, the next start registers again`() throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        _ = answer(&plan, 200)
        _ = plan.next(at: now)
        plan.want(try subscription("Sports"))
        _ = plan.next(at: now)
        // The process dies here. The hub may have either subscription.
        var next = try self.plan(.installation, record: plan.record)
        next.want(try subscription("World"))
        #expect(answer(&next, 200) == "PUT installations/device-1")
    }

    @Test mutating func `a late reply to an earlier subscription changes nothing`() throws {
        var plan = try planOfInstallation()
        plan.want(try subscription("World"))
        guard case .call(let call) = plan.next(at: now) else { throw HubTransportProblem("no call") }
        plan.want(try subscription("Sports"))
        _ = plan.handle(.response(HubResponse(status: 200)), to: call, at: now, using: &random)
        #expect(plan.state == .registering)
        #expect(answer(&plan, 200) == "PUT installations/device-1")
    }

    @Test mutating func `an empty choice removes all registrations`() throws {
        var plan = try plan(.registrations(native: true))
        plan.record.setID("1-1-1", template: nil)
        plan.record.setID("2-2-2", template: "breakingNews")
        plan.record.installation = "device-1"
        plan.want(try subscription())
        #expect(answer(&plan, 200) == "DELETE registrations/1-1-1")
        #expect(answer(&plan, 404) == "DELETE registrations/2-2-2")
        #expect(answer(&plan, 204) == "DELETE installations/device-1")
        #expect(plan.next(at: now) == .wait(until: nil))
        #expect(plan.state == .unregistered)
    }

    @Test mutating func `no status or body makes the plan trap or loop`() throws {
        let bodies = ["", "<", "<feed", "<![CDATA[", "<!--", String(repeating: "<a>", count: 1000), "{}", "\u{0}"]
        for seed in 0..<3000 {
            var plan = try plan([.installation, .registrations(native: true)][seed % 2])
            plan.want(try subscription("World"))
            var instant = now
            for _ in 0..<20 {
                switch plan.next(at: instant) {
                case .wait(let next): instant = max(instant + 1, min(next ?? instant, instant + 100_000))
                case .call(let call):
                    let fields = [
                        HeaderField(
                            "Location",
                            ["", "/", "https://x/..", "a b", "https://x/1-2-3?x"].randomElement(using: &random) ?? ""),
                        HeaderField(
                            "Retry-After", ["", "-1", "99999999999999999999", "5"].randomElement(using: &random) ?? ""),
                    ]
                    let response = HubResponse(
                        status: Int.random(in: -1...700, using: &random), fields: fields,
                        body: Array((bodies.randomElement(using: &random) ?? "").utf8))
                    _ = plan.handle(.response(response), to: call, at: instant, using: &random)
                }
            }
        }
    }
}
