import Foundation
import NewsModel
import Testing

@Test(.enabled(if: testData != nil, "set NEWSWIRE_TEST_DATA to a folder with ag_news.csv"))
func `4,000 real headlines come through unchanged`() throws {
    let text = try String(contentsOf: #require(testData).appending(path: "ag_news.csv"), encoding: .utf8)
    let rows = csv(text)
    #expect(rows.count == 4_000)
    let decoder = NewsDecoder()
    for (index, row) in rows.enumerated() {
        try #require(row.count == 3)
        // Written by Foundation's writer.
        let document: [String: Any] = ["id": "ag-\(index)", "headline": row[1], "summary": row[2], "category": row[0]]
        let bytes = try JSONSerialization.data(withJSONObject: document)
        let event = try decoder.decode(SourceRecord(offset: Int64(index), value: Array(bytes)))
        #expect(Array(event.headline.utf8) == Array(row[1].utf8))
        #expect(event.summary.map { Array($0.utf8) } == Array(row[2].utf8))
        // Written by our own writer.
        let ours = JSONWriter.object { json in
            json.field("id", "ag-\(index)")
            json.field("headline", row[1])
            json.field("summary", row[2])
            json.array("categories", of: [row[0]])
        }
        #expect(try decoder.decode(SourceRecord(offset: Int64(index), value: ours)) == event)
    }
}

/// Rows of RFC 4180 text.
private func csv(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = text.unicodeScalars.makeIterator()
    var pending = scalars.next()
    while let scalar = pending {
        pending = scalars.next()
        switch (scalar, isQuoted) {
        case ("\"", true) where pending == "\"":
            field.append("\"")
            pending = scalars.next()
        case ("\"", _): isQuoted.toggle()
        case (",", false):
            row.append(String(field))
            field = .init()
        case ("\r", false): continue
        case ("\n", false):
            rows.append(row + [String(field)])
            row = []
            field = .init()
        default: field.append(scalar)
        }
    }
    return field.isEmpty ? rows : rows + [row + [String(field)]]
}
