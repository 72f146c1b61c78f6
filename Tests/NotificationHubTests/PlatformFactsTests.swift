import NotificationHub
import Testing

struct PlatformFactsTests {
    @Test func `no two platforms share a name in the hub's protocol`() {
        let facts = Platform.native.map(\.facts)
        #expect(Set(facts.map(\.installation)).count == facts.count)
        #expect(Set(facts.map(\.registration)).count == facts.count)
        #expect(
            facts.map(\.installation) == [
                "apns", "fcmv1", "gcm", "wns", "mpns", "adm", "baidu", "browser", "xiaomi",
            ])
    }

    @Test(arguments: Platform.allCases)
    func `a platform's own content type is one that a hub accepts, and its limit is below the hub's`(platform: Platform)
    {
        let facts = platform.facts
        #expect(facts.mediaTypes.contains { facts.contentType.hasPrefix($0) })
        #expect((1...SendRequest.bodyLengthMax).contains(facts.bodyLengthMax))
        #expect(facts.headers.constant.allSatisfy { $0.isSendable })
    }

    @Test func `the services that their companies have switched off are known`() {
        #expect(Platform.allCases.filter { $0.facts.isRetired } == [.gcm, .windowsphone])
    }
}
