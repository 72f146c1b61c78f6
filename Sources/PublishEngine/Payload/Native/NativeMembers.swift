import NotificationHub

/// The members that Newswire adds to the operator's body, so that replacement, lifetime, quiet hours and background delivery
/// work whatever it says. In these trees null removes a member, as in RFC 7396.
enum NativeMembers {
    /// The members that are added unless the operator has one of that name.
    static func standard(_ platform: Platform, _ urgency: UrgencyClass) -> JSONTree {
        let isBreaking = urgency == .breaking
        return switch platform {
        case .fcmv1: ["message": ["android": ["priority": .string(isBreaking ? "HIGH" : "NORMAL")]]]
        case .adm: ["priority": .string(isBreaking ? "high" : "normal")]
        default: [:]
        }
    }

    /// The Android channel without a sound, for a body that is shown. The operator's section `quiet` may name another.
    static func quietChannel(_ platform: Platform, _ tree: JSONTree) -> JSONTree {
        platform == .fcmv1 && isShown(tree)
            ? ["message": ["android": ["notification": ["channel_id": .string("breakingNewsQuiet")]]]] : [:]
    }

    /// The members that are merged last.
    static func own(_ platform: Platform, _ urgency: UrgencyClass, in tree: JSONTree) -> JSONTree {
        let isQuiet = urgency == .quiet || urgency == .background
        switch platform {
        case .apple:
            return switch urgency {
            case .breaking, .routine: [:]
            case .quiet: ["aps": ["sound": .null, "interruption-level": .string("passive")]]
            // With an alert, sound or badge, APNs would show it.
            case .background:
                ["aps": ["alert": .null, "sound": .null, "badge": .null, "content-available": .number("1")]]
            }
        case .fcmv1: return fcmV1(urgency, isShown: urgency != .background && isShown(tree))
        case .adm:
            return [
                "data": isQuiet ? quiet : nil, "consolidationKey": variable(.collapseId),
                "expiresAfter": .number("{{ttl}}"), "priority": isQuiet ? .string("normal") : nil,
            ]
        case .baidu: return isQuiet ? ["notification_basic_style": .number("1")] : [:]
        case .browser:
            let members: JSONTree = [
                "tag": variable(.collapseId), "silent": isQuiet ? .bool(true) : nil,
                // Browsers refuse a silent notification that vibrates.
                "vibrate": isQuiet ? .null : nil,
            ]
            // Service workers of frameworks, and browsers themselves, read the options there.
            if case .object? = tree["notification"] { return ["notification": members] }
            return members
        default: return [:]
        }
    }

    private static func fcmV1(_ urgency: UrgencyClass, isShown: Bool) -> JSONTree {
        let isQuiet = urgency == .quiet || urgency == .background
        var notification: JSONTree = .null
        if isShown {
            notification =
                isQuiet
                ? [
                    "tag": variable(.collapseId), "sound": .null, "default_sound": .null, "vibrate_timings": .null,
                    "default_vibrate_timings": .null, "notification_priority": .null,
                ]
                : ["tag": variable(.collapseId)]
        }
        return [
            "message": [
                "notification": urgency == .background ? .null : nil,
                // For apps that show notifications in their own code.
                "data": isQuiet ? quiet : nil,
                "android": [
                    "ttl": .string("{{ttl}}s"), "collapse_key": variable(.collapseKey),
                    "priority": isQuiet ? .string("NORMAL") : nil, "notification": notification,
                ],
            ]
        ]
    }

    private static let quiet: JSONTree = ["quiet": .string("true")]

    private static func variable(_ field: MessageVariable.PayloadField) -> JSONTree { .string("{{\(field.rawValue)}}") }

    /// True if Android shows the message without the app's help.
    private static func isShown(_ tree: JSONTree) -> Bool {
        tree.contains(["message", "notification"]) || tree.contains(["message", "android", "notification"])
    }

    /// A toast that makes no sound.
    static func silenced(_ toast: XMLElement) -> XMLElement {
        var silent = toast
        // Alarms and calls repeat their sound.
        silent.attributes.removeAll { $0.name == "scenario" }
        silent.children.removeAll { if case .element(let child) = $0 { child.name == "audio" } else { false } }
        var audio = XMLElement(name: "audio")
        audio.attributes = [XMLElement.Attribute(name: "silent", value: "true")]
        silent.children.append(.element(audio))
        return silent
    }

    /// The paths of the members of a section that Newswire's own members replace or remove.
    static func overridden(in section: JSONTree, by own: JSONTree) -> [[String]] {
        guard case .object(let members) = own else { return [] }
        return members.flatMap { member -> [[String]] in
            guard let value = section[member.name], value != member.value, value != .null else { return [] }
            guard case .object = member.value, case .object = value else { return [[member.name]] }
            return overridden(in: value, by: member.value).map { [member.name] + $0 }
        }
    }
}

extension JSONTree {
    /// The tree with another merged over it, as RFC 7396 has it. Members keep their place, and new ones come last.
    ///
    /// - Parameter onlyAbsent: true to keep every member that the tree has.
    func merging(_ patch: JSONTree, onlyAbsent: Bool = false) -> JSONTree {
        guard case .object(let changes) = patch else { return onlyAbsent ? self : patch }
        var members: [Member] = []
        if case .object(let own) = self { members = own } else if onlyAbsent { return self }
        for change in changes {
            guard let index = members.lastIndex(where: { $0.name == change.name }) else {
                let value = JSONTree.object([]).merging(change.value, onlyAbsent: onlyAbsent && change.value.isObject)
                // A patch that only removes adds nothing.
                if value != .null, value != .object([]) || change.value == .object([]) {
                    members.append(Member(change.name, value))
                }
                continue
            }
            if change.value == .null {
                if !onlyAbsent { members.remove(at: index) }
            } else {
                members[index].value = members[index].value.merging(change.value, onlyAbsent: onlyAbsent)
            }
        }
        return .object(members)
    }

    private var isObject: Bool { if case .object = self { true } else { false } }
}
