import ByteText

/// Reads settings one by one from a document and the environment, and collects every problem.
///
/// For an unusable value it reports a problem and returns the default, so that one reading finds all problems.
struct SettingsReader {
    private(set) var problems: [SettingsProblem] = []
    /// The keys with errors. It is a set, because files of thousands of feeds may have as many problems.
    private var unsound: Set<String> = []
    /// The settings in force, in the order they were read.
    var effective: [EffectiveSetting] = []

    let interpolation: SettingsInterpolation
    private(set) var values: [SettingsPath: SettingsNode] = [:]
    private var places: [SettingsPath: SettingsPlace] = [:]
    /// Names that the user chose, such as those of lanes, in the file's order.
    private var names: [SettingsPath: [String]] = [:]
    /// The probable meanings of misspelt keys. These keys are reported as misspelt, and not as missing too.
    private var misspelt: Set<SettingsPath> = []

    /// - Parameter standardNames: the names of groups that the file leaves out.
    init(
        _ document: SettingsDocument, interpolation: SettingsInterpolation,
        standardNames: [SettingsPath: [String]] = [:]
    ) {
        self.interpolation = interpolation
        for problem in document.problems { note(problem) }
        collect(document.entries, under: .root)
        names.merge(standardNames) { given, _ in given }
        override(from: interpolation.environment)
    }

    // MARK: Looking up

    func names(under path: SettingsPath) -> [String] { names[path] ?? [] }

    /// The place of the setting, or of the nearest group around it.
    func place(of path: SettingsPath) -> SettingsPlace {
        var path = path
        while true {
            if let place = values[path]?.place ?? places[path] { return place }
            if path.parts.isEmpty { return .start }
            path.parts.removeLast()
        }
    }

    /// Records the place of a part of a setting, for problems that are found later.
    mutating func note(_ place: SettingsPlace, of path: SettingsPath) { places[path] = place }

    func isGiven(_ path: SettingsPath) -> Bool { values[path] != nil }

    /// True for a group in which the file names something.
    func isInFile(_ group: SettingsPath) -> Bool {
        names[group, default: []].contains { places[group / $0] != nil }
    }

    /// True if no error of the setting was reported.
    func isSound(_ path: SettingsPath) -> Bool { unsound.isEmpty || !unsound.contains(path.description) }

    private mutating func note(_ problem: SettingsProblem) {
        problems.append(problem)
        if problem.severity == .error { unsound.insert(problem.key) }
    }

    func isMisspelt(_ path: SettingsPath) -> Bool { misspelt.contains(path) }

    mutating func report(
        _ path: SettingsPath, _ message: String, _ remedy: String, severity: SettingsProblem.Severity = .error
    ) {
        report(path, message, remedy, at: place(of: path), severity: severity)
    }

    mutating func report(
        _ path: SettingsPath, _ message: String, _ remedy: String, at place: SettingsPlace,
        severity: SettingsProblem.Severity = .error
    ) {
        note(
            SettingsProblem(
                severity: severity, place: place, key: path.description, message: message, remedy: remedy))
    }

    // MARK: Collecting

    private mutating func collect(_ entries: [SettingsNode.Entry], under path: SettingsPath) {
        for entry in entries {
            let here = path / entry.key
            places[here] = entry.place
            if SettingsKey.at(here) != nil {
                guard case .empty = entry.value.content else {
                    values[here] = entry.value
                    note(name: entry.key, under: path)
                    continue
                }
                report(here, "has no value", "write one, or remove the line", at: entry.place)
            } else if SettingsKey.all.contains(where: { here.leads(to: $0.pattern) }) {
                note(name: entry.key, under: path)
                switch entry.value.content {
                case .list(let items) where SettingsKey.lists.contains(here): collect(items, of: here)
                case .mapping where SettingsKey.lists.contains(here):
                    report(
                        here, "expected a list, found \(entry.value.kindName)",
                        "begin each item with a dash, e.g. - {\(children(of: here / "*").prefix(2).map { "\($0): …" }.joined(separator: ", "))}",
                        at: entry.value.place)
                case .mapping(let children): collect(children, under: here)
                case .empty: break
                // One value for the whole group.
                case .scalar where SettingsKey.at(here / "default")?.pattern == here / "default":
                    values[here / "default"] = entry.value
                case .scalar, .list:
                    report(
                        here, "expected keys, found \(entry.value.kindName)",
                        "write its keys: \(children(of: here).joined(separator: ", "))", at: entry.value.place)
                }
            } else {
                report(here, "is not a setting", remedy(forUnknown: entry.key, under: path), at: entry.place)
            }
        }
    }

    /// Collects the items of a list, each under its name. An item without a usable name gets its number, so that it is checked.
    private mutating func collect(_ items: [SettingsNode], of list: SettingsPath) {
        var lines: [String: SettingsPlace] = [:]
        for (index, item) in items.enumerated() {
            guard case .mapping(let children) = item.content else {
                let known = self.children(of: list / "*").joined(separator: ", ")
                report(list, "expected keys, found \(item.kindName)", "write its keys: \(known)", at: item.place)
                continue
            }
            var name = SettingsKey.hasNames(list) ? "#\(index + 1)" : "\(index + 1)"
            if !SettingsKey.hasNames(list) {
                // The number of the item is its name.
            } else if let entry = children.first(where: { $0.key == "name" }) {
                if case .scalar(let raw) = entry.value.content {
                    let given = (try? interpolation.expand(raw))?.text ?? raw
                    if let first = lines[given] {
                        report(
                            list / given, "is the name of two items, the first on \(first.words)",
                            "give each a name of its own", at: entry.place)
                    } else {
                        lines[given] = entry.place
                        name = given
                    }
                }
            } else {
                report(list / name, "has no name", "write one that it keeps for good, e.g. name: world", at: item.place)
            }
            names[list, default: []].append(name)
            places[list / name] = item.place
            collect(children, under: list / name)
        }
    }

    /// Records a name that the user chose, which takes the place of a pattern's `*`.
    private mutating func note(name: String, under path: SettingsPath) {
        let depth = path.parts.count
        guard SettingsKey.all.contains(where: { path.leads(to: $0.pattern) && $0.pattern.parts[depth] == "*" }) else {
            return
        }
        names[path, default: []].append(name)
    }

    private func children(of path: SettingsPath) -> [String] {
        var children: [String] = []
        for key in SettingsKey.all where path.leads(to: key.pattern) {
            let part = key.pattern.parts[path.parts.count]
            if part != "*", !children.contains(part) { children.append(part) }
        }
        return children
    }

    private mutating func remedy(forUnknown key: String, under path: SettingsPath) -> String {
        let siblings = children(of: path)
        if let near = Spelling.nearest(to: key, among: siblings) {
            misspelt.insert(path / near)
            return "did you mean \(near)?"
        }
        if let elsewhere = SettingsKey.all.first(where: {
            $0.pattern.parts.last == key || $0.pattern.parts.first == key
        }) {
            return "it belongs at \(elsewhere.pattern)"
        }
        return "known here: \(siblings.joined(separator: ", "))"
    }

    // MARK: Overriding

    private mutating func override(from environment: [String: String]) {
        var known: Set<String> = [SettingsFile.variable]
        // Leaves out names of items if no variable could be one of them, because there may be thousands of items.
        let lists = SettingsKey.lists.map { $0.environmentName + "_" }
        let namesItems = environment.keys.contains { name in lists.contains { name.hasPrefix($0) } }
        for key in SettingsKey.all where !key.isItemName && (namesItems || !key.isInList) {
            for path in concretePaths(of: key.pattern) {
                let name = path.environmentName
                known.insert(name)
                guard let text = environment[name] else { continue }
                values[path] = SettingsNode(content: .scalar(text), place: .environment(name: name))
            }
        }
        for name in environment.keys.sorted() where name.hasPrefix("NEWSWIRE_") && !known.contains(name) {
            if let text = environment[name], add(name, text) { continue }
            // The common prefix of a group is left out, because it says nothing about the intended name.
            let group = Self.groupsOfFile.first { name.hasPrefix($0.environmentName + "_") }
            let prefix = group.map { $0.environmentName + "_" } ?? "NEWSWIRE_"
            let candidates = known.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
            let remedy: String
            if let near = Spelling.nearest(to: String(name.dropFirst(prefix.count)), among: candidates.sorted()) {
                remedy = "did you mean \(prefix)\(near)?"
            } else if let group {
                let names = names(under: group).joined(separator: ", ")
                remedy = "write the name under \(group) in the file first; known there: \(names)"
            } else {
                continue
            }
            problems.append(
                SettingsProblem(
                    severity: .warning, place: .environment(name: name), key: "", message: "overrides nothing",
                    remedy: remedy))
        }
    }

    /// Groups to which the environment cannot add names: a variable does not show where a name ends and its key begins.
    private static let groupsOfFile: [SettingsPath] = [
        "lanes", "categories", "events.formats", "localization.languages", "ingest.feeds", "quiet", "interests",
        "payload.interruption", "payload.timeToLive", "payload.native", "payload.properties",
    ]
    /// Groups of single values under any name, with the character that a variable's `_` stands for.
    private static let openGroups: [(group: SettingsPath, separator: Character)] = [
        ("kafka.properties", "."), ("tracing.otlp.headers", "-"),
    ]

    /// Applies a variable that names a new value of an open group.
    private mutating func add(_ variable: String, _ text: String) -> Bool {
        for (group, separator) in Self.openGroups {
            let prefix = group.environmentName + "_"
            guard variable.hasPrefix(prefix), variable != prefix else { continue }
            let name = String(variable.dropFirst(prefix.count).lowercased().map { $0 == "_" ? separator : $0 })
            values[group / name] = SettingsNode(content: .scalar(text), place: .environment(name: variable))
            names[group, default: []].append(name)
            return true
        }
        return false
    }

    private func concretePaths(of pattern: SettingsPath) -> [SettingsPath] {
        pattern.parts.reduce([.root]) { paths, part in
            part == "*"
                ? paths.flatMap { path in names(under: path).map { path / $0 } } : paths.map { $0 / part }
        }
    }
}
