import ByteText

/// A parsed `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`.
///
/// Descriptions and mirrors hide the key; only `revealed` returns the whole string.
public struct ConnectionString: Sendable, Hashable {
    public static let lengthMax = 4096
    public static let keyNameLengthMax = 256

    public var endpoint: HubEndpoint
    /// The name of the access rule.
    public var keyName: String
    public var key: AccessKey
    /// The hub, if the string names one. A hub named in the settings takes precedence.
    public var entityPath: HubName?

    public init(endpoint: HubEndpoint, keyName: String, key: AccessKey, entityPath: HubName? = nil) {
        self.endpoint = endpoint
        self.keyName = keyName
        self.key = key
        self.entityPath = entityPath
    }

    /// The whole string including its key, with the parts in the only order that all client libraries read.
    public var revealed: String { text(key: key.revealed) }

    private func text(key: String) -> String {
        let scheme = endpoint.scheme == .https ? "sb" : "http"
        let base = "Endpoint=\(scheme)://\(endpoint.authority)\(endpoint.basePath)/"
        let entity = entityPath.map { ";EntityPath=\($0)" } ?? ""
        return "\(base);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)\(entity)"
    }
}

extension ConnectionString: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { text(key: key.description) }
    public var debugDescription: String { description }
}

extension ConnectionString {
    /// The known parts and their names.
    public enum Part: String, CaseIterable, Sendable, Hashable {
        case endpoint = "Endpoint"
        case keyName = "SharedAccessKeyName"
        case key = "SharedAccessKey"
        case entityPath = "EntityPath"
    }

    /// Reads parts in any order, with names in any letter case. Each part is split at its first `=`, because keys end
    /// in `=`. Empty parts and unknown names are skipped.
    public init(parsing text: String) throws(ConnectionStringProblem) {
        guard text.utf8.count <= Self.lengthMax else { throw .tooLong }
        guard let first = text.trimmed.first else { throw .empty }
        guard first != "\"", first != "'" else { throw .quoted }
        var values: [Part: Substring] = [:]
        var number = 0
        for piece in text.split(separator: ";") {
            let piece = piece.trimmed
            guard !piece.isEmpty else { continue }
            number += 1
            guard let equals = piece.firstIndex(of: "=") else { throw .partWithoutValue(number: number) }
            let name = piece[..<equals].trimmed
            guard let part = Part.allCases.first(where: { $0.rawValue.equalsIgnoringASCIICase(name) }) else {
                if Self.isOtherCredential(name) { throw .otherCredential }
                continue
            }
            guard values[part] == nil else { throw .duplicate(part) }
            values[part] = piece[equals...].dropFirst().trimmed
        }
        guard number > 0 else { throw .empty }
        self.init(
            endpoint: try Self.endpoint(try Self.value(.endpoint, in: values)),
            keyName: String(try Self.value(.keyName, in: values)),
            key: AccessKey(String(try Self.value(.key, in: values))),
            entityPath: values[.entityPath] == nil ? nil : try Self.hubName(try Self.value(.entityPath, in: values)))
    }

    private static func value(
        _ part: Part, in values: [Part: Substring]
    ) throws(ConnectionStringProblem) -> Substring {
        guard let value = values[part] else { throw .missing(part) }
        guard !value.isEmpty else { throw .emptyValue(part) }
        let lengthMax =
            switch part {
            case .endpoint, .entityPath: ConnectionString.lengthMax
            case .keyName: keyNameLengthMax
            case .key: AccessKey.lengthMax
            }
        guard value.utf8.count <= lengthMax else { throw .valueTooLong(part) }
        // A line break inside means that the string was pasted in two pieces.
        guard value.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else { throw .blank(part) }
        return value
    }

    private static func endpoint(_ text: Substring) throws(ConnectionStringProblem) -> HubEndpoint {
        do { return try HubEndpoint(parsing: text) } catch { throw .endpoint(error) }
    }

    private static func hubName(_ text: Substring) throws(ConnectionStringProblem) -> HubName {
        do { return try HubName(text) } catch { throw .entityPath(error) }
    }

    /// True for unusable credentials: a ready-made token would expire, and the others' service no longer exists.
    private static func isOtherCredential(_ name: Substring) -> Bool {
        ["SharedAccessSignature", "SharedSecretIssuer", "SharedSecretValue", "StsEndpoint"]
            .contains { $0.equalsIgnoringASCIICase(name) }
    }
}

/// The reason why a text is not a connection string. No message repeats any of the text.
public enum ConnectionStringProblem: Error, Sendable, Hashable {
    case empty
    case tooLong
    case quoted
    /// A part without `=`. The number is counted from 1 and ignores empty parts.
    case partWithoutValue(number: Int)
    case duplicate(ConnectionString.Part)
    case missing(ConnectionString.Part)
    case emptyValue(ConnectionString.Part)
    case valueTooLong(ConnectionString.Part)
    case blank(ConnectionString.Part)
    case otherCredential
    case endpoint(HubEndpointProblem)
    case entityPath(HubNameProblem)
}

extension ConnectionStringProblem: CustomStringConvertible {
    private static let example =
        "Endpoint=sb://NAMESPACE.servicebus.windows.net/;SharedAccessKeyName=RULE;SharedAccessKey=KEY"

    public var description: String {
        switch self {
        case .empty: "the connection string is empty; copy it from the hub's access policies: \(Self.example)"
        case .tooLong:
            "the connection string is longer than \(ConnectionString.lengthMax) bytes; it should be \(Self.example)"
        case .quoted: "the connection string has quotation marks around it; remove them"
        case .partWithoutValue(let number):
            "part \(number) of the connection string has no '='; write NAME=VALUE parts and ';': \(Self.example)"
        case .duplicate(let part): "the connection string has \(part.rawValue) twice; keep one"
        case .missing(let part): "the connection string has no \(part.rawValue); it should be \(Self.example)"
        case .emptyValue(let part): "\(part.rawValue) of the connection string is empty; write its value after the '='"
        case .valueTooLong(let part): "\(part.rawValue) of the connection string is too long; copy it again"
        case .blank(let part):
            "\(part.rawValue) of the connection string has a space or a line break in it; write it in one piece"
        case .otherCredential:
            "the connection string carries a token or a shared secret; use one with a SharedAccessKey"
        case .endpoint(let problem): "Endpoint of the connection string: \(problem)"
        case .entityPath(let problem): "EntityPath of the connection string: \(problem)"
        }
    }
}
