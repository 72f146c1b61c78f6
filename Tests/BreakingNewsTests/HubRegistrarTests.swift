import BreakingNews
import Foundation
import HubEmulator
import HubServer
import NotificationHub
import Testing

/// The registrar against the emulator, over HTTP.
struct HubRegistrarTests {
    private func subscription(_ channel: PushChannel, _ names: String...) throws -> Subscription {
        // One template, because these tests count registrations and send without naming a template.
        Subscription(
            channel: channel, tags: try names.map { try Tag($0) }, templates: [.breakingNews(for: channel)])
    }

    private static let forms: [(RegistrationForm, Int)] = [
        (.installation, 2), (.registrations(native: false), 1), (.registrations(native: true), 2),
    ]

    @Test(arguments: PushChannel.everyKind, forms)
    func `devices of every kind and form receive their category and no other`(
        channel: PushChannel, form: (RegistrationForm, Int)
    ) async throws {
        try await withHub { hub in
            let registrar = try Device().registrar(hub, form: form.0)
            await registrar.want(try subscription(channel, "World"))
            guard case .registered = await registrar.settle() else {
                Issue.record("\(await registrar.state)")
                return
            }
            #expect(hub.registrationCount == form.1)
            let watched = try #require(hub.deliveries(to: [channel.handle]))
            #expect(try await hub.send(#"{"messageParam":"no"}"#, to: "Sports") == 201)
            let text = #"Storm \"Ada\" & <rain>"#
            #expect(try await hub.send(#"{"messageParam":"\#(text)","category":"World"}"#, to: "World") == 201)
            for await delivery in watched {
                #expect(delivery.outcome == .success)
                let body = String(decoding: delivery.body, as: UTF8.self)
                #expect(
                    body.contains(channel.platform == .windows ? "Storm &quot;Ada&quot; &amp; &lt;rain&gt;" : text),
                    "\(body)")
                break
            }
            #expect(hub.delivered.count == 1)
        }
    }

    @Test(arguments: [RegistrationForm.installation, .registrations(native: true)])
    func `a change replaces the registration, a removal deletes it`(form: RegistrationForm) async throws {
        try await withHub { hub in
            let device = Device()
            let registrar = try device.registrar(hub, form: form)
            let channel = PushChannel.apple(deviceToken: "AB")
            await registrar.want(try subscription(channel, "World"))
            await registrar.settle()
            await registrar.want(try subscription(.apple(deviceToken: "CD"), "Sports"))
            await registrar.settle()
            #expect(hub.registrationCount == 2)
            let watched = try #require(hub.deliveries(to: ["AB", "CD"]))
            _ = try await hub.send(#"{"messageParam":"old"}"#, to: "World")
            _ = try await hub.send(#"{"messageParam":"new"}"#, to: "Sports")
            for await delivery in watched {
                #expect(delivery.handle == "CD")
                break
            }
            await registrar.want(nil)
            #expect(await registrar.settle() == .unregistered)
            #expect(hub.registrationCount == 0)
        }
    }

    @Test func `a start registers again only after a change or a long time`() async throws {
        try await withHub { hub in
            let device = Device()
            let transport = CountingTransport()
            let wanted = try subscription(.fcmv1(registrationToken: "x"), "World")
            let first = ["GET registrations", "PUT installations"]
            for (pause, calls) in [(0, first), (3600, []), (24 * 3600, ["PUT installations"])] {
                device.advance(by: Int64(pause))
                let registrar = try device.registrar(hub, transport: transport)
                await registrar.want(wanted)
                guard case .registered = await registrar.settle() else {
                    Issue.record("after \(pause) s: \(await registrar.state)")
                    return
                }
                #expect(transport.calls == calls)
            }
        }
    }

    @Test func `a first registration looks, reserves and writes, and later ones only write`() async throws {
        try await withHub { hub in
            let device = Device()
            let transport = CountingTransport()
            let registrar = try device.registrar(hub, form: .registrations(native: true), transport: transport)
            await registrar.want(try subscription(.apple(deviceToken: "AB"), "World"))
            await registrar.settle()
            #expect(
                transport.calls == [
                    "GET registrations", "POST registrationids", "PUT registrations", "POST registrationids",
                    "PUT registrations",
                ])
            let next = try device.registrar(hub, form: .registrations(native: true), transport: transport)
            await next.want(try subscription(.apple(deviceToken: "AB"), "Sports"))
            await next.settle()
            #expect(transport.calls == ["PUT registrations", "PUT registrations"])
            #expect(hub.registrationCount == 2)
        }
    }

    @Test func `a device that lost its record takes over its registrations`() async throws {
        try await withHub { hub in
            let transport = CountingTransport()
            for _ in 1...3 {
                let registrar = try Device().registrar(hub, form: .registrations(native: true), transport: transport)
                await registrar.want(try subscription(.windows(channelURI: "https://wns.example/?a='b'&c=d"), "World"))
                await registrar.settle()
                #expect(hub.registrationCount == 2)
            }
            #expect(transport.calls.filter { $0.hasPrefix("POST") }.count == 2)
        }
    }

    @Test func `a device that lost its record takes over its installation`() async throws {
        try await withHub { hub in
            let channel = PushChannel.apple(deviceToken: "AB")
            for names in [["World", "Sports"], ["World"]] {
                let registrar = try Device().registrar(hub)
                await registrar.want(
                    Subscription(
                        channel: channel, tags: try names.map { try Tag($0) }, templates: [.breakingNews(for: channel)])
                )
                guard case .registered = await registrar.settle() else {
                    Issue.record("\(await registrar.state)")
                    return
                }
                #expect(hub.registrationCount == 2)
            }
            let watched = try #require(hub.deliveries(to: ["AB"]))
            _ = try await hub.send(#"{"messageParam":"left"}"#, to: "Sports")
            _ = try await hub.send(#"{"messageParam":"kept"}"#, to: "World")
            for await delivery in watched {
                #expect(String(decoding: delivery.body, as: UTF8.self).contains("kept"))
                break
            }
            #expect(hub.delivered.count == 1)
        }
    }

    @Test func `a removal wanted before the app was killed is made at the next start`() async throws {
        try await withHub { hub in
            let device = Device()
            let registrar = try device.registrar(hub)
            await registrar.want(try subscription(.apple(deviceToken: "AB"), "World"))
            await registrar.settle()
            #expect(hub.registrationCount == 2)
            // The app is killed before the first call.
            await registrar.want(nil)
            let next = try device.registrar(hub)
            #expect(await next.state == .registering)
            #expect(await next.settle() == .unregistered)
            #expect(hub.registrationCount == 0)
        }
    }

    @Test func `an id that the hub dropped is replaced`() async throws {
        try await withHub { hub in
            let device = Device()
            let transport = CountingTransport()
            let registrar = try device.registrar(hub, form: .registrations(native: false), transport: transport)
            await registrar.want(try subscription(.apple(deviceToken: "AB"), "World"))
            await registrar.settle()
            // The platform reports the channel as dead, so the hub removes the registration and its id.
            #expect(try await emulator(hub, "PUT", "devices/AB", #"{"outcome":"ExpiredChannel"}"#) == 204)
            let watched = try #require(hub.deliveries(to: ["AB"]))
            _ = try await hub.send(#"{"messageParam":"x"}"#, to: "World")
            for await _ in watched { break }
            #expect(hub.registrationCount == 0)
            _ = transport.calls
            await registrar.want(try subscription(.apple(deviceToken: "CD"), "World"))
            guard case .registered = await registrar.settle() else {
                Issue.record("\(await registrar.state)")
                return
            }
            #expect(transport.calls == ["PUT registrations", "POST registrationids", "PUT registrations"])
            #expect(hub.registrationCount == 1)
        }
    }

    @Test func `a change of form removes the registrations of the old form`() async throws {
        try await withHub { hub in
            let device = Device()
            let forms: [(RegistrationForm, Int)] = [
                (.registrations(native: true), 2), (.installation, 2), (.registrations(native: false), 1),
                (.registrations(native: true), 2),
            ]
            for (form, count) in forms {
                let registrar = try device.registrar(hub, form: form)
                await registrar.want(try subscription(.fcmv1(registrationToken: "x"), "World"))
                await registrar.settle()
                #expect(hub.registrationCount == count)
            }
        }
    }

    @Test(arguments: [Self.status(503), Self.status(500), Self.status(404), Self.reset(.before), Self.reset(.after)])
    func `a choice made while the hub fails is registered once the hub works again`(fault: HubFault) async throws {
        try await withHub { hub in
            let device = Device()
            hub.add(fault)
            let (states, heard) = AsyncStream<RegistrationState>.makeStream()
            let settings = RegistrationSettings(
                connection: try #require(hub.listenConnectionString), hub: try HubName("BreakingNews"))
            let registrar = HubRegistrar(settings, store: device.store, clock: device) { heard.yield($0) }
            await registrar.want(try subscription(.apple(deviceToken: "AB"), "World"))
            let running = Task { await registrar.run() }
            var attempts = 0
            for await state in states {
                if case .waiting(let failure) = state { attempts = failure.attempts }
                if case .registered = state { break }
            }
            running.cancel()
            await running.value
            #expect(attempts == 3)
            #expect(hub.registrationCount == 2)
        }
    }

    @Test func `a key without the Listen right is reported without its secret`() async throws {
        try await withHub { hub in
            var connection = hub.connectionString
            connection.key = AccessKey("c2VjcmV0LWtleQ==")
            let registrar = try Device().registrar(hub, connection: connection)
            await registrar.want(try subscription(.apple(deviceToken: "AB"), "World"))
            guard case .waiting(let failure) = await registrar.settle(), case .forbidden(401, _) = failure.reason else {
                Issue.record("\(await registrar.state)")
                return
            }
            #expect(!"\(failure)".contains("c2VjcmV0"))
        }
    }

    private static func status(_ status: Int) -> HubFault {
        var fault = HubFault()
        (fault.status, fault.callsLeft, fault.calls) = (status, 3, .all)
        return fault
    }

    private static func reset(_ reset: HubFault.Reset) -> HubFault {
        var fault = HubFault()
        (fault.reset, fault.callsLeft, fault.calls) = (reset, 3, .all)
        return fault
    }

    private func emulator(_ hub: RunningHub, _ method: String, _ path: String, _ body: String) async throws -> Int {
        let endpoint = hub.connectionString.endpoint
        let request = HubRequest(
            method: method, endpoint: endpoint, target: "/_emulator/\(path)", body: Array(body.utf8))
        return try await SessionTransport().send(request).status
    }
}
