public import Foundation

/// The address of an OpenTelemetry collector that accepts OTLP over HTTP.
public struct CollectorAddress: Sendable, Hashable {
    /// The URL, including the path for traces.
    public let url: URL

    /// - Parameter base: e.g. `http://127.0.0.1:4318`, without a password. As OTLP requires, `/v1/traces` is added.
    public init(_ base: String) throws(CollectorAddressProblem) {
        guard let parts = URLComponents(string: base), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), parts.host?.isEmpty == false, parts.query == nil, parts.fragment == nil,
            let url = parts.url
        else { throw .notAnAddress }
        guard parts.user == nil, parts.password == nil else { throw .holdsPassword }
        self.url = url.appending(path: "v1/traces")
    }
}

public enum CollectorAddressProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case notAnAddress
    case holdsPassword

    public var description: String {
        switch self {
        case .notAnAddress: "is no http or https address"
        case .holdsPassword: "holds a user or a password"
        }
    }
}
