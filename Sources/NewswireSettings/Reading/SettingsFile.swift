import Foundation

/// The configuration file on disk, read with the process's environment.
struct SettingsFile: Sendable {
    var path: String

    private static let secretBytesMax = 64 * 1024

    /// - Throws: `SettingsFileFailure` when the file itself cannot be read; what is wrong inside is in the reading.
    func read(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(SettingsFileFailure) -> SettingsReading {
        let text = try Self.text(path, bytesMax: SettingsDocument.bytesMax).get()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        return SettingsReading(text, environment: environment) { reference in
            // Relative to the configuration, wherever the process was started.
            Self.text(URL(fileURLWithPath: reference, relativeTo: folder).path, bytesMax: Self.secretBytesMax)
        }
    }

    /// Reads at most one byte more than the bound, so that a device or a pipe without end does no harm.
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
        return String(validating: bytes, as: UTF8.self).map { .success($0) } ?? .failure(.notText)
    }
}
