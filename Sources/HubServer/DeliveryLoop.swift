import HubEmulator
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Carries out the deliveries of accepted sends, beside the requests and a few at a time.
struct DeliveryLoop: Service {
    /// Registrations looked at under one hold of the hub's lock.
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
