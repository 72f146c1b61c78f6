import Foundation

/// The configuration file on disk, read together with the process's environment.
package struct SettingsFile: Sendable {
    var path: String

    private static let secretBytesMax = 64 * 1024

    package init(path: String) {
        self.path = path
    }

    /// - Throws: `SettingsFileFailure` if the file itself cannot be read. Problems inside it are returned.
    package func read(
        environment: [String: String] = ProcessInfo.processInfo.environment, leavingOut: Set<String> = []
    ) throws(SettingsFileFailure) -> LoadedSettings {
        let text = try Self.text(path, bytesMax: SettingsDocument.bytesMax).get()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return LoadedSettings(text, environment: environment, leavingOut: leavingOut) { reference in
            // Paths are relative to the configuration, not to the folder that the process was started in.
            Self.text(URL(fileURLWithPath: reference, relativeTo: folder).path, bytesMax: Self.secretBytesMax)
        }
    }

    /// Reads at most one byte more than the bound, so that an endless device or pipe does no harm.
    private static func text(_ path: String, bytesMax: Int) -> Result<String, SettingsFileFailure> {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return .failure(.missing) }
        guard !isFolder.boolValue, let file = FileHandle(forReadingAtPath: path) else { return .failure(.unreadable) }
        defer { try? file.close() }
        var bytes = Data()
        do {
            while bytes.count <= bytesMax, let more = try file.read(upToCount: bytesMax + 1 - bytes.count),
                !more.isEmpty
            {
                bytes.append(more)
            }
        } catch {
            return .failure(.unreadable)
        }
        guard bytes.count <= bytesMax else { return .failure(.tooLarge(bytesMax: bytesMax)) }
        // Some editors begin a file with a byte order mark, which is not part of its text.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        return String(validating: bytes, as: UTF8.self).map { .success($0) } ?? .failure(.notText)
    }
}

/// The reason a file cannot be read. Its description completes a sentence that begins with the file's name.
package enum SettingsFileFailure: Error, Hashable, CustomStringConvertible {
    case missing
    case unreadable
    case tooLarge(bytesMax: Int)
    case notText

    package var description: String {
        switch self {
        case .missing: "does not exist"
        case .unreadable: "cannot be read"
        case .tooLarge(let bytesMax): "is larger than \(bytesMax / 1024) KiB"
        case .notText: "is not UTF-8 text"
        }
    }
}
