import Foundation

/// Chromium, controlled by `browser.py`.
package enum Browser {
    package static let isHere = ["chromedriver", "chromium"].allSatisfy(isInPath)

    /// The last argument of scripts: the folder for screenshots, if `NEWSWIRE_SCREENSHOTS` is set.
    package static let screenshots = ProcessInfo.processInfo.environment["NEWSWIRE_SCREENSHOTS"].map { [$0] } ?? []

    static func isInPath(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains { folder in
            FileManager.default.isExecutableFile(atPath: "\(folder)/\(program)")
        }
    }
}
