import BreakingNews
import Foundation
import HubEmulator
import HubServer
import NotificationHub
import Testing

struct QuietTemplateTests {
    @Test(arguments: PushChannel.everyKind)
    func `a device registers both templates unless the app says otherwise`(channel: PushChannel) throws {
        let both = Subscription(channel: channel, tags: [try Tag("World")])
        #expect(both.templates.map(\.name) == ["breakingNews", "breakingNewsQuiet"])
        let one = Subscription(channel: channel, tags: [try Tag("World")], templates: [.breakingNews(for: channel)])
        #expect(one.templates.map(\.name) == ["breakingNews"])
    }

    @Test(arguments: PushChannel.everyKind)
    func `a send that names the quiet template arrives once, without a sound`(channel: PushChannel) async throws {
        try await withHub { hub in
            let device = Device()
            let registrar = try device.registrar(hub)
            await registrar.want(Subscription(channel: channel, tags: [try Tag("World")]))
            await registrar.settle()
            let watched = try #require(hub.deliveries(to: [channel.handle]))
            for (template, isQuiet) in [("breakingNewsQuiet", true), ("breakingNews", false)] {
                #expect(try await hub.send(#"{"messageParam":"x","tag":"s"}"#, to: "World && \(template)") == 201)
                let delivery = try #require(await watched.first { _ in true })
                let body = String(decoding: delivery.body, as: UTF8.self)
                #expect(delivery.templateName == template)
                #expect(
                    ["passive", #"quiet":"true""#, #"silent="true""#].contains { body.contains($0) } == isQuiet,
                    "\(body)")
                #expect(body.contains("sound") == (channel.isApple && !isQuiet))
            }
            #expect(hub.delivered.count == 2)
        }
    }
}

extension PushChannel {
    fileprivate var isApple: Bool { if case .apple = self { true } else { false } }
}
