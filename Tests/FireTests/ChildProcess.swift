import Foundation

/// A program built beside the tests, run as a process. Its output goes to a file, so that it never blocks on a pipe.
final class ChildProcess: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let outputFile: URL

    init(_ name: String, _ arguments: [String], environment: [String: String] = [:], in folder: URL) throws {
        let built = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
        outputFile = folder.appending(path: "\(name)-\(UUID().uuidString).log")
        try Data().write(to: outputFile)
        process.executableURL = built.appending(path: name)
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("NEWSWIRE_") }
        process.environment = inherited.merging(environment) { $1 }
        let output = try FileHandle(forWritingTo: outputFile)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = input
        try process.run()
    }

    var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// The exit status, or the negated number of the signal that ended the process. Blocks.
    @discardableResult
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }

    var isRunning: Bool { process.isRunning }

    /// The peak memory in MiB; `nil` once the process has ended.
    var peakMemory: Int? { memory("VmHWM:") }

    /// The current memory in MiB.
    var memory: Int? { memory("VmRSS:") }

    var openFiles: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/fd").count
    }

    private func memory(_ field: String) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(field) }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }.map {
            $0 / 1024
        }
    }

    /// Closes the process's standard input.
    func closeInput() { try? input.fileHandleForWriting.close() }
}
