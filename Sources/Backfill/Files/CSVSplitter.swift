import ByteText
import NewsModel

/// Comma-separated values (RFC 4180): a quoted field may contain line breaks, and quotes when doubled. The first row names
/// the event's fields; each further row becomes the JSON of an event.
///
/// Our own splitter, because it reads pieces of any size with bounded memory, knows the line on which a row with line breaks
/// begins, and reports an unclosed quote instead of publishing the rest of the file as one field.
struct CSVSplitter: ItemSplitter {
    private var header: CSVHeader?
    private var isRefused = false
    private var line = 1
    private var startLine = 1
    private var fields: [[UInt8]] = []
    private var field: [UInt8] = []
    /// True once the field has a byte, even if the row is too long for it to be kept.
    private var hasBegun = false
    private var length = 0
    private var quotes = Quotes.none
    /// True if a quoted field of the row has text after its closing quote, so that it is not certain where the row ends.
    private var isMalformed = false

    private enum Quotes {
        /// The field has no quotes, or has not begun.
        case none
        case inside
        /// A quote inside quotes, which is the end of the field or the first half of a doubled quote.
        case pending
    }

    mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem]) {
        for byte in bytes where !isRefused {
            read(byte, into: &items)
            if byte == UInt8(ascii: "\n") { line += 1 }
        }
    }

    mutating func finish(into items: inout [EventFileItem]) {
        guard !isRefused else { return }
        if quotes == .inside {
            items.append(EventFileItem(line: startLine, content: .broken("the file ends inside a quoted field")))
        } else if !field.isEmpty || !fields.isEmpty {
            endRow(into: &items)
        }
    }

    private mutating func read(_ byte: UInt8, into items: inout [EventFileItem]) {
        if quotes == .inside {
            if byte == UInt8(ascii: "\"") { quotes = .pending } else { append(byte) }
            return
        }
        switch byte {
        case UInt8(ascii: "\"") where quotes == .pending:
            append(byte)
            quotes = .inside
        case UInt8(ascii: "\"") where !hasBegun || isByteOrderMark:
            field = []
            quotes = .inside
        case UInt8(ascii: ","): endField()
        case UInt8(ascii: "\n"): endRow(into: &items)
        case UInt8(ascii: "\r"): append(byte)
        default:
            if quotes == .pending { (isMalformed, quotes) = (true, .none) }
            append(byte)
        }
    }

    /// Spreadsheets begin a file with U+FEFF.
    private var isByteOrderMark: Bool { header == nil && fields.isEmpty && field == [0xEF, 0xBB, 0xBF] }

    private mutating func append(_ byte: UInt8) {
        hasBegun = true
        length += 1
        if length <= EventFileSplitter.eventLengthMax { field.append(byte) }
    }

    private mutating func endField() {
        if length <= EventFileSplitter.eventLengthMax { fields.append(field) }
        field = []
        hasBegun = false
        length += 1
        quotes = .none
    }

    private mutating func endRow(into items: inout [EventFileItem]) {
        if field.last == UInt8(ascii: "\r") { field.removeLast() }
        endField()
        let row = fields
        let wasMalformed = isMalformed
        isMalformed = false
        let isTooLong = length > EventFileSplitter.eventLengthMax
        let begin = startLine
        fields = []
        length = 0
        startLine = line + 1
        if row == [[]] { return }
        if isTooLong {
            items.append(EventFileItem(line: begin, content: EventFileSplitter.tooLong))
        } else if wasMalformed {
            items.append(
                EventFileItem(line: begin, content: .bad("a quote inside a quoted field must be written twice: \"\"")))
        } else if let header {
            items.append(EventFileItem(line: begin, content: header.event(row), isConverted: true))
        } else {
            do {
                header = try CSVHeader(row)
            } catch {
                isRefused = true
                items.append(EventFileItem(line: begin, content: .broken(error.message)))
            }
        }
    }
}

/// The meaning of the columns of a file.
struct CSVHeader {
    struct Failure: Error {
        var message: String
    }

    private enum Column {
        case text(String)
        case number(String)
        case flag(String)
        /// Several values in one field, separated by `;` or `|`. Users' ids use only `;`, because some ids contain `|`.
        case list(String)
        /// One member of an object of texts.
        case member(String, of: String)

        /// True for the column of readers, because an empty list there is a mistake, not news for everybody.
        var countsWhenEmpty: Bool { if case .list("users") = self { true } else { false } }
    }

    private let columns: [Column]

    static let texts = [
        "id", "headline", "category", "summary", "language", "story", "version", "status", "publishedAt", "expiresAt",
        "embargoUntil", "link", "image", "environment",
    ]
    static let lists = ["categories", "subjects", "users", "interests"]
    /// Objects whose members have a column each, such as `data.desk` and `headlines.fr`.
    static let objects = ["data", "headlines"]

    init(_ row: [[UInt8]]) throws(Failure) {
        var columns: [Column] = []
        var seen: Set<String> = []
        for (index, bytes) in row.enumerated() {
            var bytes = bytes[...]
            if index == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
            let name = String(decoding: bytes, as: UTF8.self)
            guard seen.insert(name).inserted else {
                throw Failure(message: "the column '\(name.prefix(60))' occurs twice")
            }
            guard let column = Self.column(name) else {
                let known = Self.texts + Self.lists + ["urgency", "test"]
                let hint = Spelling.question(for: name, among: known)
                let names = (known + ["data.NAME", "headlines.LANGUAGE"]).joined(separator: ", ")
                throw Failure(
                    message: "the column '\(name.prefix(60))' is not a field of an event; "
                        + (hint ?? "the first line must name some of \(names)"))
            }
            columns.append(column)
        }
        for name in ["id", "headline"] where !seen.contains(name) {
            throw Failure(message: "there is no column '\(name)', which every event needs")
        }
        self.columns = columns
    }

    private static func column(_ name: String) -> Column? {
        for object in objects where name.hasPrefix("\(object).") && name.count > object.count + 1 {
            return .member(String(name.dropFirst(object.count + 1)), of: object)
        }
        if lists.contains(name) { return .list(name) }
        if name == "urgency" { return .number(name) }
        if name == "test" { return .flag(name) }
        return texts.contains(name) ? .text(name) : nil
    }

    func event(_ row: [[UInt8]]) -> EventFileItem.Content {
        guard row.count == columns.count else {
            return .bad("\(counted(row.count, "field")), but the first line names \(columns.count)")
        }
        let values = row.map { String(validating: $0, as: UTF8.self) }
        guard !values.contains(nil) else { return .bad("not UTF-8 text") }
        let given = zip(columns, values).compactMap { column, value in
            value.flatMap { $0.isEmpty && !column.countsWhenEmpty ? nil : (column, $0) }
        }
        let json = JSONWriter.object { json in
            var members: [String: [(String, String)]] = [:]
            for (column, value) in given {
                switch column {
                case .text(let name): json.field(named: name, value)
                // A value that is not a number or a flag is passed on as text, so that the decoder reports it.
                case .number(let name):
                    json.name(escaping: name)
                    if let number = Int(value) { json.value(number) } else { json.value(value) }
                case .flag(let name):
                    json.name(escaping: name)
                    if let flag = Bool(value) { json.value(flag) } else { json.value(value) }
                case .list(let name):
                    json.name(escaping: name)
                    let separators = name == "users" ? ";" : ";|"
                    json.array { json in for text in Self.list(value, separators) { json.value(text) } }
                case .member(let name, let object): members[object, default: []].append((name, value))
                }
            }
            for object in Self.objects {
                guard let members = members[object] else { continue }
                json.name(escaping: object)
                json.object { json in for (name, value) in members { json.field(named: name, value) } }
            }
        }
        return .event(json)
    }

    private static func list(_ text: String, _ separators: String) -> [String] {
        text.split { separators.contains($0) }
            .map { $0.drop { $0 == " " } }
            .map { String($0.reversed().drop { $0 == " " }.reversed()) }
            .filter { !$0.isEmpty }
    }
}
