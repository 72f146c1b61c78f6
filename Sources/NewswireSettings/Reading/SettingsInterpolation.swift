/// Replaces `${NAME}` and `${file:PATH}` anywhere in a value. `$${` stands for a plain `${`; any other `$` is itself.
package struct SettingsInterpolation: Sendable {
    var environment: [String: String]
    /// Reads the file and returns its text.
    var readFile: @Sendable (_ path: String) -> Result<String, SettingsFileFailure>

    package init(
        environment: [String: String], readFile: @escaping @Sendable (String) -> Result<String, SettingsFileFailure>
    ) {
        self.environment = environment
        self.readFile = readFile
    }

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
