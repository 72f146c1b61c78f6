import Foundation
import Logging
import OTLPTracing
import PublisherService

extension Settings {
    /// Where spans go; `nil` when nobody wants them.
    func makeExporter(log: Logger) throws -> SpanExporter? {
        guard let endpoint = tracing.endpoint else { return nil }
        let process = ProcessInfo.processInfo
        let resource = [
            ("service.name", "newswire"), ("service.version", ServiceVersion.text),
            ("service.instance.id", kafka.instance ?? "\(process.hostName):\(process.processIdentifier)"),
        ]
        let headers = tracing.headers.map { (name: $0.name, value: $0.value.revealed) }
        return SpanExporter(try CollectorAddress(endpoint), headers: headers, resource: resource) { reason in
            if let reason {
                log.warning("spans are not exported", metadata: ["reason": "\(reason)"])
            } else {
                log.notice("spans are exported again")
            }
        }
    }
}
