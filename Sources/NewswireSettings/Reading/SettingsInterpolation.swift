/// `${NAME}` and `${file:PATH}` inside a value, also in the middle of one. `$${` stands for a plain `${`; any other
/// `$` is itself.
struct SettingsInterpolation: Sendable {
    var environment: [String: String]
    /// The file's text, or why it cannot be read.
    var readFile: @Sendable (_ path: String) -> Result<String, SettingsFileFailure>

    struct Failure: Error, Hashable {
        var message: String
        var remedy: String
    }

    /// The value with everything filled in, and whether anything was: such a value is never shown.
    func expand(_ text: String) throws(Failure) -> (text: String, isFilledIn: Bool) {
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
            // Editors and `echo` end a file with a line break that is no part of the secret.
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

/// Why a file cannot be read, as the end of a sentence that begins with its name.
enum SettingsFileFailure: Error, Hashable, CustomStringConvertible {
    case missing
    case unreadable
    case tooLarge(bytesMax: Int)
    case notText

    var description: String {
        switch self {
        case .missing: "does not exist"
        case .unreadable: "cannot be read"
        case .tooLarge(let bytesMax): "is larger than \(bytesMax / 1024) KiB"
        case .notText: "is not UTF-8 text"
        }
    }
}
