import HubEmulator
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Makes the deliveries of accepted sends while requests are served, a few at a time.
struct DeliveryLoop: Service {
    /// Registrations examined while the hub's lock is held once.
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
