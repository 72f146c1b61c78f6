import NewsModel
import Synchronization
import TestSupport
import Testing

@testable import SchemaRegistry

private let article = #"""
    {"type": "record", "name": "A", "fields": [{"name": "id", "type": "string"}, {"name": "headline", "type": "string"},
     {"name": "category", "type": "string"}]}
    """#

extension WriterSchema {
    /// `avro`, `json`, or the reason and its detail.
    fileprivate var text: String {
        switch self {
        case .avro: "avro"
        case .json: "json"
        case .unusable(let error): "\(error.reason.rawValue): \(error.detail)"
        }
    }
}

@Suite(.ownThread)
struct SchemaRegistryTests {
    @Test func `schemas of each type are told apart, and asked for once`() async throws {
        let server = try await TestRegistry { path in
            switch path {
            case "/schemas/ids/1": .schema(article)
            case "/schemas/ids/2": .schema(#"{"type": "object"}"#, type: "JSON")
            case "/schemas/ids/3": .schema("syntax = \"proto3\";", type: "PROTOBUF")
            case "/schemas/ids/4": .schema(#"{"type": "record"}"#, type: "AVRO")
            default: .unknown
            }
        }
        let registry = SchemaRegistry(url: server.url, basicAuth: "user:pass")
        for _ in 0..<2 {
            #expect(registry.schemaNow(1).text == "avro")
            #expect(registry.schemaNow(2).text == "json")
            let protobuf = "unusable-schema: schema 3: records in PROTOBUF are not decoded; Avro and JSON are"
            #expect(registry.schemaNow(3).text == protobuf)
            #expect(registry.schemaNow(4).text.hasPrefix("unusable-schema: schema 4: the Avro schema has a record"))
            #expect(registry.schemaNow(9).text == "unknown-schema: the schema registry has no schema 9")
        }
        let asked = [1, 2, 3, 4, 9].map { "/schemas/ids/\($0) Basic dXNlcjpwYXNz" }
        #expect(server.requests == asked)
        await server.close()
    }

    @Test func `a schema that is too large cannot be used, and its records wait for nothing`() async throws {
        let large = String(repeating: " ", count: 5 << 20)
        let server = try await TestRegistry { _ in .schema(large) }
        let registry = SchemaRegistry(url: server.url)
        for _ in 0..<2 {
            let schema = try #require(await registry.schema(7) { Issue.record("it is asked again: \($0)") })
            #expect(schema.text.hasPrefix("unusable-schema: schema 7: its answer has more than "), "\(schema.text)")
        }
        #expect(server.requests.count == 1)
        await server.close()
    }

    @Test func `schemas that one refers to are fetched first, each once, also in a circle`() async throws {
        let server = try await TestRegistry { path in
            switch path {
            case "/schemas/ids/1":
                .schema(
                    #"{"type": "record", "name": "A", "fields": [{"name": "b", "type": "B"}, {"name": "c", "type": "C"}]}"#,
                    references:
                        #"[{"name": "B", "subject": "b/b", "version": 2}, {"name": "C", "subject": "c", "version": 1}]"#
                )
            case "/subjects/b%2Fb/versions/2?deleted=true":
                .schema(
                    #"{"type": "record", "name": "B", "fields": [{"name": "c", "type": "C"}]}"#,
                    references: #"[{"name": "C", "subject": "c", "version": 1}]"#)
            case "/subjects/c/versions/1?deleted=true":
                .schema(
                    #"{"type": "fixed", "name": "C", "size": 1}"#,
                    references: #"[{"name": "B", "subject": "b/b", "version": 2}]"#)
            case "/schemas/ids/2":
                .schema(article, references: #"[{"name": "X", "subject": "x", "version": 1}]"#)
            default: .init(status: 404, body: #"{"error_code": 40401}"#)
            }
        }
        let registry = SchemaRegistry(url: server.url)
        #expect(registry.schemaNow(1).text == "avro")
        #expect(
            server.requests == [
                "/schemas/ids/1 -", "/subjects/b%2Fb/versions/2?deleted=true -",
                "/subjects/c/versions/1?deleted=true -",
            ])
        #expect(
            registry.schemaNow(2).text
                == "unknown-schema: schema 2: it refers to x version 1, which the registry does not have")
        await server.close()
    }

    @Test(
        arguments: [
            (404, "<html>", "answered with status 404"), (500, "{}", "answered with status 500"),
            (401, "{}", "refuses schemaRegistry.basicAuth"), (200, "{", "answer is not understood"),
            (200, "{}", "answer is not understood"),
        ])
    func `an answer that says nothing about the schema is no reason to give up its records`(
        status: Int, body: String, says: String
    ) async throws {
        let good = Mutex(false)
        let server = try await TestRegistry { _ in
            good.withLock { $0 } ? .schema(article) : .init(status: status, body: body)
        }
        let registry = SchemaRegistry(url: server.url, basicAuth: "user:secret")
        if status != 200 { #expect(registry.problem()?.contains(says) == true) }
        let failures = Mutex<[String]>([])
        let schema = await registry.schema(1) { reason in
            failures.withLock { $0.append(reason) }
            good.withLock { $0 = true }
        }
        #expect(schema?.text == "avro")
        #expect(registry.problem() == nil)
        let told = failures.withLock { $0 }
        #expect(told.count == 1 && told[0].contains(says), "\(told)")
        #expect(!told[0].contains("secret"))
        await server.close()
    }

    @Test func `a registry that cannot be reached is named without the secret`() async throws {
        let server = try await TestRegistry { _ in .unknown }
        await server.close()
        let text = SchemaRegistry(url: server.url, basicAuth: "user:secret").schemaNow(1).text
        #expect(text == "unknown-schema: the schema registry does not answer: connection refused")
        #expect(!text.contains("secret") && !text.contains("dXNlcj"))
    }
}
