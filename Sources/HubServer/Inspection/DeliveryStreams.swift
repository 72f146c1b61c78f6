import HubEmulator
import NIOCore
import NotificationHub
import Synchronization

/// An event for a reader of a delivery stream.
enum StreamEvent: Sendable {
    case delivery(PushedNotification)
    /// Sent regularly, to detect connections whose reader is gone.
    case heartbeat
}

/// The open streams of deliveries, by device.
final class DeliveryStreams: Sendable {
    /// Deliveries buffered for a slow reader, which loses older ones.
    private static let behindMax = 1000
    /// The most open streams. The server ends its callers' oldest streams before this limit is reached.
    static let watchersMax = 2000

    private struct Watcher: Sendable {
        var hub: HubName
        var handles: Set<String>
        var tell: @Sendable (StreamEvent) -> Void
        var end: @Sendable () -> Void
    }

    private struct State: Sendable {
        var watchers: [Int: Watcher] = [:]
        var nextID = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Later deliveries of one hub to these handles. Ends with the server; `nil` if too many streams are open.
    /// - Parameters:
    ///   - closed: ends the stream, even if no event is pending for its reader.
    ///   - element: converts an event; `nil` skips it.
    func watch<Element: Sendable>(
        _ handles: Set<String>, of hub: HubName, until closed: EventLoopFuture<Void>? = nil,
        as element: @escaping @Sendable (StreamEvent) -> Element?
    ) -> AsyncStream<Element>? {
        let (elements, stream) = AsyncStream<Element>.makeStream(bufferingPolicy: .bufferingNewest(Self.behindMax))
        let watcher = Watcher(
            hub: hub, handles: handles, tell: { event in element(event).map { _ = stream.yield($0) } },
            end: { stream.finish() })
        let id: Int? = state.withLock { state in
            guard !state.isClosed, state.watchers.count < Self.watchersMax else { return nil }
            state.nextID += 1
            state.watchers[state.nextID] = watcher
            return state.nextID
        }
        guard let id else { return nil }
        closed?.whenComplete { _ in stream.finish() }
        stream.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: id) }
        }
        return elements
    }

    func publish(_ deliveries: [PushedNotification], of hub: HubName) {
        let watchers = state.withLock { $0.watchers.values.filter { $0.hub == hub } }
        guard !watchers.isEmpty else { return }
        for delivery in deliveries {
            for watcher in watchers where watcher.handles.contains(delivery.handle) {
                watcher.tell(.delivery(delivery))
            }
        }
    }

    func beat() {
        for watcher in state.withLock({ Array($0.watchers.values) }) { watcher.tell(.heartbeat) }
    }

    func close() {
        let watchers = state.withLock { state in
            state.isClosed = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.end() }
    }
}
