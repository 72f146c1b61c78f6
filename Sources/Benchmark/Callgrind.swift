import Foundation

/// Runs a program under callgrind, a tool of valgrind, which counts instructions. Unlike nanoseconds, they are
/// almost the same in every run, however busy the machine is.
struct Callgrind {
    private let folder: URL

    /// - Parameters:
    ///   - program: a path. What runs is a copy without debug information, because valgrind 3.19, as in Debian 12, cannot
    ///     read Swift's and gives up.
    ///   - folder: an empty folder for that copy and the profiles.
    init(program: String, folder: URL) throws {
        self.folder = folder
        try run("objcopy", ["--strip-debug", program, copy])
    }

    private var copy: String { folder.appending(path: "program").path }

    private var profile: String { folder.appending(path: "profile").path }

    /// Runs the program and returns the instructions between each call of the C function `mark` and the next one.
    func instructions(of arguments: [String], betweenCallsOf mark: String) throws -> [Int] {
        try run(
            "valgrind",
            ["--tool=callgrind", "--quiet", "--callgrind-out-file=\(profile)", "--dump-before=\(mark)", copy]
                + arguments)
        var counts: [Int] = []
        while let part = try? String(contentsOfFile: "\(profile).\(counts.count + 1)", encoding: .utf8) {
            guard let total = part.split(separator: "\n").last(where: { $0.hasPrefix("totals: ") }),
                let count = Int(total.dropFirst("totals: ".count))
            else { throw BenchmarkFailure("a profile of callgrind has no totals") }
            counts.append(count)
        }
        // The first part is what came before the first call.
        return Array(counts.dropFirst())
    }

    /// Runs a program from `PATH`. What it prints is dropped, except its errors.
    private func run(_ tool: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        // Otherwise the hash tables of every process have an order, and collisions, of their own.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: break
        case 127:
            throw BenchmarkFailure("counting instructions needs \(tool); install it (Debian: valgrind and binutils)")
        default: throw BenchmarkFailure("\(tool) ended with \(process.terminationStatus)")
        }
    }
}
