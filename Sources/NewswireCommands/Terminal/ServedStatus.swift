import HTTPServing
import Logging
import NewswireSettings

/// The status of a service over HTTP. The service also runs without it.
enum ServedStatus {
    /// - Parameters:
    ///   - page: the name of the page in the log.
    ///   - setting: the settings key of the address.
    /// - Returns: `nil` if the port is not available. That is logged, and the service continues.
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
