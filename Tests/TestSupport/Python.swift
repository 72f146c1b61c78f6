import Foundation

/// A Python with the modules of a test: the one in `NEWSWIRE_TEST_PYTHON`, which `deploy/test` sets, or `python3`.
package struct Python: Sendable {
    private let interpreter = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_PYTHON"] ?? "python3"

    /// Returns `nil` if there is no such Python or it cannot import the modules.
    package init?(with modules: String...) {
        let process = process(["-c", "import " + modules.joined(separator: ",")], [:])
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
    }

    private func process(_ arguments: [String], _ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [interpreter] + arguments
        // Scripts of the tests may import modules next to this file.
        let support = URL(filePath: #filePath).deletingLastPathComponent().path
        process.environment = ProcessInfo.processInfo.environment
            .merging(["PYTHONPATH": support, "PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
            .merging(environment) { $1 }
        return process
    }

    /// Runs a program to its end.
    package func run(
        _ program: String, arguments: [String] = [], environment: [String: String] = [:], input: String = ""
    ) async throws -> (status: Int32, output: String) {
        try await run(["-c", program] + arguments, environment, input)
    }

    /// Runs a script in the test's folder.
    package func run(
        script: String, arguments: [String] = [], input: String = "", beside test: String = #filePath
    ) async throws -> (status: Int32, output: String) {
        let file = URL(filePath: test).deletingLastPathComponent().appending(path: script)
        return try await run([file.path] + arguments, [:], input)
    }

    private func run(
        _ arguments: [String], _ environment: [String: String], _ input: String
    ) async throws -> (status: Int32, output: String) {
        try await process(arguments, environment).output(of: input)
    }
}
