/// Makes decoders for the formats of the settings. A decoder belongs to one thread; this may be shared.
public struct DecoderFactory: Sendable {
    private let formats: EventFormats
    private let schemas: (@Sendable (UInt32) -> WriterSchema?)?

    /// - Parameter schemas: see `NewsDecoder`.
    public init(_ formats: EventFormats = EventFormats(), schemas: (@Sendable (UInt32) -> WriterSchema?)? = nil) {
        self.formats = formats
        self.schemas = schemas
    }

    public var hasFormats: Bool { !formats.areBuiltIn }

    public func make(collectsValues: Bool = false) -> NewsDecoder {
        NewsDecoder(formats: formats, schemas: schemas, collectsValues: collectsValues)
    }
}
