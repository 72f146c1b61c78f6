import Foundation

/// The configuration file on disk, read together with the process's environment.
package struct SettingsFile: Sendable {
    var path: String

    private static let secretBytesMax = 64 * 1024

    /// The environment variable that names the configuration.
    package static let variable = "NEWSWIRE_CONFIG"
    /// The places of a configuration that neither the command line nor the environment names; the first that exists counts.
    package static let standardPaths = ["./newswire.yaml", "/etc/newswire/newswire.yaml"]

    package init(path: String) { self.path = path }

    /// The path of the environment variable, which need not exist, or else the first standard path that does.
    package static func standardPath(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        if let path = environment[variable], !path.isEmpty { return path }
        return standardPaths.first { FileManager.default.fileExists(atPath: $0) }
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

    private static func text(_ path: String, bytesMax: Int) -> Result<String, SettingsFileFailure> {
        Result { () throws(SettingsFileFailure) in try bytes(of: path, max: bytesMax) }.flatMap { bytes in
            // Some editors begin a file with a byte order mark, which is not part of its text.
            let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
            return String(validating: text, as: UTF8.self).map { .success($0) } ?? .failure(.notText)
        }
    }

    /// Reads a file up to a bound, and at most one byte more, so that an endless device or pipe does no harm.
    package static func bytes(of path: String, max bytesMax: Int) throws(SettingsFileFailure) -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { throw .missing }
        guard !isFolder.boolValue, let file = FileHandle(forReadingAtPath: path) else { throw .unreadable }
        defer { try? file.close() }
        var bytes: [UInt8] = []
        do {
            while bytes.count <= bytesMax, let more = try file.read(upToCount: bytesMax + 1 - bytes.count),
                !more.isEmpty
            {
                bytes += more
            }
        } catch {
            throw .unreadable
        }
        guard bytes.count <= bytesMax else { throw .tooLarge(bytesMax: bytesMax) }
        return bytes
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

/// Replaces `${NAME}` and `${file:PATH}` anywhere in a value. `$${` stands for a plain `${`; any other `$` is itself.
package struct SettingsInterpolation: Sendable {
    var environment: [String: String]
    /// Reads the file and returns its text.
    var readFile: @Sendable (_ path: String) -> Result<String, SettingsFileFailure>

    package struct Failure: Error, Hashable {
        package var message: String
        var remedy: String
    }

    /// The value with everything filled in. A value that was filled in may be a secret, so problems never quote it.
    package func expand(_ text: String) throws(Failure) -> (text: String, isFilledIn: Bool) {
        var output = ""
        var rest = text[...]
        var isFilledIn = false
        while let dollar = rest.firstIndex(of: "$") {
            output += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                output += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let close = rest.firstIndex(of: "}") else {
                    throw Failure(message: "'${' without a '}'", remedy: "close it, or write '$${' for a plain '${'")
                }
                output += try value(of: String(rest[..<close].dropFirst(2)))
                rest = rest[close...].dropFirst()
                isFilledIn = true
            } else {
                output += "$"
                rest = rest.dropFirst()
            }
        }
        return (output + rest, isFilledIn)
    }

    private func value(of reference: String) throws(Failure) -> String {
        if reference.hasPrefix("file:") {
            let path = String(reference.dropFirst("file:".count))
            switch readFile(path) {
            // Editors and `echo` end a file with a line break, which is not part of the secret.
            case .success(let text): return text.last?.isNewline == true ? String(text.dropLast()) : text
            case .failure(let failure):
                throw Failure(message: "the file \(path) \(failure)", remedy: "create it, or correct the path")
            }
        }
        let isName = reference.first.map { $0.isLetter || $0 == "_" } ?? false
        guard isName, reference.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }) else {
            throw Failure(
                message: "'${\(reference)}' is neither ${NAME} nor ${file:PATH}",
                remedy: "name an environment variable, or write '$${' for a plain '${'")
        }
        guard let value = environment[reference] else {
            throw Failure(
                message: "the environment variable \(reference) is not set",
                remedy: "set it, e.g. export \(reference)=…")
        }
        return value
    }
}
