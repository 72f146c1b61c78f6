import ByteText
import NotificationHub

/// The identity that a device claims at the hub.
struct DeviceClaim: Sendable {
    var handle: String
    /// The tags, including the names of templates, which become tags.
    var tags: [String]
    var userID: String?

    init(_ registration: Registration) {
        handle = registration.handle
        tags = registration.tags + (registration.templateName.map { [$0] } ?? [])
    }

    init(_ installation: Installation) {
        handle = installation.handle
        tags = installation.tags + installation.templates.flatMap { [$0.name] + $0.tags }
        userID = installation.userID
    }

    /// The protected tags among `known` that are missing in `tags`.
    static func protected(_ known: [String], missingIn tags: [String]) -> [String] {
        known.filter { tag in isProtected(tag) && !tags.contains { $0.equalsIgnoringASCIICase(tag) } }
    }

    /// True for tags by which back ends reach one user, or testers.
    static func isProtected(_ tag: String) -> Bool {
        let tag = tag.asciiLowercased
        return tag.hasPrefix("username:") || tag.hasPrefix(UserTags.prefix) || tag == "staff"
    }
}

extension Installation {
    /// Adds the values that a back end has set for the same device. An app that registers again does not know them.
    func keepingGrants(of known: Installation) -> Installation {
        guard handle == known.handle, format == known.format else { return self }
        var kept = self
        kept.userID = userID ?? known.userID
        kept.tags += DeviceClaim.protected(known.tags, missingIn: tags)
        for template in known.templates {
            if let index = kept.templates.firstIndex(where: { $0.name == template.name }) {
                kept.templates[index].tags += DeviceClaim.protected(
                    template.tags, missingIn: kept.templates[index].tags)
            } else if DeviceClaim.isProtected(template.name) {
                kept.templates.append(template)
            }
        }
        return kept
    }
}

extension EmulatedHub {
    /// True for a client that may not take the tags of users and testers.
    func isRestricted(_ context: CallContext) -> Bool {
        settings.protectsTags && context.rights.isDisjoint(with: [.send, .manage])
    }

    /// Refuses values that only a back end may set. Values set by a back end remain while the device stays the same.
    func check(_ claim: DeviceClaim, after known: DeviceClaim?, _ context: CallContext) throws(Refusal) {
        guard isRestricted(context) else { return }
        let granted = known.flatMap { $0.handle == claim.handle ? $0 : nil }
        let claimed = claim.tags.contains { tag in
            DeviceClaim.isProtected(tag)
                && !(granted?.tags.contains { $0.equalsIgnoringASCIICase(tag) } ?? false)
        }
        guard claimed || (claim.userID != nil && claim.userID != granted?.userID) else { return }
        throw .forbidden(
            "Tags that begin with username: or user_, the tag staff and a userId are for a back end to give: with the Listen "
                + "right alone a client may not take them. A real hub would let it")
    }
}
