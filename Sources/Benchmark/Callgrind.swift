import Foundation

/// Runs a program under callgrind, a tool of valgrind that counts instructions. Unlike nanoseconds, the counts are
/// almost the same in every run, however busy the machine is. Timers fire too often in relation to the work, because
/// the program runs fifty times slower.
struct Callgrind {
    private let folder: URL

    /// - Parameters:
    ///   - program: a path. A copy without debug information is run, because valgrind 3.19 (in Debian 12) fails on
    ///     Swift's.
    ///   - folder: an empty folder for that copy and the profiles.
    init(program: String, folder: URL) throws {
        self.folder = folder
        try run(["valgrind", "--version"])
        try run(["objcopy", "--strip-debug", program, copy])
    }

    private var copy: String { folder.appending(path: "program").path }

    private var profile: String { folder.appending(path: "profile").path }

    /// The command that runs the program under callgrind, as arguments of `env`. The variable fixes the seed of hash
    /// tables; otherwise order and collisions would differ in each process.
    private func command(_ option: String) -> [String] {
        [
            "SWIFT_DETERMINISTIC_HASHING=1", "valgrind", "--tool=callgrind", "--quiet",
            "--callgrind-out-file=\(profile)", option, copy,
        ]
    }

    /// Runs the program and returns the instructions between each call of the C function `mark` and the next one.
    func instructions(of arguments: [String], betweenCallsOf mark: String) throws -> [Int] {
        try run(command("--dump-before=\(mark)") + arguments)
        var counts: [Int] = []
        while let part = try? text("profile.\(counts.count + 1)") { counts.append(try total(of: part)) }
        // The first part covers the time before the first call.
        return Array(counts.dropFirst())
    }

    /// Calls `body`, which must run the program with the given arguments of `env`. Returns each thread's instructions
    /// and profile, which names all functions that it ran. Threads that do not overlap in time may count as one.
    func threads(_ body: (_ command: [String]) throws -> Void) throws -> [(instructions: Int, profile: String)] {
        try body(command("--separate-threads=yes"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("profile-") }
        return try names.map { name in
            let thread = try text(name)
            // The next run may have fewer threads and would leave this file behind.
            try FileManager.default.removeItem(at: folder.appending(path: name))
            return (try total(of: thread), thread)
        }
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
    }

    private func total(of profile: String) throws -> Int {
        guard let line = profile.split(separator: "\n").last(where: { $0.hasPrefix("totals: ") }),
            let count = Int(line.dropFirst("totals: ".count))
        else { throw BenchmarkFailure("a profile of callgrind has no totals") }
        return count
    }

    /// Runs a program with `env`. Its output is dropped, its errors are not.
    private func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: break
        case 127: throw BenchmarkFailure("to count instructions, install valgrind and objcopy (Debian: binutils)")
        default:
            throw BenchmarkFailure("\(command.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
    }
}

/// Gives `body` an empty folder, which is removed afterwards.
func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "newswire-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
