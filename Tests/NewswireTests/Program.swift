import Foundation
import HubServer
import KafkaIO
import NotificationHub

/// The newswire program that was built beside the tests.
enum Program {
    struct Ended {
        var status: Int32
        var output: String
        var errors: String
    }

    static var url: URL {
        URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent().appending(
            path: "newswire")
    }

    /// A standard output on a disk without room.
    static func fullDisk() throws -> FileHandle { try FileHandle(forWritingTo: URL(filePath: "/dev/full")) }

    /// Runs the program to its end on a thread that may block.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String? = nil, output: FileHandle? = nil
    ) async throws -> Ended {
        let running = try start(arguments, environment: environment, input: input, output: output)
        return try await running.ended()
    }

    /// Runs commands in a shell that finds the program, as a person pastes them.
    static func run(pasted script: String, in folder: URL, environment: [String: String] = [:]) async throws -> Ended {
        let path = url.deletingLastPathComponent().path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let arguments = ["-euo", "pipefail", "-c", "cd '\(folder.path)'\n\(script)"]
        let environment = environment.merging(["PATH": path]) { $1 }
        return try await Running(URL(filePath: "/bin/bash"), arguments, environment).ended()
    }

    /// - Parameters:
    ///   - output: standard output; by default a file whose text the result has.
    ///   - errors: standard error; by default a file whose text the result has.
    static func start(
        _ arguments: [String], environment: [String: String] = [:], input: String? = nil, output: FileHandle? = nil,
        errors: FileHandle? = nil
    ) throws -> Running {
        try Running(url, arguments, environment, input, output, errors)
    }

    /// Starts the program from a shell that first runs these commands, such as limits.
    static func start(_ arguments: [String], after commands: [String]) throws -> Running {
        let shell = ["-c", (commands + ["exec \"$0\" \"$@\""]).joined(separator: " && "), url.path]
        return try Running(URL(fileURLWithPath: "/bin/sh"), shell + arguments)
    }

    /// A process whose output goes to files, so that it never waits for a reader.
    final class Running: @unchecked Sendable {
        private let process = Process()
        /// A stream that finishes with the process, because `waitUntilExit` may fill a core while it waits.
        private let end = AsyncStream<Never>.makeStream()
        private let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-\(UUID().uuidString)")

        init(
            _ url: URL, _ arguments: [String], _ environment: [String: String] = [:], _ input: String? = nil,
            _ output: FileHandle? = nil, _ errors: FileHandle? = nil
        ) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            process.executableURL = url
            process.arguments = arguments
            let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("NEWSWIRE_") }
            process.environment = inherited.merging(environment) { $1 }
            let file = try file("output")
            process.standardOutput = output ?? file
            let errorFile = try self.file("errors")
            process.standardError = errors ?? errorFile
            try Data((input ?? "").utf8).write(to: folder.appending(path: "input"))
            let inputFile = try FileHandle(forReadingFrom: folder.appending(path: "input"))
            process.standardInput = inputFile
            process.terminationHandler = { [end] _ in end.continuation.finish() }
            try process.run()
            // The process has descriptors of its own. Ours would stay open, because Foundation keeps the process object.
            for file in [file, errorFile, inputFile] { try file.close() }
        }

        private func file(_ name: String) throws -> FileHandle {
            let url = folder.appending(path: name)
            try Data().write(to: url)
            return try FileHandle(forWritingTo: url)
        }

        func terminate() { process.terminate() }

        var id: pid_t { process.processIdentifier }

        func signal(_ number: Int32) { kill(process.processIdentifier, number) }

        /// Standard output until now.
        var output: String {
            get throws { try String(contentsOf: folder.appending(path: "output"), encoding: .utf8) }
        }

        var errors: String { (try? String(contentsOf: folder.appending(path: "errors"), encoding: .utf8)) ?? "" }

        /// Waits for a line with the text on standard error, on a thread that may block.
        ///
        /// - Returns: the line; the last one, if the process ended without it.
        @discardableResult
        func wrote(_ text: String) async throws -> String { await line(with: text) { self.errors } }

        /// Waits for a line with the text on standard output, on a thread that may block.
        func printed(_ text: String) async throws -> String { await line(with: text) { (try? self.output) ?? "" } }

        private func line(with text: String, in source: @escaping @Sendable () -> String) async -> String {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    while true {
                        let isOver = !self.process.isRunning
                        let lines = source().split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                        let line = lines.first { $0.contains(text) }
                        if isOver || line != nil {
                            continuation.resume(returning: String(line ?? lines.last ?? ""))
                            return
                        }
                        // Nothing signals the progress of another process, so this polls.
                        usleep(2_000)
                    }
                }
            }
        }

        func ended() async throws -> Ended {
            for await _ in end.stream {}
            defer { try? FileManager.default.removeItem(at: folder) }
            return Ended(
                status: process.terminationStatus,
                output: try String(contentsOf: folder.appending(path: "output"), encoding: .utf8),
                errors: try String(contentsOf: folder.appending(path: "errors"), encoding: .utf8))
        }
    }
}

/// A broker, a hub and a configuration for both, in a folder of its own.
struct ProgramRoom {
    let broker: EmbeddedBroker
    let hub: RunningHub
    let folder: URL

    init(topics: [(String, Int)]? = nil, hub settings: HubServerSettings? = nil) async throws {
        broker = try EmbeddedBroker(
            topics: topics ?? [("news.events", 2), ("news.results", 2), ("news.dead-letters", 2)])
        hub = try await HubServer(
            settings ?? HubServerSettings(port: 0, hubName: try HubName("breaking-news"))
        ).start()
        folder = FileManager.default.temporaryDirectory.appending(path: "newsroom-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(
            """
            kafka:
              bootstrapServers: ${BROKERS}
              properties: {session.timeout.ms: 6000, fetch.wait.max.ms: 10}
            lanes: {live: {topics: [news.events]}}
            hub: {connectionString: "${HUB}", name: breaking-news}
            rate: {perSecond: unlimited}
            http: {listen: off}
            """, to: "newswire.yaml")
    }

    var environment: [String: String] {
        ["BROKERS": broker.bootstrapServers.joined(separator: ","), "HUB": hub.connectionString.revealed]
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    func run(_ arguments: String..., input: String? = nil, output: FileHandle? = nil) async throws -> Program.Ended {
        try await Program.run(configured(arguments), environment: environment, input: input, output: output)
    }

    func start(_ arguments: String..., output: FileHandle? = nil) throws -> Program.Running {
        try Program.start(configured(arguments), environment: environment, output: output)
    }

    private func configured(_ arguments: [String]) -> [String] {
        arguments.prefix(1) + ["--config", path("newswire.yaml")] + arguments.dropFirst()
    }

    func close() async {
        await hub.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
