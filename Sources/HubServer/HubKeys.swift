import ByteText
import HubEmulator
import NotificationHub

/// The access rules a hub starts with.
enum HubKeys {
    /// The two default rules. The rule of a given connection string replaces the one with its name, or is added with
    /// all rights.
    static func rules(for connectionString: ConnectionString?, kept: [AccessRule] = []) -> [AccessRule] {
        var rules = kept
        if rules.isEmpty {
            rules = [
                rule(HubSettings.fullRuleName, [.listen, .send, .manage]), rule(HubSettings.listenRuleName, .listen),
            ]
        }
        guard let connectionString else { return rules }
        if let index = rules.firstIndex(where: { $0.name == connectionString.keyName }) {
            if rules[index].secondaryKey != connectionString.key { rules[index].primaryKey = connectionString.key }
        } else {
            let rights: AccessRule.Rights = [.listen, .send, .manage]
            rules.insert(
                AccessRule(name: connectionString.keyName, primaryKey: connectionString.key, rights: rights), at: 0)
        }
        return rules
    }

    private static func rule(_ name: String, _ rights: AccessRule.Rights) -> AccessRule {
        AccessRule(name: name, primaryKey: newKey(), secondaryKey: newKey(), rights: rights)
    }

    /// 32 random bytes in base64, as the service makes them.
    private static func newKey() -> AccessKey {
        var random = SystemRandomNumberGenerator()
        return AccessKey(Base64.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }
}
