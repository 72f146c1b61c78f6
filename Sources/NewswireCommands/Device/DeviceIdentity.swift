import ArgumentParser
import BreakingNews
import Foundation
import NotificationHub

/// The identity of the device and its position in the hub's deliveries, kept beside the registrar's own data.
struct DeviceMemory: Sendable {
    private struct Kept: Codable {
        var platform: DevicePlatform
        var handle: String
        /// The hub's number for the last delivery printed.
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

    /// Sets the device's address. A new address has no seen deliveries.
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

/// The kind of phone that `newswire device` plays.
enum DevicePlatform: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
    case apple, fcmv1, windows, browser

    func channel(_ handle: String) -> PushChannel {
        switch self {
        case .apple: .apple(deviceToken: handle)
        case .fcmv1: .fcmv1(registrationToken: handle)
        case .windows: .windows(channelURI: handle)
        // The emulator does not encrypt messages, so any keys will do.
        case .browser: .browser(endpoint: handle, p256dh: "BDevice", auth: "device")
        }
    }

    /// Makes a unique address in the platform's own format.
    func newHandle() -> String {
        let digits = Array("0123456789ABCDEF")
        let id = String((0..<64).compactMap { _ in digits.randomElement() })
        return switch self {
        case .apple: id
        case .fcmv1: "fcm-\(id)"
        case .windows: "https://wns.example/?token=\(id)"
        case .browser: "https://push.example/send/\(id)"
        }
    }
}
