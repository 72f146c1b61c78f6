public import Foundation
import NotificationHub
import Synchronization

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A transport that uses a `URLSession`.
public struct SessionTransport: HubTransport {
    /// The timeout of one request, in seconds.
    public static let timeout: TimeInterval = 30

    private let session: URLSession

    public init(_ session: URLSession? = nil) {
        self.session = session ?? URLSession(configuration: Self.configuration)
    }

    /// A configuration without caches and cookies.
    public static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    public func send(_ request: HubRequest) async throws -> HubResponse {
        let authority = "\(request.endpoint.scheme.rawValue)://\(request.endpoint.authority)"
        guard let url = URL(string: authority + request.target) else {
            throw HubTransportProblem("the address is not a URL")
        }
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method
        if request.method != "GET" { asked.httpBody = Data(request.body) }
        for field in request.fields { asked.setValue(field.value, forHTTPHeaderField: field.name) }
        let (body, response): (Data, URLResponse)
        do { (body, response) = try await data(for: asked) } catch {
            throw HubTransportProblem((error as? URLError)?.localizedDescription ?? "the request failed")
        }
        guard let reply = response as? HTTPURLResponse else { throw HubTransportProblem("the reply is not HTTP") }
        let fields = reply.allHeaderFields.map { HeaderField("\($0.key)", "\($0.value)") }
        return HubResponse(status: reply.statusCode, fields: fields.sorted { $0.name < $1.name }, body: Array(body))
    }

    /// Like `URLSession.data(for:)`, but safe to cancel. On Linux, cancelling that method waits for a queue that may
    /// itself be waiting for the cancelled task.
    private func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let running = Running()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                running.start(
                    session.dataTask(with: request) { data, response, error in
                        if let data, let response {
                            continuation.resume(returning: (data, response))
                        } else {
                            continuation.resume(throwing: error ?? HubTransportProblem("the request failed"))
                        }
                    })
            }
        } onCancel: {
            DispatchQueue.global().async { running.cancel() }
        }
    }

    /// A task that may be cancelled before it starts.
    private final class Running: Sendable {
        private enum State {
            case idle
            case started(URLSessionDataTask)
            case cancelled
        }

        private let state = Mutex(State.idle)

        func start(_ task: URLSessionDataTask) {
            let isCancelled = state.withLock { state in
                if case .cancelled = state { return true }
                state = .started(task)
                return false
            }
            task.resume()
            // The task is cancelled after it has started, so that its completion handler is called.
            if isCancelled { task.cancel() }
        }

        func cancel() {
            let task: URLSessionDataTask? = state.withLock { state in
                defer { state = .cancelled }
                if case .started(let task) = state { return task }
                return nil
            }
            task?.cancel()
        }
    }
}
