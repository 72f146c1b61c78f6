import Foundation
import HTTPServing
import NIOCore

extension ConnectionContext {
    /// Ends the connection with a reset rather than an orderly close.
    func reset() async {
        let abort = linger(l_onoff: 1, l_linger: 0)
        try? await (connection as? any SocketOptionProvider)?.setSoLinger(abort).get()
        try? await connection.close().get()
    }
}
