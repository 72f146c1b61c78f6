import Foundation
import NewswireSettings
import TestSupport
import Testing

/// An independent validator tests the schema.
private let python = Python(with: "jsonschema")

private let schema = repository.appending(path: "schemas/configuration.schema.json")

@Test func `the published schema is the one generated from the keys`() throws {
    if ProcessInfo.processInfo.environment["NEWSWIRE_TEST_RECORD"] != nil {
        try Data(SettingsSchema.json().utf8).write(to: schema)
    }
    let stored = try String(contentsOf: schema, encoding: .utf8)
    #expect(
        stored == SettingsSchema.json(), "run the test once with NEWSWIRE_TEST_RECORD=1 and review the difference")
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(stored.utf8)) }
}

@Test(
    .enabled(if: python != nil, "needs Python's jsonschema (in NEWSWIRE_TEST_PYTHON or python3)"),
    arguments: [
        (#"{"lanes": {"live": {"topics": ["a"], "maxAge": "15m", "floor": "10%"}}}"#, true),
        (#"{"lanes": {"live": {"topics": "${TOPICS}", "window": {"bytes": "16MiB", "records": 5}}}}"#, true),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "rate": {"perSecond": "unlimited"}, "http": {"listen": false}}"#, true),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "hub": {"connections": "${N}", "requestTimeout": "1m30s"}}"#, true),
        (
            #"{"lanes": {"x": {"topics": ["a"]}}, "categories": {"World": {}}, "kafka": {"properties": {"a.b": 1}}}"#,
            true
        ),
        (#"{"lanes": {}}"#, false),
        (#"{}"#, false),
        (#"{"lanes": {"x": {"topics": []}}}"#, false),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "rate": {"perSecond": 0}}"#, false),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "rate": {"persecond": 5}}"#, false),
        (#"{"lanes": {"x": {"topics": ["a"], "maxAge": "15"}}}"#, false),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "payload": {"platforms": ["aple"]}}"#, false),
        (#"{"lanes": {"x": {"topics": ["a"]}}, "surprise": 1}"#, false),
    ])
func `an independent validator accepts and refuses the same documents`(document: String, isValid: Bool) async throws {
    let program = """
        import json, sys, jsonschema
        schema = json.load(open(sys.argv[1]))
        jsonschema.Draft202012Validator.check_schema(schema)
        sys.exit(0 if jsonschema.Draft202012Validator(schema).is_valid(json.loads(sys.argv[2])) else 3)
        """
    let ended = try await #require(python).run(program, arguments: [schema.path, document])
    #expect(ended.status == (isValid ? 0 : 3))
}
