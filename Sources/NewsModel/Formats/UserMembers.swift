// The single readers of an event.

extension Members {
    /// The only readers of the event; empty if it names no readers and is for everybody in its categories.
    ///
    /// Refuses all other values, including an empty list, because news for a few must never reach all. Error details
    /// quote no ids, because they go to results and logs.
    func users() throws(Undecodable) -> [String] {
        guard let member = member(.users) else { return [] }
        guard case .array(let array) = member.value else {
            throw Undecodable(.badUsers, "users must be an array of user ids; it is \(member.value.kind)")
        }
        var users: [String] = []
        for (index, value) in array.enumerated() {
            guard index < EventLimits.users else {
                throw Undecodable(.badUsers, "users has more than \(EventLimits.users) members")
            }
            users.append(try Self.user(value, number: index + 1))
        }
        guard !users.isEmpty else {
            throw Undecodable(.badUsers, "users is empty; leave it out of an event that is for everybody")
        }
        return users
    }

    private static func user(_ value: JSONValue, number: Int) throws(Undecodable) -> String {
        func refusal(_ problem: String) -> Undecodable {
            Undecodable(.badUsers, "member \(number) of users \(problem)")
        }
        guard case .string(let text) = value else { throw refusal("must be a string; it is \(value.kind)") }
        guard text.count <= EventLimits.user else {
            throw refusal("has \(text.count) bytes; at most \(EventLimits.user) are allowed")
        }
        if EventText.isBlank(text) { throw refusal("is blank") }
        if text.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw refusal("contains a control character") }
        return String(decoding: text, as: UTF8.self)
    }
}
