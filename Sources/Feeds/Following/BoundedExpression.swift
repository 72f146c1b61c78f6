import CPcre2

/// A regular expression from the settings. Its work on a text is bounded.
///
/// It is one of PCRE2, because nothing stops Swift's `Regex`: with `(a+)+$` one entry of a hostile publisher would keep the event
/// loop of all feeds busy for years. Steps are counted and no time is measured, so that an entry has the same key in every reading.
/// PCRE2's own limit is not enough, because it counts from 0 at each position of the text. Its compiler to machine code is not used,
/// because the systemd unit forbids memory that is writable and executable.
///
/// Confined to one thread, because a search writes to memory of the instance.
package final class BoundedExpression {
    package enum Answer: Sendable, Equatable {
        /// The key of an entry. It is never empty.
        case found(String)
        case nothing
        /// The search was ended at the limit.
        case stopped

        var text: String? { if case .found(let text) = self { text } else { nil } }
    }

    private let code: OpaquePointer
    private let data: OpaquePointer
    private let context: OpaquePointer

    /// Returns `nil` for an invalid expression, which the settings reject.
    package init?(_ expression: String) {
        guard case .success(let code) = Self.compile(expression) else { return nil }
        guard let data = pcre2_match_data_create_from_pattern_8(code, nil),
            let context = pcre2_match_context_create_8(nil)
        else { fatalError("no memory for an expression") }
        // These two bound the memory of a search, which `Steps` does not.
        pcre2_set_match_limit_8(context, UInt32(Steps.limit))
        pcre2_set_heap_limit_8(context, Self.kibibytes)
        (self.code, self.data, self.context) = (code, data, context)
    }

    deinit {
        pcre2_match_context_free_8(context)
        pcre2_match_data_free_8(data)
        pcre2_code_free_8(code)
    }

    /// Maximum memory for the positions to which a search may have to return.
    private static let kibibytes: UInt32 = 4_096

    /// Returns what is wrong with an expression, in PCRE2's words; `nil` if it is valid.
    package static func problem(of expression: String) -> String? {
        switch compile(expression) {
        case .success(let code):
            pcre2_code_free_8(code)
            return nil
        case .failure(let problem): return problem.text
        }
    }

    private struct Problem: Error {
        var text: String
    }

    private static func compile(_ expression: String) -> Result<OpaquePointer, Problem> {
        var error: Int32 = 0
        var offset = 0
        // The classes such as \w and \d include letters and digits of all scripts. Half a character (\C) can be no key.
        let options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
        var text = expression
        let code = text.withUTF8 { pcre2_compile_8($0.baseAddress, $0.count, options, &error, &offset, nil) }
        if let code { return .success(code) }
        let words = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { buffer in
            let count = pcre2_get_error_message_8(error, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(0, Int(count))), as: UTF8.self)
        }
        let position = String(decoding: expression.utf8.prefix(offset), as: UTF8.self).count
        return .failure(Problem(text: "\(words) at character \(position)"))
    }

    /// Searches the entry's id, and its link if the id does not match.
    package func firstMatch(in entry: FeedEntry) -> Answer { firstMatch(in: [entry.id, entry.link]) }

    /// Returns the first group, or the whole match, of the first text that matches.
    func firstMatch(in texts: [String?]) -> Answer {
        for case let text? in texts where !text.isEmpty {
            let answer = firstMatch(in: text)
            if answer != .nothing { return answer }
        }
        return .nothing
    }

    private func firstMatch(in text: String) -> Answer {
        var steps = Steps()
        var text = text
        return text.withUTF8 { bytes in
            let status = withUnsafeMutablePointer(to: &steps) { steps in
                pcre2_set_callout_8(context, { Steps.callout($0, $1) }, steps)
                return pcre2_match_8(code, bytes.baseAddress, bytes.count, 0, 0, data, context)
            }
            guard status >= 0 else { return status == PCRE2_ERROR_NOMATCH ? .nothing : .stopped }
            // Pairs of a start and an end, which are negative for a group without a match.
            let ends = UnsafeBufferPointer(
                start: pcre2_get_ovector_pointer_8(data), count: Int(pcre2_get_ovector_count_8(data)) * 2)
            let group = ends.count > 2 ? 2 : 0
            let (start, end) = (ends[group], ends[group + 1])
            guard 0 <= start, start < end, end <= bytes.count else { return .nothing }
            return .found(String(decoding: bytes[start..<end], as: UTF8.self))
        }
    }
}

/// The work of a search so far: the parts of the expression that were tried, and the distances between the places in the text.
private struct Steps {
    /// Reached within 0.2 ms, also in each of 2,000 entries of one document. Usual expressions need fewer than 2,500.
    static let limit = 10_000
    /// Number of bytes that are passed over in the time of one try.
    private static let bytesPerStep = 16

    private var taken = 0
    private var position = 0

    /// PCRE2 calls this before it tries a part of the expression.
    static func callout(_ block: UnsafeMutablePointer<pcre2_callout_block_8>?, _ steps: UnsafeMutableRawPointer?)
        -> Int32
    {
        guard let block, let steps = steps?.assumingMemoryBound(to: Steps.self) else { return PCRE2_ERROR_CALLOUT }
        let position = block.pointee.current_position
        steps.pointee.taken += 1 + abs(position - steps.pointee.position) / bytesPerStep
        steps.pointee.position = position
        return steps.pointee.taken <= limit ? 0 : PCRE2_ERROR_CALLOUT
    }
}
