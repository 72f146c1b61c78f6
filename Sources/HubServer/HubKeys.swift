import ByteText
import HubEmulator
import NotificationHub

/// The access rules with which a hub and its namespace start.
enum HubKeys {
    /// The two default rules. The rule of a given connection string replaces the one with its name, or is added with
    /// all rights. A namespace's rule is not added to the hub.
    static func rules(for connectionString: ConnectionString?, kept: [AccessRule]) -> [AccessRule] {
        var rules = kept.isEmpty ? HubSettings.defaultRules(newKey) : kept
        guard let connectionString, connectionString.keyName != EmulatedNamespace.ruleName else { return rules }
        if let index = rules.firstIndex(where: { $0.name == connectionString.keyName }) {
            if rules[index].secondaryKey != connectionString.key { rules[index].primaryKey = connectionString.key }
        } else {
            rules.insert(
                AccessRule(name: connectionString.keyName, primaryKey: connectionString.key, rights: .all), at: 0)
        }
        return rules
    }

    /// The namespace's rule. If the given connection string names this rule, its key is used.
    static func namespaceRules(for connectionString: ConnectionString?, kept: [AccessRule]) -> [AccessRule] {
        var rules = kept
        if rules.isEmpty {
            rules = [
                AccessRule(
                    name: EmulatedNamespace.ruleName, primaryKey: newKey(), secondaryKey: newKey(), rights: .all)
            ]
        }
        if let connectionString, let index = rules.firstIndex(where: { $0.name == connectionString.keyName }) {
            rules[index].primaryKey = connectionString.key
        }
        return rules
    }

    /// The rule for a back end: that of the given connection string, or one with all rights.
    static func rule(of settings: HubServerSettings, among hub: HubSettings) -> AccessRule? {
        let given = (hub.rules + hub.namespaceRules).first { $0.name == settings.connectionString?.keyName }
        return given ?? hub.rules.first { $0.rights.contains(.all) } ?? hub.rules.first
    }

    /// A key of 32 random bytes in base64, as in the service.
    static func newKey() -> AccessKey {
        var random = SystemRandomNumberGenerator()
        return AccessKey(Base64.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
    }
}
