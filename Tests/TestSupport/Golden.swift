package import Foundation

/// Records and stores as released versions wrote them, a folder for each version.
package enum Golden {
    package static let folder = repository.appending(path: "schemas/golden")
    package static let versions =
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted().filter {
            $0.first?.isNumber == true
        } ?? []
}
