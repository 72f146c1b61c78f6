import ByteText
import NotificationHub

/// The service's dialect of JSON Patch for installations: `add`, `remove`, and `replace`, which also adds.
enum InstallationPatch {
    /// The most operations in one call.
    static let operationsMax = 1000
    /// The most tags at any moment of a patch. The limit of the result is lower, but a patch may add before it removes.
    private static let tagsMax = 1000

    static func apply(_ json: JSONTree, to installation: Installation) throws(Refusal) -> Installation {
        guard case .array(let operations) = json, operations.count <= operationsMax else {
            throw .badRequest("A patch must be a JSON array of operations")
        }
        var patched = installation
        for operation in operations {
            guard let op = operation["op"]?.string, let path = operation["path"]?.string, path.hasPrefix("/") else {
                throw .badRequest("A patch operation needs op and path")
            }
            let steps = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(unescaped)
            let value = operation["value"] ?? .null
            switch op.lowercased() {
            case "add": try add(value, at: steps, path, to: &patched)
            case "remove": try remove(steps, path, from: &patched)
            case "replace":
                try remove(steps, path, from: &patched, isReplaced: true)
                try add(value, at: steps, path, to: &patched)
            default: throw .badRequest("The patch operation '\(op.prefix(40))' is not supported")
            }
        }
        // Required members and types are checked as for a new installation.
        return try Installation(json: patched.json, id: installation.id).keepingTags(of: patched)
    }

    /// Removes the values that the patch removes by name: one tag, a user, one template. Values that are only left out,
    /// or replaced as a whole, stay.
    static func withdrawing(_ json: JSONTree, from installation: Installation) throws(Refusal) -> Installation {
        guard case .array(let operations) = json else { return installation }
        var left = installation
        for operation in operations where operation["op"]?.string?.lowercased() == "remove" {
            guard let path = operation["path"]?.string else { continue }
            let steps = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(unescaped)
            let isNamed = ["userId", "user"].contains(steps.first) || [2, 4].contains(steps.count)
            if isNamed, (try? remove(steps, path, from: &left)) == nil { continue }
        }
        return left
    }

    /// Unescapes a step of a JSON pointer (RFC 6901 §4).
    private static func unescaped(_ step: Substring) -> String {
        step.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
            .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    }

    private static func unknown(_ path: String) -> Refusal {
        .badRequest("The patch path '\(path.prefix(120))' is not supported")
    }

    private static func add(_ value: JSONTree, at steps: [String], _ path: String, to installation: inout Installation)
        throws(Refusal)
    {
        let whole = ["userId", "user", "expirationTime", "platform", "pushVariables", "templates"]
        switch steps.first {
        // These members have the same form as in a new installation.
        case let name? where steps.count == 1 && whole.contains(name):
            guard value != .null else { throw unknown(path) }
            let isObject = name == "pushVariables" || name == "templates"
            try installation.read(.init(name == "user" ? "userId" : name, isObject ? parsed(value) : value))
        case "tags" where steps.count == 1: try append(try tags(value), to: &installation.tags)
        case "tags" where steps.count == 2: try append([steps[1]], to: &installation.tags)
        case "pushChannel" where steps.count == 1:
            installation.pushChannel = value
            installation.channelIsExpired = false
        case "pushVariables" where steps.count == 2:
            installation.variables.removeAll { $0.name == steps[1] }
            installation.variables.append(TemplateProperty(name: steps[1], value: try text(value, path)))
        case "templates" where steps.count == 2: installation.set(try Installation.template(value, named: steps[1]))
        case "templates" where steps.count >= 3: try addToTemplate(value, steps, path, &installation)
        case "secondaryTiles": installation.secondaryTiles = value
        default: throw unknown(path)
        }
    }

    private static func addToTemplate(
        _ value: JSONTree, _ steps: [String], _ path: String, _ installation: inout Installation
    ) throws(Refusal) {
        guard let index = installation.templates.firstIndex(where: { $0.name == steps[1] }) else { throw unknown(path) }
        switch (steps[2], steps.count) {
        case ("body", 3): installation.templates[index].body = try text(value, path)
        case ("expiry", 3): installation.templates[index].expiry = try text(value, path)
        case ("headers", 3): installation.templates[index].headers = try Installation.headers(parsed(value))
        case ("tags", 3): try append(try tags(value), to: &installation.templates[index].tags)
        default: throw unknown(path)
        }
    }

    private static func remove(
        _ steps: [String], _ path: String, from installation: inout Installation, isReplaced: Bool = false
    ) throws(Refusal) {
        switch steps.first {
        case "tags" where steps.count == 1: installation.tags = []
        case "tags" where steps.count == 2: installation.tags.removeAll { $0.equalsIgnoringASCIICase(steps[1]) }
        case "userId" where steps.count == 1, "user" where steps.count == 1: installation.userID = nil
        case "expirationTime" where steps.count == 1: installation.expires = nil
        case "pushVariables" where steps.count == 1: installation.variables = []
        case "pushVariables" where steps.count == 2: installation.variables.removeAll { $0.name == steps[1] }
        case "templates" where steps.count == 1: installation.templates = []
        case "templates" where steps.count == 2:
            // A replaced template keeps its place.
            if !isReplaced { installation.templates.removeAll { $0.name == steps[1] } }
        case "templates" where steps.count >= 3:
            guard let index = installation.templates.firstIndex(where: { $0.name == steps[1] }) else {
                throw unknown(path)
            }
            switch (steps[2], steps.count) {
            case ("headers", 3): installation.templates[index].headers = []
            case ("expiry", 3): installation.templates[index].expiry = nil
            case ("tags", 3): installation.templates[index].tags = []
            case ("tags", 4):
                installation.templates[index].tags.removeAll { $0.equalsIgnoringASCIICase(steps[3]) }
            case ("body", 3) where isReplaced: break
            default: throw unknown(path)
            }
        case "secondaryTiles": installation.secondaryTiles = nil
        // These are required. They can be replaced but not removed.
        case "pushChannel" where isReplaced, "platform" where isReplaced: break
        default: throw unknown(path)
        }
    }

    /// The tags in a value: a string is one tag unless it holds a JSON array; an array lists all tags.
    private static func tags(_ value: JSONTree) throws(Refusal) -> [String] {
        if case .array(let values) = parsed(value) { return try Installation.strings(values, of: "tags") }
        guard let text = value.string else { throw .badRequest("tags must be a string or an array of strings") }
        return [text]
    }

    /// Parses a value that SDKs send as a string containing JSON.
    private static func parsed(_ value: JSONTree) -> JSONTree {
        guard let text = value.string, text.hasPrefix("[") || text.hasPrefix("{") else { return value }
        return JSONTree(parsing: Array(text.utf8)) ?? value
    }

    private static func append(_ added: [String], to tags: inout [String]) throws(Refusal) {
        for tag in added where !tags.contains(where: { $0.equalsIgnoringASCIICase(tag) }) {
            guard tags.count < tagsMax else { throw .badRequest("There are more than \(tagsMax) tags") }
            tags.append(tag)
        }
    }

    private static func text(_ value: JSONTree, _ path: String) throws(Refusal) -> String {
        guard let text = value.scalarText else {
            throw .badRequest("The value for \(path.prefix(120)) must be a string")
        }
        return text
    }
}

extension Installation {
    /// `GET` lists each template's name among its tags; this removes it again when a client sends the answer back. The
    /// state of the channel is not read from a client's JSON.
    fileprivate func keepingTags(of original: Installation) -> Installation {
        var kept = self
        kept.templates = original.templates
        kept.channelIsExpired = original.channelIsExpired
        return kept
    }
}
