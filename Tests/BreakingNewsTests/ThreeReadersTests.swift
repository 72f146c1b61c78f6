import BreakingNews
import Foundation
import HubEmulator
import HubServer
import NotificationHub
import Testing

@Test func `three readers receive each event of their categories once, out of 600 events`() async throws {
    try await withHub { hub in
        let readers: [(PushChannel, [String], RegistrationForm)] = [
            (.apple(deviceToken: "A1"), ["World", "Sports"], .installation),
            (.fcmv1(registrationToken: "fcm-1"), ["Politics", "Business", "World"], .registrations(native: true)),
            (.browser(endpoint: "https://push.example/1", p256dh: "B", auth: "a"), ["Science"], .installation),
        ]
        for (channel, names, form) in readers {
            let device = Device()
            let choices = CategoryStore(device.store)
            try choices.choose(choices.offer.filter { names.contains($0.name) })
            let registrar = try device.registrar(hub, form: form)
            await registrar.want(Subscription(channel: channel, categories: choices.chosen))
            guard case .registered = await registrar.settle() else {
                Issue.record("\(await registrar.state)")
                return
            }
        }
        let categories = NewsCategory.standard.map(\.name)
        let expected = Dictionary(
            uniqueKeysWithValues: readers.map { channel, names, _ in
                (channel.handle, (0..<600).filter { names.contains(categories[$0 % 6]) }.map { "event \($0)." })
            })
        let watched = try #require(hub.deliveries(to: Set(expected.keys)))
        let total = expected.values.reduce(0) { $0 + $1.count }
        async let arrived = {
            var texts: [String: [String]] = [:]
            var count = 0
            for await delivery in watched {
                let body = String(decoding: delivery.body, as: UTF8.self)
                texts[delivery.handle, default: []] += body.matches(of: /event \d+\./).map { String($0.output) }
                count += 1
                if count == total { break }
            }
            return texts
        }()
        for index in 0..<600 {
            let category = categories[index % 6]
            // The devices have two templates: one for the day, and one for quiet hours.
            let template = index.isMultiple(of: 2) ? "breakingNews" : "breakingNewsQuiet"
            let status = try await hub.send(
                #"{"messageParam":"event \#(index).","category":"\#(category)"}"#, to: "\(category) && \(template)")
            #expect(status == 201)
        }
        #expect(await arrived == expected)
        #expect(hub.delivered.count == total)
    }
}
