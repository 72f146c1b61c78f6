/// Rows in columns, for people. Text from outside is shown without control characters, so it cannot move the cursor.
struct TextTable {
    struct Column: Sendable {
        var title: String
        var isRightAligned = false
        /// Wider cells are cut.
        var widthMax = 40
    }

    struct Cell: ExpressibleByStringLiteral {
        var text: String
        var colour: TerminalColour?

        init(_ text: String, colour: TerminalColour? = nil) {
            self.text = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }.filter { !Self.isControl($0) })
            self.colour = colour
        }

        init(stringLiteral text: String) {
            self.init(text)
        }

        private static func isControl(_ character: Character) -> Bool {
            character.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    let columns: [Column]
    let hasColours: Bool
    private(set) var rows: [[Cell]] = []

    init(_ columns: [Column], hasColours: Bool) {
        self.columns = columns
        self.hasColours = hasColours
    }

    mutating func add(_ cells: [Cell]) {
        rows.append(cells)
    }

    /// Title row and rows, each column as wide as its widest cell.
    var text: String {
        let titles = columns.map { Cell($0.title, colour: .bold) }
        var output = ""
        for row in [titles] + rows { output += line(row, widths) + "\n" }
        return output
    }

    private var widths: [Int] {
        columns.indices.map { index in
            let widest = rows.map { index < $0.count ? TextWidth.columns($0[index].text) : 0 }.max() ?? 0
            return min(max(widest, TextWidth.columns(columns[index].title)), columns[index].widthMax)
        }
    }

    /// One row with the widths given: for rows that come one by one.
    func line(_ cells: [Cell], _ widths: [Int]) -> String {
        var parts: [String] = []
        for (index, (cell, width)) in zip(cells, widths).enumerated() {
            let text = TextWidth.cut(cell.text, to: width)
            let padding = String(repeating: " ", count: max(0, width - TextWidth.columns(text)))
            let shown = hasColours ? cell.colour?.applied(to: text) ?? text : text
            let isLast = index == columns.count - 1
            parts.append(columns[index].isRightAligned ? padding + shown : shown + (isLast ? "" : padding))
        }
        return parts.joined(separator: "  ")
    }
}
