import Foundation

/// A Python that has what a test needs: `NEWSWIRE_PYTHON`, or `python3`.
struct Python {
    private let name = ProcessInfo.processInfo.environment["NEWSWIRE_PYTHON"] ?? "python3"

    /// `nil` when it is not there or cannot import the module.
    init?(with module: String) {
        let process = process("import \(module)", [])
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
    }

    private func process(_ program: String, _ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name, "-c", program] + arguments
        return process
    }

    /// Runs a program to its end, on a thread that may wait: the few of the tests also serve what it asks for. What it
    /// has to say about mistakes goes to standard error.
    func run(
        _ program: String, arguments: [String] = [], input: String = ""
    ) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try runWaiting(program, arguments, input) })
            }
        }
    }

    private func runWaiting(_ program: String, _ arguments: [String], _ input: String) throws -> (Int32, String) {
        let process = process(program, arguments)
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
