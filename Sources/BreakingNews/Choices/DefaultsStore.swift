#if canImport(Darwin)
public import Foundation

/// The app's user defaults.
public struct DefaultsStore: LocalStore {
    /// The names of the values begin with it.
    private static let prefix = "BreakingNews."
    private let suite: String?

    /// - Parameter suite: an app group, to share with extensions; `nil` for the app's own.
    public init(suite: String? = nil) {
        self.suite = suite
    }

    private var defaults: UserDefaults { suite.flatMap { UserDefaults(suiteName: $0) } ?? .standard }

    public func data(named name: String) -> Data? { defaults.data(forKey: Self.prefix + name) }

    public func save(_ json: Data, named name: String) throws { defaults.set(json, forKey: Self.prefix + name) }
}
#endif
