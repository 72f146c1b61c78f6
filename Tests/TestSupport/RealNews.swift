package import Foundation
package import NewsModel

/// Real news outside the repository, in the folder that `NEWSWIRE_TEST_DATA` names.
package enum RealNews {
    /// The folder; `nil` if it is not set.
    package static let folder = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"].map { URL(filePath: $0) }
    package static let isMissing = "set NEWSWIRE_TEST_DATA to a folder with ag_news.csv and ninjs/ to run this"

    /// The rows of `ag_news.csv`: class, title, description.
    package static func agNewsRows() throws -> [[String]] {
        guard let folder else { return [] }
        let text = try String(contentsOf: folder.appending(path: "ag_news.csv"), encoding: .utf8)
        // Every field is quoted, and a quote inside is doubled.
        return text.split(separator: "\n").map { line in
            line.dropFirst().dropLast().components(separatedBy: "\",\"").map {
                $0.replacingOccurrences(of: "\"\"", with: "\"")
            }
        }.filter { $0.count == 3 }
    }

    /// The rows of `ag_news.csv` as events.
    package static func agNews() throws -> [NewsEvent] {
        let categories = ["1": "World", "2": "Sports", "3": "Business", "4": "Technology"]
        return try agNewsRows().enumerated().compactMap { index, fields in
            guard let category = categories[fields[0]] else { return nil }
            var event = NewsEvent(id: "urn:ag-news:\(index)", headline: fields[1])
            event.categories = [category]
            event.summary = fields[2]
            return event
        }
    }

    /// The ninjs documents, byte for byte, with the uri of each.
    package static func ninjs() throws -> [(id: String, bytes: [UInt8])] {
        guard let folder = folder?.appending(path: "ninjs") else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            let data = try Data(contentsOf: folder.appending(path: name))
            let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            return (document?["uri"] as? String ?? "", Array(data))
        }
    }
}
