public import Foundation
import NotificationHub

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Requests through a `URLSession`.
public struct SessionTransport: HubTransport {
    /// Of one request, in seconds.
    public static let timeout: TimeInterval = 30

    private let session: URLSession

    public init(_ session: URLSession? = nil) {
        self.session = session ?? URLSession(configuration: Self.configuration)
    }

    /// Nothing is cached and no cookies are kept.
    public static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    public func send(_ request: HubRequest) async throws -> HubResponse {
        let authority = "\(request.endpoint.scheme.rawValue)://\(request.endpoint.authority)"
        guard let url = URL(string: authority + request.target) else {
            throw HubTransportProblem("the address is no URL")
        }
        var asked = URLRequest(url: url)
        asked.httpMethod = request.method
        if request.method != "GET" { asked.httpBody = Data(request.body) }
        for field in request.fields { asked.setValue(field.value, forHTTPHeaderField: field.name) }
        let (body, response): (Data, URLResponse)
        do { (body, response) = try await session.data(for: asked) } catch {
            throw HubTransportProblem((error as? URLError)?.localizedDescription ?? "the request failed")
        }
        guard let reply = response as? HTTPURLResponse else { throw HubTransportProblem("the reply is not HTTP") }
        let fields = reply.allHeaderFields.map { HeaderField("\($0.key)", "\($0.value)") }
        return HubResponse(status: reply.statusCode, fields: fields.sorted { $0.name < $1.name }, body: Array(body))
    }
}
