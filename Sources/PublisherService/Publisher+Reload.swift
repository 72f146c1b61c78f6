import HubIO
import HubModel
import NIOPosix
import NotificationHub
import PublishEngine

/// Settings that change while the publisher runs.
extension Publisher {
    /// Applies a new rate, categories, `unroutable`, message, flood guard, trust roots and key; nothing else changes. Each event uses
    /// the old or the new settings, never a mix. Any thread may call it, also before `run`; reloads take effect in order.
    ///
    /// - Throws: the problem of the new settings. Nothing changes in this case.
    public func reload(_ new: PublisherSettings) throws(PublisherFailure) {
        var payload = new.payload
        payload.mode = settings.payload.mode
        var new = new
        // The environment of the hub cannot change at run time, whatever the new file says.
        new.policy.environment = settings.policy.environment
        new.policy.acceptsUnstamped = settings.policy.acceptsUnstamped
        let rules: [ContentRules]
        let tls: HubTLS?
        do {
            rules = try Self.rules(new, payload, shards: settings.shards)
            // The file is read again even if its name is the same, because certificates rotate.
            tls = try Self.makeTLS(settings, roots: new.trustRoots)
        } catch {
            throw .settings("\(error)")
        }
        let categories = metrics.reloaded(rate: new.engine.rate, new.table, new.policy.interests)
        events.yield(
            .reload(
                rules.map { Reload(rate: new.engine.rate, rules: $0, floodGuard: new.engine.floodGuard) },
                categories: categories, tls: tls))
        events.yield(.key(new.connection))
    }

    /// Reads the key again, because a rotated secret may have replaced its file.
    func readKey() {
        guard let read = settings.readConnection else { return }
        NIOThreadPool.singleton.submit { [events] _ in
            if let connection = read() { events.yield(.key(connection)) }
        }
    }

    static func makeTLS(
        _ settings: PublisherSettings, roots: TrustRoots
    ) throws(TrustRootsProblem) -> HubTLS? {
        guard settings.connection.endpoint.scheme == .https else { return nil }
        return try roots.makeHubTLS(offersHTTP2: settings.limits.offersHTTP2)
    }

    static func rules(
        _ settings: PublisherSettings, _ payload: PayloadSettings, shards: Int
    ) throws -> [ContentRules] {
        try (0..<shards).map { _ in
            try ContentRules(
                table: settings.table, unroutable: settings.unroutable, payload: payload, policy: settings.policy)
        }
    }
}
