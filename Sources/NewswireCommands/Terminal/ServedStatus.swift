import HTTPServing
import Logging
import NewswireSettings

/// The status of a service over HTTP, which the service can do without.
enum ServedStatus {
    /// - Parameters:
    ///   - page: what people find there, for the log.
    ///   - setting: the key of the address.
    /// - Returns: `nil` when the port is not available, which the log says: the service goes on all the same.
    static func begin(
        on listen: NetworkAddress, page: String, setting: String, log: Logger,
        _ start: () async throws(ListenFailure) -> RunningServer
    ) async -> RunningServer? {
        do throws(ListenFailure) {
            let running = try await start()
            let address = NetworkAddress(host: listen.host, port: running.port)
            log.info("status served", metadata: ["address": "\(address)", "\(page)": "http://\(address)/"])
            return running
        } catch {
            log.error(
                "status not served: no health, no metrics",
                metadata: [
                    "reason": "\(error)", "remedy": "\(error.remedy): each process needs its own \(setting), or off",
                ])
            return nil
        }
    }
}
