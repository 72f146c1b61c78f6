import HubEmulator
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Makes the deliveries of accepted sends a few at a time, so that requests are served in between.
struct DeliveryLoop: Service {
    /// Registrations examined in one hold of the hub's lock.
    private static let batch = 256

    let hub: ServedHub

    func run() async {
        let beat = MultiThreadedEventLoopGroup.singleton.any()
            .scheduleRepeatedTask(initialDelay: .seconds(15), delay: .seconds(15)) { [streams = hub.streams] _ in
                streams.beat()
            }
        defer { beat.cancel() }
        await withGracefulShutdownHandler {
            for await _ in hub.wakes {
                while hub.deliverSome(Self.batch) { await Task.yield() }
            }
        } onGracefulShutdown: {
            hub.close()
        }
    }
}
