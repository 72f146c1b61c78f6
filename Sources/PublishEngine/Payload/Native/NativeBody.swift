package import NotificationHub

/// The operator's body for one platform: `payload.native.PLATFORM`.
package struct NativeBody: Sendable, Hashable {
    /// A JSON object, or a text with the platform's XML or JSON.
    package var body: JSONTree
    /// The changes for each class. They are merged over the JSON body, and replace an XML body.
    package var classes: [UrgencyClass: JSONTree]

    package init(body: JSONTree, classes: [UrgencyClass: JSONTree] = [:]) {
        self.body = body
        self.classes = classes
    }

    /// The platforms whose payloads can be written. Xiaomi bounds the length of both its texts, and the other platforms were
    /// switched off.
    package static let platforms = Platform.native.filter { !$0.facts.isRetired && $0 != .xiaomi }
}

/// The compiled bodies of one platform.
struct NativePayload: Sendable {
    let platform: Platform
    private var bodies: [NativeTemplate?]

    /// - Throws: every problem of the body, by member.
    init(_ body: NativeBody, for platform: Platform) throws(PayloadProblems) {
        self.platform = platform
        bodies = []
        var problems: [PayloadProblem] = []
        for urgency in UrgencyClass.allCases {
            do throws(PayloadProblems) {
                bodies.append(try NativeSource(body, platform, urgency).compiled())
            } catch {
                problems += error.all.filter { !problems.contains($0) }
            }
        }
        guard problems.isEmpty else { throw PayloadProblems(problems) }
    }

    /// The body for news of a class; `nil` for the built-in one.
    subscript(urgency: UrgencyClass) -> NativeTemplate? {
        let index =
            switch urgency {
            case .breaking: 0
            case .routine: 1
            case .quiet: 2
            case .background: 3
            }
        return bodies.indices.contains(index) ? bodies[index] : nil
    }
}

/// The body for one class of news before it is compiled.
struct NativeSource {
    private enum Form {
        case json(JSONTree)
        case xml(XMLElement)
    }

    private let platform: Platform
    private let urgency: UrgencyClass
    /// `nil` for the built-in body.
    private var form: Form?
    /// The setting that decides where a problem of a member is reported.
    private let path: [String]
    private let sections: [(path: [String], tree: JSONTree)]

    /// - Throws: if a text is neither XML nor JSON.
    init(_ body: NativeBody, _ platform: Platform, _ urgency: UrgencyClass) throws(PayloadProblems) {
        self.platform = platform
        self.urgency = urgency
        let settings = ["payload", "native", platform.rawValue]
        let change = body.classes[urgency]
        let changePath = settings + [urgency.rawValue]
        guard platform.facts.syntax == .json else {
            path = change == nil ? settings + ["body"] : changePath
            if urgency == .background {
                form = try change.map { tree throws(PayloadProblems) in .json(try Self.object(tree, at: changePath)) }
                sections = change.map { [(changePath, $0)] } ?? []
            } else {
                let root = try Self.xml(change ?? body.body, at: path)
                form = .xml(urgency == .quiet ? NativeMembers.silenced(root) : root)
                sections = []
            }
            return
        }
        path = settings + ["body"]
        var tree = try Self.object(body.body, at: path)
        var sections = [(path, tree)]
        if urgency == .quiet { tree = tree.merging(NativeMembers.quietChannel(platform, tree)) }
        if let change {
            let change = try Self.object(change, at: changePath)
            tree = tree.merging(change)
            sections.append((changePath, change))
        }
        tree = tree.merging(NativeMembers.standard(platform, urgency), onlyAbsent: true)
        form = .json(tree.merging(NativeMembers.own(platform, urgency, in: tree)))
        self.sections = sections
    }

    /// - Throws: the unknown variables, unsafe places and a size above the platform's limit.
    func compiled() throws(PayloadProblems) -> NativeTemplate? {
        var compiler = NativeCompiler { member in
            // The class's own section comes last and wins.
            let owner = sections.last { $0.tree.contains(member) }?.path ?? path
            return owner + member
        }
        let template: NativeTemplate
        switch form {
        case nil: return nil
        case .json(let tree): template = try compiler.template(tree)
        case .xml(let root): template = try compiler.template(root)
        }
        let size = NativeWorstCase.size(of: template)
        guard size <= platform.facts.bodyLengthMax else {
            throw PayloadProblems([
                PayloadProblem(
                    path: path,
                    message:
                        "has up to \(size) bytes without its headline, summary and message, and \(platform.rawValue) "
                        + "accepts \(platform.facts.bodyLengthMax)",
                    remedy: "leave some members out")
            ])
        }
        return template
    }

    private static func object(_ tree: JSONTree, at path: [String]) throws(PayloadProblems) -> JSONTree {
        var tree = tree
        if case .string(let text) = tree {
            guard let read = JSONTree(parsing: Array(text.utf8)) else {
                throw problem(path, "is not valid JSON", "correct it, or write its members as YAML")
            }
            tree = read
        }
        guard case .object = tree else { throw problem(path, "is no JSON object", "write its members") }
        return tree
    }

    private static func xml(_ tree: JSONTree, at path: [String]) throws(PayloadProblems) -> XMLElement {
        guard case .string(let text) = tree else {
            throw problem(path, "is no text", "write the notification as XML in quotes, e.g. '<toast>…</toast>'")
        }
        do {
            return try XMLReader.read(Array(text.utf8))
        } catch {
            let detail = error.rawValue.replacing("The body", with: "it")
            throw problem(
                path, "is not valid XML: \(detail)", "correct it; variables may stand in texts and attributes")
        }
    }

    private static func problem(_ path: [String], _ message: String, _ remedy: String) -> PayloadProblems {
        PayloadProblems([PayloadProblem(path: path, message: message, remedy: remedy)])
    }
}

extension JSONTree {
    /// True if there is a value, a null included, at the path.
    func contains(_ path: [String]) -> Bool {
        guard let name = path.first else { return true }
        switch self {
        case .object(let members):
            return members.last { $0.name == name }?.value.contains(Array(path.dropFirst())) ?? false
        case .array(let values):
            guard let index = Int(name), values.indices.contains(index - 1) else { return false }
            return values[index - 1].contains(Array(path.dropFirst()))
        default: return false
        }
    }
}
