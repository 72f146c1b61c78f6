import Foundation

/// A Python that has what a test needs: `NEWSWIRE_TEST_PYTHON`, which `deploy/test` sets, or `python3`.
package struct Python: Sendable {
    private let interpreter = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_PYTHON"] ?? "python3"

    /// `nil` when it is not there or cannot import the modules.
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
        // Scripts of the tests may import what stands beside this file.
        let support = URL(filePath: #filePath).deletingLastPathComponent().path
        process.environment = ProcessInfo.processInfo.environment
            .merging(["PYTHONPATH": support, "PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
            .merging(environment) { $1 }
        return process
    }

    /// Runs a program to its end, on a thread that may wait: the few of the tests also serve what it asks for. What it
    /// has to say about mistakes goes to standard error.
    package func run(
        _ program: String, arguments: [String] = [], environment: [String: String] = [:], input: String = ""
    ) async throws -> (status: Int32, output: String) {
        try await run(["-c", program] + arguments, environment, input)
    }

    /// Runs the script that stands beside a test.
    package func run(
        script: String, arguments: [String] = [], beside test: String = #filePath
    ) async throws -> (status: Int32, output: String) {
        let file = URL(filePath: test).deletingLastPathComponent().appending(path: script)
        return try await run([file.path] + arguments, [:], "")
    }

    private func run(
        _ arguments: [String], _ environment: [String: String], _ input: String
    ) async throws -> (status: Int32, output: String) {
        let process = process(arguments, environment)
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.wait(for: process, input) })
            }
        }
    }

    private static func wait(for process: Process, _ input: String) throws -> (Int32, String) {
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
