import NotificationHub

extension CategoryTable {
    /// The most categories a table holds.
    public static let categoriesMax = 1_000

    /// Problems of these categories, in their order.
    public static func problems(in categories: [Category]) -> [PayloadProblem] {
        var check = Check()
        if categories.isEmpty {
            check.report(
                [], "there is not a category",
                "name at least one, or leave 'categories' out to get the six standard ones")
        }
        if categories.count > categoriesMax {
            check.report([], "there are \(categories.count) categories", "name at most \(categoriesMax)")
        }
        for category in categories.prefix(categoriesMax) { check.examine(category) }
        return check.problems
    }

    private struct Check {
        var problems: [PayloadProblem] = []
        /// The category of each folded name.
        private var owners: [String: String] = [:]
        private var spellings: [Tag: String] = [:]

        mutating func report(_ path: [String], _ message: String, _ remedy: String) {
            problems.append(PayloadProblem(path: ["categories"] + path, message: message, remedy: remedy))
        }

        mutating func examine(_ category: Category) {
            let name = category.name
            if let complaint = Self.complaint(about: name) {
                report([name], "the category's name \(complaint)", "write 1 to 64 bytes of visible text")
            }
            claim(name, for: name, path: [name])
            for alias in category.names {
                if let complaint = Self.complaint(about: alias) {
                    report([name, "names"], "a name \(complaint)", "write 1 to 64 bytes of visible text")
                }
                // Repeating the category's own name is harmless.
                if fold(alias) != fold(name) { claim(alias, for: name, path: [name, "names"]) }
            }
            examine(tag: category.tag, of: name)
            for subject in category.subjects {
                guard let code = MediaTopics.code(subject) else {
                    report(
                        [name, "subjects"], "'\(TextCut.excerpt(subject))' is not an IPTC code",
                        "write a media topic such as medtop:11000000")
                    continue
                }
                if let top = MediaTopics.topOfSubjectCode(code) {
                    report(
                        [name, "subjects"],
                        "'\(TextCut.excerpt(subject))' matches no event: finer subject codes count as their top",
                        "write \(MediaTopics.text(top)), or a media topic below it")
                }
            }
        }

        private mutating func claim(_ name: String, for owner: String, path: [String]) {
            let key = fold(name)
            if let other = owners[key] {
                let whose = fold(other) == fold(owner) ? "twice" : "for '\(TextCut.excerpt(other))' too"
                report(
                    path, "the name '\(TextCut.excerpt(name))' is used \(whose)", "give every category its own names")
            } else {
                owners[key] = owner
            }
        }

        private mutating func examine(tag text: String, of name: String) {
            let path = [name, "tag"]
            let tag: Tag
            do throws(TagProblem) {
                tag = try Tag(text)
            } catch {
                return report(path, "'\(TextCut.excerpt(text))' is not a tag: \(error)", "choose another")
            }
            if tag.kind != .ordinary {
                report(path, "'\(TextCut.excerpt(text))' names one device or user", "use letters, digits, _ @ # . : -")
            } else if let other = spellings[tag], other != text {
                // The hub's documentation does not say if tags are case-sensitive; one spelling is right either way.
                report(path, "the tag '\(text)' is also spelt '\(other)'", "use one spelling")
            } else {
                spellings[tag] = text
            }
        }

        private static func complaint(about name: String) -> String? {
            if fold(name).isEmpty { return "is empty" }
            if name.utf8.count > 64 { return "is \(name.utf8.count) bytes long" }
            let isVisible = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            return isVisible ? nil : "contains a control character"
        }
    }
}
