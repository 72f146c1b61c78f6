import Foundation
import Testing

@Test func `the examples of every help fit 80 columns, and can be pasted`() async throws {
    let overview = try await Program.run(["--help"]).output
    let commands = overview.matches(of: /(?m)^  ([a-z]+) {3,}/).map { String($0.output.1) }
    #expect(commands.contains("recall") && commands.count > 20)
    // These read no configuration before they begin.
    let beginning = /newswire (demo|init|hub|device|simulate|--generate)/
    for command in [[]] + commands.map({ [$0] }) {
        let help = try await Program.run(command + ["--help"]).output
        let isExample = { (line: Substring) in line.hasPrefix("  newswire ") }
        #expect(help.split(separator: "\n").filter(isExample).allSatisfy { $0.count <= 80 }, "\(command)")
        let lines = help.replacing(" \\\n", with: " ").split(separator: "\n")
        for example in lines.filter(isExample) where example.firstMatch(of: beginning) == nil {
            let script = String(example.split(separator: " | ")[0])
            let ended = try await Program.run(
                pasted: script, in: FileManager.default.temporaryDirectory,
                environment: ["NEWSWIRE_CONFIG": "/no/such/file"])
            #expect(ended.status == 78, "\(script)\n\(ended.errors)")
        }
    }
}
