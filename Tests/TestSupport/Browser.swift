import Foundation

/// Chromium, which `browser.py` drives.
package enum Browser {
    package static let isHere = ["chromedriver", "chromium"].allSatisfy(isInPath)

    /// What a script takes as its last argument: a folder for screenshots, when `NEWSWIRE_SCREENSHOTS` names one.
    package static let screenshots = ProcessInfo.processInfo.environment["NEWSWIRE_SCREENSHOTS"].map { [$0] } ?? []

    static func isInPath(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains { folder in
            FileManager.default.isExecutableFile(atPath: "\(folder)/\(program)")
        }
    }
}
