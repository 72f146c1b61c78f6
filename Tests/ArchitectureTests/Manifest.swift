import Foundation

/// The targets in the text of `Package.swift`.
///
/// `swift package dump-package` would be exact, but it waits for a running build, such as the one of these tests.
struct Manifest {
    struct Target {
        var name: String
        /// The folder of the target's files, relative to the package.
        var folder: String
        var isExecutable: Bool
        /// The modules that the target may import.
        var dependencies: Set<String>
    }

    let targets: [Target]

    init(text: String) {
        let code = text.split(separator: "\n").filter { !$0.trimmingPrefix { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        let products = Dictionary(
            uniqueKeysWithValues: code.matches(of: /let (\w+) = Target\.Dependency\.product\(name: "(\w+)"/)
                .map { (String($0.1), String($0.2)) })
        let list = code.components(separatedBy: "    targets: [\n").last ?? ""
        let starts = list.matches(of: /\.(target|testTarget|executableTarget|systemLibrary)\(\s*name: "([^"]+)"/)
        let ends = starts.dropFirst().map(\.range.lowerBound) + [list.endIndex]
        targets = zip(starts, ends).map { start, end in
            let arguments = list[start.range.upperBound..<end]
            let (kind, name) = (start.1, String(start.2))
            let dependencies = arguments.firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
            let modules = dependencies.matches(of: /\.product\(name: "(\w+)", package: "[^"]+"\)|"([^"]+)"|(\w+)/)
                .map { match in
                    (match.1 ?? match.2).map(String.init) ?? match.3.flatMap { products[String($0)] } ?? "?"
                }
            return Target(
                name: name,
                folder: arguments.firstMatch(of: /path: "([^"]+)"/).map { String($0.1) }
                    ?? (kind == "testTarget" ? "Tests/" : "Sources/") + name,
                isExecutable: kind == "executableTarget", dependencies: Set(modules))
        }
    }
}
