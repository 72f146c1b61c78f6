import NotificationHub

extension PayloadSettings {
    static let nativePath = ["payload", "native"]

    /// The errors and warnings about the bodies of `payload.native`.
    var nativeProblems: [PayloadProblem] {
        native.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { platform, body -> [PayloadProblem] in
            let path = Self.nativePath + [platform.rawValue]
            guard NativeBody.platforms.contains(platform) else {
                let known = NativeBody.platforms.map(\.rawValue).joined(separator: ", ")
                return [
                    PayloadProblem(
                        path: path, message: "has the built-in payload only", remedy: "name one of \(known)")
                ]
            }
            do throws(PayloadProblems) {
                _ = try NativePayload(body, for: platform)
            } catch {
                return error.all
            }
            let isMessage = platform != .fcmv1 || body.sections(platform)[0].tree.contains(["message"])
            return isMessage
                ? []
                : [
                    PayloadProblem(
                        path: path + ["body"], message: "has no message, which FCM v1 requires",
                        remedy: "write its members under message")
                ]
        }
    }

    /// Members of payloads that platforms ignore, refuse or get from Newswire, for settings without errors.
    package var warnings: [PayloadProblem] {
        native.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { warnings(of: $1, $0) }
            + properties.map(\.name).filter(Self.isOwnProperty).map { name in
                PayloadProblem(
                    path: ["payload", "properties", name], message: "is set by Newswire and not replaced",
                    remedy: "use another name")
            }
    }

    private func warnings(of body: NativeBody, _ platform: Platform) -> [PayloadProblem] {
        let path = Self.nativePath + [platform.rawValue]
        guard platforms.contains(platform) else {
            return [
                PayloadProblem(
                    path: path, message: "is not sent",
                    remedy: "set payload.mode to native and name it in payload.platforms")
            ]
        }
        guard platform.facts.syntax == .json else { return body.toasts.flatMap(Self.warnings(of:)) }
        return body.sections(platform).flatMap { section in
            let found = PayloadVocabulary.findings(in: section.tree, for: platform).map { finding in
                PayloadProblem(
                    path: section.path + finding.path, message: finding.message,
                    remedy: finding.kind == .ignored ? "correct or remove it" : "otherwise the platform refuses it")
            }
            let own = NativeMembers.own(platform, section.urgency, in: section.tree)
            let overridden = NativeMembers.overridden(in: section.tree, by: own).map { member in
                PayloadProblem(
                    path: section.path + member, message: "is overridden by Newswire's own value",
                    remedy: "remove it, because replacement, lifetime and silence depend on it")
            }
            return found + overridden
        }
            + body.textsThatMayBeAbsent(platform).map { alert in
                PayloadProblem(
                    path: path + ["body"] + alert,
                    message: "shows no text for an event that has none of its variables",
                    remedy: "add a text that every event has, e.g. {{headline}}")
            }
    }

    private static func warnings(of toast: (path: [String], root: XMLElement)) -> [PayloadProblem] {
        PayloadVocabulary.findings(in: toast.root).map { finding in
            PayloadProblem(
                path: toast.path, message: "\(finding.path.joined(separator: " ")) \(finding.message)",
                remedy: finding.kind == .ignored ? "correct or remove it" : "otherwise Windows may refuse it")
        }
    }
}

extension NativeBody {
    /// The JSON sections in reading order. `urgency` is a class whose rules hold for the section.
    fileprivate func sections(_ platform: Platform) -> [(path: [String], urgency: UrgencyClass, tree: JSONTree)] {
        func read(_ tree: JSONTree) -> JSONTree {
            if case .string(let text) = tree { JSONTree(parsing: Array(text.utf8)) ?? tree } else { tree }
        }
        let path = PayloadSettings.nativePath + [platform.rawValue]
        return [(path + ["body"], .routine, read(body))]
            + UrgencyClass.allCases.compactMap { urgency in
                classes[urgency].map { (path + [urgency.rawValue], urgency, read($0)) }
            }
    }

    /// The paths to notifications whose texts are all left out if an event lacks some values.
    fileprivate func textsThatMayBeAbsent(_ platform: Platform) -> [[String]] {
        let alerts: [[String]] =
            switch platform {
            case .apple: [["aps", "alert"]]
            case .fcmv1: [["message", "notification"], ["message", "android", "notification"]]
            default: []
            }
        return alerts.filter { path in
            let alert = path.reduce(Optional(sections(platform)[0].tree)) { $0?[$1] }
            let texts =
                ["title", "subtitle", "body"].compactMap { alert?[$0]?.string } + [alert?.string].compactMap(\.self)
            return !texts.isEmpty && texts.allSatisfy(Self.mayBeAbsent)
        }
    }

    /// True for a text that is exactly one variable that an event may lack.
    private static func mayBeAbsent(_ text: String) -> Bool {
        guard let name = text.wholeMatch(of: /\{\{\s*([^{}\s]+)\s*\}\}/)?.output.1 else { return false }
        return MessageVariable(name, inPayload: true)?.mayBeAbsent == true
    }

    /// The toasts, all but that for background delivery.
    fileprivate var toasts: [(path: [String], root: XMLElement)] {
        let path = PayloadSettings.nativePath + [Platform.windows.rawValue]
        let texts = [("body", body)] + classes.filter { $0.key != .background }.map { ($0.key.rawValue, $0.value) }
        return texts.compactMap { name, tree in
            tree.string.flatMap { try? XMLReader.read(Array($0.utf8)) }.map { (path + [name], $0) }
        }
    }
}
