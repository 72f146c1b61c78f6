import Foundation
package import Testing

/// The repository's schemas, checked by an independent program.
package enum JSONSchema {
    private static let python = Python(with: "jsonschema")

    package static let isReadable = python != nil
    package static let need: Comment = "needs Python's jsonschema (in NEWSWIRE_TEST_PYTHON or python3)"

    /// The documents that the schema misjudges, one per line: those of `good` that it refuses, and those of `bad` that
    /// it accepts.
    package static func misjudged(_ schema: String, good: [String], bad: [String]) async throws -> String {
        let documents = FileManager.default.temporaryDirectory.appending(path: "newswire-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: documents) }
        try JSONSerialization.data(withJSONObject: ["good": good, "bad": bad]).write(to: documents)
        let program = """
            import json, sys, jsonschema
            schema = json.load(open(sys.argv[1])); documents = json.load(open(sys.argv[2]))
            kind = jsonschema.Draft202012Validator; kind.check_schema(schema); validator = kind(schema)
            wrong = [x for x in documents["good"] if not validator.is_valid(json.loads(x))]
            wrong += [x for x in documents["bad"] if validator.is_valid(json.loads(x))]
            print(*wrong, sep="\\n", end="")
            """
        let file = repository.appending(path: "schemas/\(schema).schema.json").path
        let ended = try await #require(python).run(program, arguments: [file, documents.path])
        try #require(ended.status == 0)
        return ended.output
    }

    /// The examples next to the schemas whose names have this prefix, ordered by name.
    package static func examples(_ prefix: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = repository.appending(path: "schemas/examples")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }.sorted()
            .map { (String($0), Array(try Data(contentsOf: folder.appending(path: $0)))) }
    }
}
