import Foundation

/// The Java of this machine.
package enum Java {
    /// True if it can run a program from source.
    package static let isHere = Browser.isInPath("javac")

    /// Runs a program in the test's folder to its end.
    package static func run(
        _ program: String, arguments: [String] = [], input: String = "", beside test: String = #filePath
    ) async throws -> (status: Int32, output: String) {
        let file = URL(filePath: test).deletingLastPathComponent().appending(path: program)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["java", file.path] + arguments
        return try await process.output(of: input)
    }
}
