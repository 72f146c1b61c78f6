import Hummingbird
import NIOCore

/// What the responder needs of a connection: who is there, and a clock to wait by.
struct StatusRequestContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// The caller's address, for the log.
    var caller: String { channel.remoteAddress?.ipAddress ?? "unknown" }

    /// Whether the caller is on this machine.
    var isLocal: Bool { caller == "::1" || caller.hasPrefix("127.") || caller.hasPrefix("::ffff:127.") }

    /// Waits on the connection's own event loop.
    func pause(seconds: Int64) async {
        try? await channel.eventLoop.scheduleTask(in: .seconds(seconds)) {}.futureResult.get()
    }
}
