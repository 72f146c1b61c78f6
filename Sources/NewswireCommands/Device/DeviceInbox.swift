import BreakingNews
import ByteText
import Foundation
import NIOCore
import NotificationHub

/// Shows the emulator's deliveries to one device, each once and in order, across lost connections and restarts.
actor DeviceInbox {
    private let endpoint: HubEndpoint
    private let hub: HubName
    private let link: DeviceLink
    private let clock = SystemClock()
    private let onArrival: @Sendable (DeviceNotification) -> Void
    private let onReturn: @Sendable () async -> Void
    private var memory: DeviceMemory
    private var isSilent = false
    private var wasOpen = false
    /// The send of the audible notification that was shown last.
    private var lastAudible: String?

    /// - Parameter onReturn: called when the hub is back, because a hub without a store has forgotten all registrations.
    init(
        _ endpoint: HubEndpoint, _ hub: HubName, _ link: DeviceLink, memory: DeviceMemory,
        onReturn: @escaping @Sendable () async -> Void, onArrival: @escaping @Sendable (DeviceNotification) -> Void
    ) {
        (self.endpoint, self.hub, self.link) = (endpoint, hub, link)
        self.memory = memory
        self.onReturn = onReturn
        self.onArrival = onArrival
    }

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await watch()
            if !Task.isCancelled { await clock.sleep(seconds: 1) }
        }
    }

    /// Follows one connection to its end. The stream is opened before older deliveries are fetched, so that no delivery is lost
    /// in between. If they cannot be fetched, nothing of the stream is shown, because everything before it would count as seen.
    private func watch() async {
        guard await isEmulator() else { return }
        var events = DeviceEventReader()
        do {
            let stream = link.open(
                request("/_emulator/stream?hub=\(hub)&handle=\(memory.handle.percentEncoded)"),
                silenceMax: Self.silenceMax)
            for try await piece in stream {
                switch piece {
                case .opened(200, _):
                    if wasOpen { await onReturn() }
                    wasOpen = true
                    guard await catchUp() else { return }
                case .opened: return
                case .bytes(let bytes):
                    let notifications = events.read(bytes).compactMap { DeviceNotification($0) }
                    // The audible copy may still be in flight to this device, but the hub already has it.
                    if notifications.contains(where: { isAlone($0, among: notifications) }) {
                        guard await catchUp() else { return }
                    }
                    show(notifications)
                }
            }
        } catch {
            // The caller opens the connection again after any error.
        }
    }

    /// Maximum silence of the stream. The hub sends something every 15 s, at least a comment.
    private static let silenceMax = TimeAmount.seconds(45)

    /// Shows the deliveries that the hub still keeps and that were not shown yet.
    ///
    /// - Returns: `false` if the hub gave no answer.
    func catchUp() async -> Bool {
        guard let reply = await get("/_emulator/devices/\(memory.handle.percentEncoded)?hub=\(hub)"),
            reply.status == 200,
            let root = try? JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any],
            let deliveries = root["deliveries"] as? [[String: Any]]
        else { return false }
        show(deliveries.compactMap { DeviceNotification($0) })
        return true
    }

    /// True for a silent notification whose audible copy has not arrived before it.
    private func isAlone(_ notification: DeviceNotification, among others: [DeviceNotification]) -> Bool {
        notification.isQuiet && notification.message != lastAudible
            && !others.contains { !$0.isQuiet && $0.message == notification.message }
    }

    /// Shows new notifications. A send that names no template arrives through both templates of the device. Only the audible
    /// copy is shown, as on a phone, where one replaces the other.
    private func show(_ notifications: [DeviceNotification]) {
        let before = memory.seen
        let new = notifications.filter { $0.number > before }
        let audible = Set(new.lazy.filter { !$0.isQuiet && $0.isShown }.map(\.message))
        for notification in new where notification.number > memory.seen {
            memory.seen = notification.number
            let isTwin = audible.contains(notification.message) || notification.message == lastAudible
            if !notification.isQuiet, notification.isShown { lastAudible = notification.message }
            if notification.isShown, !(notification.isQuiet && isTwin) { onArrival(notification) }
        }
        // If the file cannot be written, the next start repeats these deliveries.
        if memory.seen != before { try? memory.save() }
    }

    /// True if the hub is the emulator. Otherwise reports once that it is not.
    private func isEmulator() async -> Bool {
        // The registrar reports a missing reply, so it is not reported here.
        guard let reply = await get("/_emulator/status?hub=\(hub)") else { return false }
        let root = (try? JSONSerialization.jsonObject(with: Data(reply.body))) as? [String: Any]
        // The emulator has no such hub, which the registrar reports too.
        if reply.status == 404, root?["error"] != nil { return false }
        guard reply.status == 200, let delivered = root?["delivered"] as? Int else {
            if !isSilent {
                notice(
                    "this hub is not the emulator, or not on this machine: the device can register, but its notifications "
                        + "cannot be shown here")
            }
            isSilent = true
            return false
        }
        // A restarted hub counts from 1.
        if delivered < memory.seen { memory.seen = 0 }
        return true
    }

    private func get(_ target: String) async -> HubResponse? { try? await link.send(request(target)) }

    private func request(_ target: String) -> HubRequest {
        HubRequest(method: "GET", endpoint: endpoint, target: endpoint.basePath + target)
    }
}
