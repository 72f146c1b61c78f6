import ArgumentParser

/// Files of events, as commands take them.
struct EventFileArguments: ParsableArguments {
    @Option(
        help: "ndjson, array, document, csv or newsml (NITF too); by default detected.",
        completion: .list(EventFileFormat.allCases.map(\.rawValue)))
    var format: String?
    @Argument(help: ArgumentHelp("Files of events, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        if let format, EventFileFormat(rawValue: format) == nil {
            throw ValidationError(format, isNot: "a format", known: EventFileFormat.allCases.map(\.rawValue))
        }
    }

    /// `nil` where it is to be detected.
    var chosenFormat: EventFileFormat? { format.flatMap(EventFileFormat.init(rawValue:)) }
}
