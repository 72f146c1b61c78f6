import ArgumentParser

/// The arguments of commands that read files of events.
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

    /// The format of --format; `nil` to detect it.
    var chosenFormat: EventFileFormat? { format.flatMap(EventFileFormat.init(rawValue:)) }
}
