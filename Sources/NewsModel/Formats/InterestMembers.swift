// What readers follow beside categories.

extension Members {
    /// Reads `interests`. A text that names no interest stays, so that the event's result reports it.
    func interests() throws(Undecodable) -> [String] {
        guard let member = member(.interests) else { return [] }
        guard case .array(let array) = member.value else {
            throw .wrongType("interests", wanted: "an array of strings", found: member.value)
        }
        var interests: [String] = []
        for value in array {
            guard case .string(let text) = value else {
                throw .wrongType("a member of interests", wanted: "a string such as team:bvb", found: value)
            }
            if EventText.isBlank(text) { continue }
            guard interests.count < EventLimits.interests else {
                throw Undecodable(.tooMany, "interests has more than \(EventLimits.interests) members")
            }
            interests.append(String(decoding: text.prefix(EventLimits.interest), as: UTF8.self))
        }
        return interests
    }
}

/// The place in documents of the ids of one kind of interest.
public struct InterestSource: Hashable, Sendable {
    /// The kind, e.g. `author`.
    let kind: String
    let pointer: JSONPointer

    package init(kind: String, pointer: JSONPointer) {
        self.kind = kind
        self.pointer = pointer
    }
}

extension [InterestSource] {
    /// The interests at the pointers, each once. A value that is no id becomes an interest that no reader can follow, and so
    /// does the mark for values beyond the limit. Routing reports both.
    ///
    /// - Throws: `duplicateKey` if a name on the way is given more than once in its object.
    func found(in document: JSONObject) throws(Undecodable) -> [String] {
        var found: [String] = []
        for source in self {
            func append(_ id: String) -> Bool {
                let isFull = found.count >= EventLimits.interests
                let interest = "\(source.kind):\(isFull ? "…" : id)"
                if !found.contains(interest) { found.append(interest) }
                return !isFull
            }
            func receive(_ value: JSONValue) -> Bool {
                switch value {
                case .null: true
                case .string(let text) where EventText.isBlank(text): true
                case .string(let text):
                    append(String(decoding: text.prefix(EventLimits.interest), as: UTF8.self))
                case .array(let array): array.allSatisfy { if case .array = $0 { append("[…]") } else { receive($0) } }
                default: append(value.scalarText ?? "{…}")
                }
            }
            do throws(Undecodable) {
                try source.pointer.visit(in: .object(document)) { value throws(Undecodable) in receive(value) }
            } catch {
                var error = error
                error.detail = "interests.\(source.kind).from: \(error.detail)"
                throw error
            }
        }
        return found
    }
}

extension NewsEvent {
    /// Adds interests to the event's own. An error does not keep an event from recalling or withholding a story.
    mutating func add(_ found: Result<[String], Undecodable>) throws(Undecodable) {
        switch found {
        case .success(let more): interests += more.filter { !interests.contains($0) }
        case .failure(let error): if status == .usable { throw error }
        }
    }
}
