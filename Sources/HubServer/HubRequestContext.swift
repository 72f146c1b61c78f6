import Foundation
import Hummingbird
import NIOCore

/// What the responder needs of a connection: who is there, and the power to cut it.
struct HubRequestContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
    }

    /// Whether the caller is on this machine.
    var isLocal: Bool {
        guard let address = channel.remoteAddress?.ipAddress else { return false }
        return address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }

    /// Waits on the connection's own event loop.
    func pause(milliseconds: Int64) async {
        try? await channel.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {}.futureResult.get()
    }

    /// Ends the connection with a reset instead of an orderly close.
    func reset() async {
        let abort = linger(l_onoff: 1, l_linger: 0)
        try? await (channel as? any SocketOptionProvider)?.setSoLinger(abort).get()
        try? await channel.close().get()
    }
}
