/// The files of a page, which are part of the program.
package struct PageFiles: Sendable {
    private let files: [String: [UInt8]]

    /// - Parameter files: the bytes of each file by its path. The path `/` is the document.
    package init(_ files: [String: [UInt8]]) { self.files = files }

    /// The file of this path, with the content type for the suffix of its name.
    package subscript(path: some StringProtocol) -> (type: String, bytes: [UInt8])? {
        files[String(path)].map { (Self.contentType(of: path), $0) }
    }

    private static func contentType(of path: some StringProtocol) -> String {
        switch path.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        default: "text/html; charset=utf-8"
        }
    }
}
