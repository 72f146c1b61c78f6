import Logging
import OTLPTracing
import PublisherService
import StatusServer

extension Settings {
    /// Serves health, metrics and the dashboard where the settings say.
    ///
    /// - Returns: `nil` when that is off, or when the port cannot be had: news must go out all the same.
    func serveStatus(of publisher: Publisher, exporter: SpanExporter?, log: Logger) async -> RunningStatusServer? {
        guard let listen else { return nil }
        let server = StatusServer(
            StatusServerSettings(host: listen.host, port: listen.port, token: token?.revealed), publisher: publisher,
            exporter: exporter, log: log)
        do throws(StatusServerProblem) {
            let running = try await server.start()
            let address = NetworkAddress(host: listen.host, port: running.port)
            log.info("status served", metadata: ["address": "\(address)", "dashboard": "http://\(address)/"])
            return running
        } catch {
            log.error(
                "status not served: no health, no metrics",
                metadata: ["reason": "\(error)", "remedy": "give each process its own http.listen, or set it to off"])
            return nil
        }
    }
}
