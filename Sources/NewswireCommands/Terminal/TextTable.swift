/// Rows in columns, for people. Control characters in cells are dropped, so that text from outside cannot move the cursor.
package struct TextTable {
    package struct Column: Sendable, ExpressibleByStringLiteral {
        var title: String
        var isRightAligned = false
        /// Maximum width. Wider cells are cut.
        var widthMax = 40

        package init(stringLiteral title: String) { self.title = title }

        package static func left(_ title: String, max width: Int) -> Column {
            var column = Column(stringLiteral: title)
            column.widthMax = width
            return column
        }

        package static func right(_ title: String) -> Column {
            var column = Column(stringLiteral: title)
            column.isRightAligned = true
            return column
        }
    }

    package struct Cell: ExpressibleByStringLiteral {
        var text: String
        var colour: TerminalColour?

        package init(_ text: String, colour: TerminalColour? = nil) {
            self.text = text.plain
            self.colour = colour
        }

        package init(stringLiteral text: String) { self.init(text) }
    }

    let columns: [Column]
    let hasColours: Bool
    private(set) var rows: [[Cell]] = []

    package init(_ columns: [Column], hasColours: Bool) { (self.columns, self.hasColours) = (columns, hasColours) }

    package mutating func add(_ cells: [Cell]) { rows.append(cells) }

    /// The title row and all rows. Each column is as wide as its widest cell.
    package var text: String {
        let titles = columns.map { Cell($0.title, colour: .bold) }
        let widths = widths
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

    /// One row with the given widths, for rows that are printed one by one.
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
