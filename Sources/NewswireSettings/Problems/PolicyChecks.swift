import ByteText
import NotificationHub
package import PublishEngine

/// Problems of the settings that decide whether an event is sent, to whom, and how loudly.
extension Settings {
    func checkPolicy(_ reader: inout SettingsReader) {
        if let name = policy.environment, !Self.isEnvironment(name) {
            reader.report("environment", "is not a name", "use at most 64 visible characters, e.g. production")
        }
        checkTestTag(&reader)
        for (path, hours) in zip(reader.names(under: "quiet"), policy.quietHours) {
            check(hours, "quiet" / path, &reader)
        }
    }

    private static func isEnvironment(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy {
                !$0.properties.isWhitespace && $0.properties.generalCategory != .control
            }
    }

    /// Checks the testers' tag, because a test must reach only people who asked for tests.
    private func checkTestTag(_ reader: inout SettingsReader) {
        guard let text = policy.testTag else { return }
        let tag: Tag
        do { tag = try Tag(text) } catch {
            return reader.report("test.tag", "\(error)", "write a tag that only testers have, e.g. staff")
        }
        let readers = "write a tag that only testers have"
        for category in categories where (try? Tag(category.tag)) == tag {
            reader.report(
                "test.tag", "is the tag of the category \(category.name): readers would get the tests", readers)
        }
        for template in [payload.templates?.normal, payload.templates?.quiet]
        where template.flatMap({ try? Tag($0) }) == tag {
            reader.report("test.tag", "is the name of a template that every device has", readers)
        }
        if payload.localization?.tags(of: categories).contains(where: { (try? Tag($0)) == tag }) == true {
            reader.report("test.tag", "is a tag of localization.tag: readers would get the tests", readers)
        }
    }

    private func check(_ hours: QuietHours, _ path: SettingsPath, _ reader: inout SettingsReader) {
        let names = categories.map(\.name)
        for name in hours.categories where !names.contains(name) {
            let hint = Spelling.question(for: name, among: names)
            reader.report(
                path / "categories", "'\(name.prefix(60))' is not the name of a category",
                hint ?? "known: \(names.prefix(20).joined(separator: ", "))")
        }
        guard hours.action == .silent, payload.problems.isEmpty, let ringing = payload.ringing else { return }
        reader.report(
            path / "do", "not everything can be silent: \(ringing.cause)", "\(ringing.remedy); or write delay or drop")
    }
}

extension PayloadSettings {
    /// The reason why a notification cannot be silent, as a sentence, and the remedy; `nil` if it can be silent.
    package var ringing: (cause: String, remedy: String)? {
        guard !canBeSilent else { return nil }
        switch mode {
        case .template:
            return (
                "in template mode the devices' template decides, and it makes a sound",
                "set payload.templates to the names of two templates that your app registers, e.g. {normal: breakingNews, "
                    + "quiet: breakingNewsQuiet}"
            )
        case .native(let platforms):
            let loud = platforms.filter { !$0.facts.canBeSilent }.map(\.rawValue).joined(separator: " and ")
            return ("\(loud) cannot be silent", "leave \(loud) out of payload.platforms")
        }
    }
}
