import BreakingNews
import Foundation

/// Who the device is and what it has seen, beside what the registrar keeps.
struct DeviceMemory: Sendable {
    private struct Kept: Codable {
        var platform: DevicePlatform
        var handle: String
        /// The hub's number of the last delivery that was printed.
        var seen: Int
    }

    private let store: any LocalStore
    private var kept: Kept?

    private static let name = "device"

    init(_ store: any LocalStore) {
        self.store = store
        kept = store.data(named: Self.name).flatMap { try? JSONDecoder().decode(Kept.self, from: $0) }
    }

    func handle(on platform: DevicePlatform) -> String? {
        kept.flatMap { $0.platform == platform ? $0.handle : nil }
    }

    /// Another device has seen nothing yet.
    mutating func become(_ handle: String, on platform: DevicePlatform) {
        if self.handle(on: platform) != handle { kept = Kept(platform: platform, handle: handle, seen: 0) }
    }

    var handle: String { kept?.handle ?? "" }

    var seen: Int {
        get { kept?.seen ?? 0 }
        set { kept?.seen = newValue }
    }

    func save() throws { try store.save(try JSONEncoder().encode(kept), named: Self.name) }
}
