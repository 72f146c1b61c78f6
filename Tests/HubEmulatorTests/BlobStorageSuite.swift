import TestSupport

@testable import HubEmulator

/// A suite that makes the calls of a storage client.
protocol BlobStorageSuite {}

extension BlobStorageSuite {
    /// A namespace with two registrations, and the address of its container.
    func prepared() throws -> (TestNamespace, container: String) {
        var test = try TestNamespace()
        for id in ["1-2-3", "1-2-4"] {
            _ = test.call("PUT", "/BreakingNews/registrations/\(id)", body: WireTable.apple)
        }
        let expires = test.now.advanced(byMilliseconds: 3_600_000)
        return (test, test.namespace.jobsContainerURL(base: "http://news.example", until: expires))
    }

    /// The address of a blob in a container.
    func blob(_ name: String, in container: String) -> String {
        container.replacing("?", with: "/\(name)?", maxReplacements: 1)
    }

    /// Makes a storage client's call, with no credentials except the address.
    func storage(
        _ test: inout TestNamespace, _ method: String, _ url: String, headers: HubHeaders = [:], body: String = ""
    ) -> HubHTTPResponse {
        var fields = headers
        fields.append("Host", "news.example")
        return test.namespace.handle(
            HubHTTPRequest(
                method: method, target: String(url.dropFirst("http://news.example".count)), headers: fields,
                body: Array(body.utf8)), at: test.now)
    }
}
