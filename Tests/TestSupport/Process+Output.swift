import Foundation

extension Process {
    /// Runs the process to its end on a separate thread, because the tests' few threads also serve its requests. Its
    /// errors go to standard error.
    func output(of input: String) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try wait(input) })
            }
        }
    }

    private func wait(_ input: String) throws -> (Int32, String) {
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        self.standardInput = standardInput
        self.standardOutput = standardOutput
        try run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        waitUntilExit()
        return (terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
